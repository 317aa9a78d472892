import { Type } from '@sinclair/typebox';
import { endpointOf } from '#api/http/endpoint.js';
import type { ApiRequest, Profile } from '#api/http/http-api.js';
import { requestSwitch, type SwitchValues } from '#api/http/parameters.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';

/** One network, as the methods of v3 see it. */
export interface V3Network {
  readonly index: IndexPort;
  readonly chain: ChainReads;
  readonly contracts: ContractReads;
  /** User-friendly addresses say so. */
  readonly isTestnet: boolean;
}

/** What a method of v3 works with during one request. */
export interface V3Context {
  readonly network: V3Network;
  /** Deadline and abort signal of the request; for reads of the chain. */
  readonly read: ReadOptions;
  /** The same for reads of the index. */
  readonly query: IndexReadOptions;
  /** What the answer is written in. */
  readonly profile: Profile;
  readonly switches: SwitchValues<V3Switches>;
  /** Adds a header to the answer: what the body has no place for. */
  readonly header: (name: string, value: string) => void;
}

/** The context of one request. */
export function v3Context(network: V3Network, request: ApiRequest<SwitchValues<V3Switches>>): V3Context {
  const { read, profile, switches, header } = request;
  const timeoutMs = Math.min(switches.timeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS, read.deadlineMs);
  return { network, read, query: { signal: read.signal, timeoutMs }, profile, switches, header };
}

export const v3Endpoint = endpointOf<V3Context>();

/** Milliseconds that a query of the index may take when the request does not say. */
export const DEFAULT_QUERY_TIMEOUT_MS = 3_000;

/** What all methods of v3 understand, by a header or an argument of the query; the header counts. */
export const v3Switches = {
  timeoutMs: requestSwitch({
    header: 'X-Timeout',
    query: 'x_timeout',
    schema: Type.Integer({
      description:
        `Most milliseconds that each query of the index may take, default ${DEFAULT_QUERY_TIMEOUT_MS}; what takes longer is ` +
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
