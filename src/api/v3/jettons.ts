import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { contractDependencies } from '#api/v3/answer-keys.js';
import {
  address,
  answerType,
  answerValue,
  decimal,
  flag,
  hash,
  integer,
  list,
  mapSchema,
  nullable,
  optional,
  required,
  text,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { namedBy } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { checkPage, listAnswer, pageOf } from '#api/v3/page.js';
import { pageFields, sortParameter, v3AccountListParameter } from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import type { TokenTexts } from '#drivers/store/read/contract-rows.js';

/** Content of a token, its keys sorted. */
export const tokenContent = answerValue<TokenTexts>(
  mapSchema(Type.String(), {
    description:
      'On-chain content of the token (TEP-64): strings by their keys; `uri` is the link to off-chain content.',
  }),
  (content) => {
    const keys = Object.keys(content).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(content[key])}`).join(',')}}`;
  },
);

const JettonMaster = answerType(
  'JettonMaster',
  {
    address: address('The jetton master.'),
    total_supply: decimal('Total supply in units of the jetton.'),
    mintable: flag('More may be minted.'),
    admin_address: nullable(address('Its admin.'), 'admin'),
    jetton_content: nullable(tokenContent, 'content'),
    jetton_wallet_code_hash: hash('Hash of the code of its jetton wallets.'),
    code_hash: nullable(hash('Hash of its code.')),
    data_hash: nullable(hash('Hash of its data.')),
    last_transaction_lt: required(decimal('Logical time of its last transaction.'), 'last_trans_lt'),
  },
  'A jetton, as described by its master.',
);

const JettonWalletMintlessInfo = answerType(
  'JettonWalletMintlessInfo',
  {
    amount: nullable(decimal('Units that can be claimed.')),
    start_from: nullable(integer('Not before: unix time in seconds.')),
    expire_at: nullable(integer('Not after: unix time in seconds.')),
    custom_payload_api_uri: nullable(list(text('Link to a service that returns the proof of the claim.'))),
  },
  'What an owner may claim of a mintless jetton.',
);

export const JettonWallet = answerType(
  'JettonWallet',
  {
    address: address('The jetton wallet.'),
    balance: decimal('Its balance in units of the jetton.'),
    owner: address('Its owner.'),
    jetton: address('Its jetton master, which confirms the wallet.'),
    last_transaction_lt: required(decimal('Logical time of its last transaction.'), 'last_trans_lt'),
    code_hash: nullable(hash('Hash of its code.')),
    data_hash: nullable(hash('Hash of its data.')),
    mintless_info: optional(JettonWalletMintlessInfo),
  },
  'A jetton wallet. `mintless_info` is never given: claimable amounts are not on the chain.',
);

const JettonMasters = listAnswer('JettonMastersResponse', 'jetton_masters', JettonMaster, { metadata: true });
const JettonWallets = listAnswer('JettonWalletsResponse', 'jetton_wallets', JettonWallet, { metadata: true });

const GET = ['GET'] as const;
const TAG = 'Jettons';
const STATUSES = [422, 504];

const masters = v3Endpoint({
  name: 'jetton/masters',
  verbs: GET,
  tag: TAG,
  summary: 'Jettons',
  description: 'Jetton masters that match all given conditions, in the order of their first transactions.',
  params: Type.Object(
    {
      address: Type.Optional(v3AccountListParameter('Only these masters')),
      admin_address: Type.Optional(v3AccountListParameter('Only masters whose admin is one of these')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: JettonMasters.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.contract),
  coverage: namedBy('address'),
  freshness: 'head',
  depends: ({ address, admin_address }) => contractDependencies(address, admin_address),
  handle: async ({ address, admin_address: admin, ...rest }, context) => {
    const filter = { address, admin };
    const listed = await context.network.index.jettonMasters(filter, pageOf(rest, context), context.query);
    return JettonMasters.write(listed, context);
  },
});

const wallets = v3Endpoint({
  name: 'jetton/wallets',
  verbs: GET,
  tag: TAG,
  summary: 'Jetton wallets',
  description:
    'Jetton wallets that their masters confirm and that match all given conditions. They are ordered by their first transactions, or ' +
    'by balance with `sort`; those of several owners are grouped by owner; if only `address` is given, they are ordered by ' +
    'address. Several `jetton_address` require exactly one `owner_address`.',
  params: Type.Object(
    {
      address: Type.Optional(v3AccountListParameter('Only these wallets')),
      owner_address: Type.Optional(v3AccountListParameter('Only wallets of these owners')),
      jetton_address: Type.Optional(v3AccountListParameter('Only wallets of these jettons, by their masters')),
      exclude_zero_balance: Type.Optional(
        Type.Boolean({
          description: 'Without empty wallets. Claimable amounts of mintless jettons do not count.',
        }),
      ),
      ...pageFields,
      sort: sortParameter('By balance.', null),
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { jetton_address = [], owner_address = [] } = given;
    if (jetton_address.length <= 1 || owner_address.length === 1) return;
    throw v3Errors.parameters({ problem: 'exact one owner_address required for multiple jetton_address' });
  },
  result: JettonWallets.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.contract),
  coverage: {
    needs: ({ address, owner_address, jetton_address }) =>
      address === undefined && (owner_address === undefined || jetton_address === undefined) ? ['state'] : [],
    names: ({ address, owner_address: owners, jetton_address: jettons }) => {
      if (address !== undefined || owners === undefined || jettons === undefined) return { contracts: address };
      return { jettonWallets: { owners, jettons } };
    },
  },
  freshness: 'head',
  depends: ({ address, owner_address, jetton_address }) => contractDependencies(address, owner_address, jetton_address),
  handle: async ({ address, owner_address: owner, jetton_address: jetton, exclude_zero_balance, ...rest }, context) => {
    const filter = { address, owner, jetton, exclude_zero_balance, by_balance: rest.sort !== undefined };
    const listed = await context.network.index.jettonWallets(filter, pageOf(rest, context), context.query);
    return JettonWallets.write(listed, context);
  },
});

/** Methods about jettons. */
export const jettonEndpoints: readonly AnyEndpoint<V3Context>[] = [masters, wallets];
