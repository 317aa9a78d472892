import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { V3Context } from '#api/v3/context.js';
import { accountEndpoints, statisticsEndpoints } from '#api/v3/routes/accounts.js';
import { blockEndpoints } from '#api/v3/routes/blocks.js';
import { decodeEndpoints } from '#api/v3/routes/decode.js';
import { dnsEndpoints } from '#api/v3/routes/dns.js';
import { jettonEventEndpoints } from '#api/v3/routes/jetton-events.js';
import { jettonEndpoints } from '#api/v3/routes/jettons.js';
import { legacyAccountEndpoints } from '#api/v3/routes/legacy-accounts.js';
import { legacyCallEndpoints } from '#api/v3/routes/legacy-calls.js';
import { messageEndpoints } from '#api/v3/routes/messages.js';
import { multisigEndpoints } from '#api/v3/routes/multisig.js';
import { nftEventEndpoints } from '#api/v3/routes/nft-events.js';
import { nftEndpoints } from '#api/v3/routes/nfts.js';
import { traceEndpoints } from '#api/v3/routes/traces.js';
import { transactionEndpoints } from '#api/v3/routes/transactions.js';
import { vestingEndpoints } from '#api/v3/routes/vesting.js';

/** All methods of v3. */
export const v3Endpoints: readonly AnyEndpoint<V3Context>[] = [
  ...accountEndpoints,
  ...traceEndpoints,
  ...blockEndpoints,
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
