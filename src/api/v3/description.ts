import { v3Endpoints, v3Tags } from '#api/v3/endpoints.js';
import { v3Switches } from '#api/v3/switches.js';

/** The published document that this API follows. */
const DOCUMENT_VERSION = '1.2.4';

/** A thousand accounts or hashes fit a query. */
const MAX_URL_BYTES = 262_144;

const DESCRIPTION = `The history of a TON network over HTTP: blocks, transactions, messages, traces and accounts from an index.

The index holds what the masterchain has committed, so that nothing in an answer changes later. Lists are met by \`limit\` and
\`offset\`, or by \`cursor\`: each answer that has more behind it names the next one in the header \`X-Tern-Next\`. How new the
index is stands in \`X-Tern-Mc-Seqno\` and \`X-Tern-Lag-Ms\`.

Answers follow this document: opcodes are integers with sign, shards decimal numbers as text, and what has no value is left out.
Under \`/toncenter/api/v3\` they are written as the live service does: opcodes as \`"0x0f8a7ea5"\`, shards in hexadecimal, and
\`null\` for what has no value. Requests are read in both ways. Unknown parameters, repeated single values and values out of range
are refused (422) with the name of the parameter.`;

/** API v3 as its document describes it. */
export const v3Description = {
  prefix: '/api/v3',
  title: 'TON Index API v3',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  style: 'plain',
  profiles: 'separate',
  apiVersion: DOCUMENT_VERSION,
  maxUrlBytes: MAX_URL_BYTES,
  tags: v3Tags,
  endpoints: v3Endpoints,
  switches: v3Switches,
} as const;
