import type { AnyEndpoint } from '#api/http/endpoint.js';
import { statisticsEndpoints, v3AccountEndpoints } from '#api/v3/accounts.js';
import { v3BlockEndpoints } from '#api/v3/blocks.js';
import { type V3Context, v3Switches } from '#api/v3/context.js';
import { decodeEndpoints } from '#api/v3/decode.js';
import { dnsEndpoints } from '#api/v3/dns.js';
import { jettonEndpoints } from '#api/v3/jettons.js';
import { legacyAccountEndpoints } from '#api/v3/legacy-accounts.js';
import { legacyCallEndpoints } from '#api/v3/legacy-calls.js';
import { messageEndpoints } from '#api/v3/messages.js';
import { multisigEndpoints } from '#api/v3/multisig.js';
import { nftEndpoints } from '#api/v3/nfts.js';
import { jettonEventEndpoints, nftEventEndpoints } from '#api/v3/token-events.js';
import { traceEndpoints } from '#api/v3/traces.js';
import { transactionEndpoints } from '#api/v3/transactions.js';
import { vestingEndpoints } from '#api/v3/vesting.js';

/** All methods of v3. */
export const v3Endpoints: readonly AnyEndpoint<V3Context>[] = [
  ...v3AccountEndpoints,
  ...traceEndpoints,
  ...v3BlockEndpoints,
  ...transactionEndpoints,
  ...messageEndpoints,
  ...jettonEndpoints,
  ...jettonEventEndpoints,
  ...nftEndpoints,
  ...nftEventEndpoints,
  ...dnsEndpoints,
  ...multisigEndpoints,
  ...vestingEndpoints,
  ...statisticsEndpoints,
  ...decodeEndpoints,
  ...legacyAccountEndpoints,
  ...legacyCallEndpoints,
];

/** The groups of the API reference, in its order. */
export const v3Tags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Accounts', description: 'States of accounts, wallets, and how to show them' },
  { name: 'Actions and traces', description: 'Transactions that follow from one another' },
  { name: 'Blockchain Data', description: 'Blocks, transactions, messages' },
  { name: 'Jettons', description: 'Fungible tokens (TEP-74)' },
  { name: 'NFTs', description: 'Tokens of which each is one of its kind (TEP-62)' },
  { name: 'Dns', description: 'Domains (TEP-81)' },
  { name: 'Multisig', description: 'Multisigs of version 2, and their orders' },
  { name: 'Vesting', description: 'Wallets whose coins become free little by little' },
  { name: 'Stats', description: 'What the whole of the index tells' },
  { name: 'Utils', description: 'Names of opcodes, fields of bodies' },
  { name: 'Api/v2', description: 'Methods as API v2 has them: the newest state, messages, get methods' },
];

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
