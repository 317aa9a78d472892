import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { V2Context } from '#api/v2/context.js';
import { accountTransactionEndpoints } from '#api/v2/routes/account-transactions.js';
import { accountEndpoints } from '#api/v2/routes/accounts.js';
import { blockTransactionEndpoints } from '#api/v2/routes/block-transactions.js';
import { blockEndpoints } from '#api/v2/routes/blocks.js';
import { configurationEndpoints } from '#api/v2/routes/configuration.js';
import { locateEndpoints } from '#api/v2/routes/locate.js';
import { nodeEndpoints } from '#api/v2/routes/nodes.js';
import { runMethodEndpoints } from '#api/v2/routes/run-method.js';
import { sendEndpoints } from '#api/v2/routes/send.js';
import { utilityEndpoints } from '#api/v2/routes/utilities.js';

/** All methods of v2, in the order of the published document. */
export const v2Endpoints: readonly AnyEndpoint<V2Context>[] = [
  ...accountEndpoints,
  ...blockTransactionEndpoints,
  ...accountTransactionEndpoints,
  ...locateEndpoints,
  ...blockEndpoints,
  ...runMethodEndpoints,
  ...sendEndpoints,
  ...utilityEndpoints,
  ...configurationEndpoints,
  ...nodeEndpoints,
];

/** The groups of the API reference, in its order. */
export const v2Tags: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Accounts', description: 'States of accounts, wallets, tokens' },
  { name: 'Transactions', description: 'Transactions of accounts and of blocks, and by their messages' },
  { name: 'Blocks', description: 'Blocks, shards, proofs, queues' },
  { name: 'Run method', description: 'Get methods of contracts' },
  { name: 'Send', description: 'Messages from outside, and what they cost' },
  { name: 'Utils', description: 'Forms of addresses and hashes' },
  { name: 'Configuration', description: 'Parameters of the network, libraries' },
  { name: 'Nodes', description: 'The servers behind this one' },
];
