import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { AddressBookJson, MetadataJson } from '#api/v3/address-book.js';
import {
  addressField,
  answerObject,
  booleanField,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  integerField,
  mapField,
  nullableField,
  optionalField,
  type ProfileFormat,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { type AddressCollector, answerList, checkPage, pageOf } from '#api/v3/page.js';
import { accountListParameter, pageFields, sortParameter } from '#api/v3/parameters.js';
import type { IndexedJettonMaster, IndexedJettonWallet, TokenTexts } from '#drivers/store/read/index-types.js';

/** Content of a token. */
export const tokenContent = mapField(Type.String(), {
  description:
    'What the contract says of the token (TEP-64): texts by their keys; where that stands elsewhere, `uri` is the link.',
});

export const JettonMasterJson = answerObject(
  'JettonMaster',
  {
    address: addressField('The master.'),
    total_supply: decimalField('Units of the jetton that there are.'),
    mintable: booleanField('There may be more.'),
    admin_address: nullableField(addressField('Who rules it.')),
    jetton_content: nullableField(tokenContent),
    jetton_wallet_code_hash: hash256Field('Of the code of its wallets.'),
    code_hash: nullableField(hash256Field('Of its code.')),
    data_hash: nullableField(hash256Field('Of its data.')),
    last_transaction_lt: decimalField('Logical time of the last transaction.'),
  },
  'A jetton, as its master tells.',
);

const JettonWalletMintlessInfo = answerObject(
  'JettonWalletMintlessInfo',
  {
    amount: nullableField(decimalField('Units that can be claimed.')),
    start_from: nullableField(integerField('Not before: unix time in seconds.')),
    expire_at: nullableField(integerField('Not after: unix time in seconds.')),
    custom_payload_api_uri: nullableField(Type.Array(textField('Link to a service that proves the claim.'))),
  },
  'What an owner may claim of a mintless jetton.',
);

export const JettonWalletJson = answerObject(
  'JettonWallet',
  {
    address: addressField('The wallet.'),
    balance: decimalField('Units of the jetton in it.'),
    owner: addressField('Whose it is.'),
    jetton: addressField('Master of the jetton, which confirms the wallet.'),
    last_transaction_lt: decimalField('Logical time of the last transaction.'),
    code_hash: nullableField(hash256Field('Of its code.')),
    data_hash: nullableField(hash256Field('Of its data.')),
    mintless_info: optionalField(JettonWalletMintlessInfo),
  },
  'Who has how much of a jetton. `mintless_info` is never told: what can be claimed does not stand on the chain.',
);

export const JettonMastersResponse = answerObject('JettonMastersResponse', {
  jetton_masters: Type.Array(JettonMasterJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

export const JettonWalletsResponse = answerObject('JettonWalletsResponse', {
  jetton_wallets: Type.Array(JettonWalletJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

/** A master as `/jetton/masters` shows it. The answer names it and its admin. */
export function jettonMasterText(
  master: IndexedJettonMaster,
  { nullable }: ProfileFormat,
  addresses: AddressCollector,
): string {
  const { address, total_supply, mintable, admin, content, code_hash, data_hash } = master;
  return (
    `{"address":${addresses.add(address)},"total_supply":${decimalText(total_supply)},"mintable":${mintable}` +
    nullable(
      'admin_address',
      textOrNull(admin, (value) => addresses.add(value)),
    ) +
    nullable('jetton_content', contentText(content)) +
    `,"jetton_wallet_code_hash":${hashText(master.jetton_wallet_code_hash)}` +
    nullable('code_hash', textOrNull(code_hash, hashText)) +
    nullable('data_hash', textOrNull(data_hash, hashText)) +
    `,"last_transaction_lt":${decimalText(master.last_trans_lt)}}`
  );
}

/** A wallet as `/jetton/wallets` shows it. The answer names it, its owner and its master. */
export function jettonWalletText(
  wallet: IndexedJettonWallet,
  { nullable }: ProfileFormat,
  addresses: AddressCollector,
): string {
  const { address, balance, owner, jetton, last_trans_lt, code_hash, data_hash } = wallet;
  return (
    `{"address":${addresses.add(address)},"balance":${decimalText(balance)},"owner":${addresses.add(owner)}` +
    `,"jetton":${addresses.add(jetton)},"last_transaction_lt":${decimalText(last_trans_lt)}` +
    nullable('code_hash', textOrNull(code_hash, hashText)) +
    `${nullable('data_hash', textOrNull(data_hash, hashText))}}`
  );
}

/** JSON of a value, or null without one. */
export function textOrNull<T>(value: T | null, text: (value: T) => string): string | null {
  return value === null ? null : text(value);
}

/** Content of a token as JSON, by its sorted keys. */
export function contentText(content: TokenTexts): string {
  const keys = Object.keys(content).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(content[key])}`).join(',')}}`;
}

const GET = ['GET'] as const;
const TAG = 'Jettons';
const STATUSES = [422, 504];

const masters = v3Endpoint({
  name: 'jetton/masters',
  verbs: GET,
  tag: TAG,
  summary: 'Jettons',
  description: 'Masters of jettons that meet all conditions given, in the order in which the index found them.',
  params: Type.Object(
    {
      address: Type.Optional(accountListParameter('Only these masters')),
      admin_address: Type.Optional(accountListParameter('Only masters of which one of these is the admin')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: JettonMastersResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, admin_address: admin, ...rest }, context) => {
    const filter = { address, admin };
    const listed = await context.network.index.jettonMasters(filter, pageOf(rest, context), context.query);
    return answerList('jetton_masters', listed, jettonMasterText, context);
  },
});

const wallets = v3Endpoint({
  name: 'jetton/wallets',
  verbs: GET,
  tag: TAG,
  summary: 'Jetton wallets',
  description:
    'Jetton wallets that their masters confirm and that meet all conditions given. They stand in the order in which the index ' +
    'found them, or by balance with `sort`; those of several owners one owner after the other; and asked for by nothing but ' +
    '`address`, by that. Several `jetton_address` go with just one `owner_address`.',
  params: Type.Object(
    {
      address: Type.Optional(accountListParameter('Only these wallets')),
      owner_address: Type.Optional(accountListParameter('Only wallets of these owners')),
      jetton_address: Type.Optional(accountListParameter('Only wallets of these jettons, by their masters')),
      exclude_zero_balance: Type.Optional(
        Type.Boolean({
          description: 'Without empty wallets. What could still be claimed of a mintless jetton does not count.',
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
  result: JettonWalletsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address, owner_address: owner, jetton_address: jetton, exclude_zero_balance, ...rest }, context) => {
    const filter = { address, owner, jetton, exclude_zero_balance, by_balance: rest.sort !== undefined };
    const listed = await context.network.index.jettonWallets(filter, pageOf(rest, context), context.query);
    return answerList('jetton_wallets', listed, jettonWalletText, context);
  },
});

/** Methods about jettons. */
export const jettonEndpoints: readonly AnyEndpoint<V3Context>[] = [masters, wallets];
