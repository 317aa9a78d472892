import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { V3Context } from '#api/v3/context.js';
import { accountEndpoints, statisticsEndpoints } from '#api/v3/routes/accounts.js';
import { blockEndpoints } from '#api/v3/routes/blocks.js';
import { decodeEndpoints } from '#api/v3/routes/decode.js';
import { legacyAccountEndpoints } from '#api/v3/routes/legacy-accounts.js';
import { legacyCallEndpoints } from '#api/v3/routes/legacy-calls.js';
import { messageEndpoints } from '#api/v3/routes/messages.js';
import { traceEndpoints } from '#api/v3/routes/traces.js';
import { transactionEndpoints } from '#api/v3/routes/transactions.js';

/** All methods of v3. */
export const v3Endpoints: readonly AnyEndpoint<V3Context>[] = [
  ...accountEndpoints,
  ...traceEndpoints,
  ...blockEndpoints,
  ...transactionEndpoints,
  ...messageEndpoints,
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
  { name: 'Stats', description: 'What the whole of the index tells' },
  { name: 'Utils', description: 'Names of opcodes, fields of bodies' },
  { name: 'Api/v2', description: 'Methods as API v2 has them: the newest state, messages, get methods' },
];
