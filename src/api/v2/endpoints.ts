import type { AnyEndpoint } from '#api/http/endpoint.js';
import { v2AccountEndpoints } from '#api/v2/accounts.js';
import { v2BlockEndpoints } from '#api/v2/blocks.js';
import type { V2Context } from '#api/v2/context.js';
import { dnsEndpoints } from '#api/v2/dns.js';
import { locateEndpoints } from '#api/v2/locate.js';
import { configurationEndpoints, nodeEndpoints } from '#api/v2/network.js';
import { runMethodEndpoints } from '#api/v2/run-method.js';
import { sendEndpoints } from '#api/v2/send.js';
import { STACK_TYPE } from '#api/v2/stack-forms.js';
import { tokenEndpoints } from '#api/v2/tokens.js';
import { BLOCK_ID_TYPE } from '#api/v2/ton-objects.js';
import { accountTransactionEndpoints, blockTransactionEndpoints } from '#api/v2/transactions.js';
import { utilityEndpoints } from '#api/v2/utilities.js';

/** All methods of v2, in the order of the published document. */
export const v2Endpoints: readonly AnyEndpoint<V2Context>[] = [
  ...v2AccountEndpoints,
  ...tokenEndpoints,
  ...dnsEndpoints,
  ...blockTransactionEndpoints,
  ...accountTransactionEndpoints,
  ...locateEndpoints,
  ...v2BlockEndpoints,
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
  { name: 'Send', description: 'External-in messages and their fees' },
  { name: 'Utils', description: 'Forms of addresses and hashes' },
  { name: 'Configuration', description: 'Parameters of the network, libraries' },
  { name: 'Nodes', description: 'Liteservers behind this service' },
];

/** The names of types in the `toncenter` profile (live services), where they differ from the `spec` profile. */
export const V2_TYPE_NAMES: Readonly<Record<string, string>> = {
  [BLOCK_ID_TYPE]: 'ton.blockIdExt',
  ...Object.fromEntries(Object.values(STACK_TYPE).map((name) => [name, `t${name}`])),
};
