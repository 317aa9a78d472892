import type { AnyEndpoint } from '#api/http/endpoint.js';
import { statisticsEndpoints, v3AccountEndpoints } from '#api/v3/accounts.js';
import { actionEndpoints } from '#api/v3/actions.js';
import { addressBookEndpoints } from '#api/v3/address-book.js';
import { v3BlockEndpoints } from '#api/v3/blocks.js';
import { type V3ChainContext, type V3Context, v3Switches } from '#api/v3/context.js';
import { decodeEndpoints } from '#api/v3/decode.js';
import { v3DnsEndpoints } from '#api/v3/dns.js';
import { jettonEndpoints } from '#api/v3/jettons.js';
import { legacyAccountEndpoints } from '#api/v3/legacy-accounts.js';
import { legacyCallEndpoints } from '#api/v3/legacy-calls.js';
import { messageEndpoints } from '#api/v3/messages.js';
import { multisigEndpoints } from '#api/v3/multisig.js';
import { nftEndpoints } from '#api/v3/nfts.js';
import { pendingEndpoints } from '#api/v3/pending.js';
import { jettonEventEndpoints, nftEventEndpoints } from '#api/v3/token-events.js';
import { traceEndpoints } from '#api/v3/traces.js';
import { transactionEndpoints } from '#api/v3/transactions.js';
import { vestingEndpoints } from '#api/v3/vesting.js';

/** The methods that the index answers, in the order of the document: each resource file has a line here. */
export const v3IndexEndpoints: readonly AnyEndpoint<V3Context>[] = [
  ...v3AccountEndpoints,
  ...addressBookEndpoints,
  ...actionEndpoints,
  ...traceEndpoints,
  ...v3BlockEndpoints,
  ...transactionEndpoints,
  ...messageEndpoints,
  ...jettonEndpoints,
  ...jettonEventEndpoints,
  ...nftEndpoints,
  ...nftEventEndpoints,
  ...v3DnsEndpoints,
  ...multisigEndpoints,
  ...vestingEndpoints,
  ...statisticsEndpoints,
  ...decodeEndpoints,
];

/** All methods of API v3, in the order of the document. */
export const v3Endpoints: readonly AnyEndpoint<V3ChainContext>[] = [
  ...v3IndexEndpoints,
  ...pendingEndpoints,
  ...legacyAccountEndpoints,
  ...legacyCallEndpoints,
];

/** Groups of the API reference, in its order. */
const v3Tags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Accounts', description: 'States of accounts, wallets, and how to display them' },
  { name: 'Actions and traces', description: 'What happened, and the transactions that are connected by messages' },
  { name: 'Blockchain Data', description: 'Blocks, transactions, messages' },
  { name: 'Jettons', description: 'Fungible tokens (TEP-74)' },
  { name: 'NFTs', description: 'Non-fungible tokens (TEP-62)' },
  { name: 'Dns', description: 'Domains (TEP-81)' },
  { name: 'Multisig', description: 'Multisigs of version 2, and their orders' },
  { name: 'Vesting', description: 'Wallets whose coins are unlocked over time' },
  { name: 'Stats', description: 'Statistics of the whole index' },
  { name: 'Utils', description: 'Decoding of opcodes and message bodies' },
  { name: 'Api/v2', description: 'Methods of API v2: newest state, messages, get-methods' },
];

/** The published document that this API follows. */
const DOCUMENT_VERSION = '1.2.4';

/** Enough for a thousand accounts or hashes in a query. */
const MAX_URL_BYTES = 262_144;

const DESCRIPTION = `The history of a TON network over HTTP: blocks, transactions, messages, traces and accounts from an index.

The index holds what the masterchain has committed, so nothing in an answer changes later. Lists are paged by \`limit\` and
\`offset\`, or by \`cursor\`: the header \`X-Tern-Next\` of an answer is the cursor of the next page. The headers
\`X-Tern-Mc-Seqno\` and \`X-Tern-Lag-Ms\` say how recent the index is.

An index may begin late. An answer that may lack something because of that has the header \`X-Tern-Coverage\`:
\`history=900-1060; state=partial\`. History are the indexed masterchain blocks, several ranges with commas; bounds before them
are answered with what there is, and a masterchain block before them is an error (404). State is \`complete\` when the newest state
of every account is known. While it is \`partial\`, accounts that a request names are read from the chain as of the head of the index,
and contracts are detected; \`unknown=N\` says that N of them could not be read in time. Lists by owner or admin have the contracts
that the index knows. Without the header nothing is missing. Transactions, traces and messages before the history are not read from
the chain on demand: their order and filters need whole masterchain blocks.

What is not final yet is in \`pendingTraces\`, \`pendingActions\` and \`pendingTransactions\`. \`message\` answers with the path of
\`GET /api/v3/follow/{hash}\`, which says what becomes of a message: \`accepted\`, \`pending\`, \`confirmed\`, \`finalized\`, or why it
will not be (\`refused\`, \`expired\`, \`replaced\`, \`dropped\`). It waits for that up to \`timeout\` seconds (0 to 60, default 30), with
\`after\` only until the message is further than a status; with \`Accept: text/event-stream\` each change is an event.

In the \`spec\` profile opcodes are signed integers, shards decimal strings, members without a value are left out, and unknown
parameters are refused (422). In the \`toncenter\` profile, that of \`/toncenter/api/v3\` and of a local network by default, answers
are written as by the live service: opcodes as \`"0x0f8a7ea5"\`, shards in hexadecimal, \`null\` for members without a value; unknown
and empty parameters of GET are ignored, and \`X-Tern-Ignored\` names the former. \`X-Tern-Profile\` chooses the profile of a request.
Requests may use both forms. Repeated single values and values out of range are refused (422) with the name of the parameter.`;

/** API v3 as its document describes it. */
export const v3Description = {
  prefix: '/api/v3',
  title: 'TON Index API v3',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  style: 'plain',
  profiles: 'separate',
  apiVersion: DOCUMENT_VERSION,
  hasFreshness: true,
  maxUrlBytes: MAX_URL_BYTES,
  tags: v3Tags,
  endpoints: v3Endpoints,
  switches: v3Switches,
  exampleAnswers: new URL('../../../data/example-answers/v3.json', import.meta.url),
} as const;
