import { Type } from '@sinclair/typebox';
import { requestSwitch } from '#api/http/request-switches.js';

/** Milliseconds that a query of the index may take when the request does not say. */
export const DEFAULT_TIMEOUT_MS = 3_000;

/** What all methods of v3 understand, by a header or an argument of the query; the header counts. */
export const v3Switches = {
  timeoutMs: requestSwitch({
    header: 'X-Timeout',
    query: 'x_timeout',
    schema: Type.Integer({
      description:
        `Most milliseconds that each query of the index may take, default ${DEFAULT_TIMEOUT_MS}; what takes longer is ` +
        'cancelled. The server’s own limit for a request stays.',
      format: 'int32',
      minimum: 1,
      maximum: 0x7fff_ffff,
    }),
    byDefault: null,
  }),
  noAddressBook: requestSwitch({
    header: 'X-No-Address-Book',
    query: 'x_no_address_book',
    schema: Type.Boolean({ description: 'Leave `address_book` empty, which spares the look-ups for it.' }),
    byDefault: false,
  }),
  noMetadata: requestSwitch({
    header: 'X-No-Metadata',
    query: 'x_no_metadata',
    schema: Type.Boolean({ description: 'Leave `metadata` empty.' }),
    byDefault: false,
  }),
  debug: requestSwitch({
    header: 'X-Debug-Request',
    query: 'x_debug_request',
    schema: Type.Boolean({
      description: 'Accepted for the sake of existing clients; what is logged about requests is up to the server.',
    }),
    byDefault: false,
  }),
  actionsVersion: requestSwitch({
    header: 'X-Actions-Version',
    schema: Type.String({
      description: 'Which types of actions the client knows. Accepted, and without effect while there are no actions.',
      maxLength: 200,
    }),
    byDefault: null,
  }),
} as const;

export type V3Switches = typeof v3Switches;
