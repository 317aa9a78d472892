import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import {
  AddressBookJson,
  addressBookText,
  emptyRowText,
  interfacesText,
  MetadataJson,
  metadataText,
} from '#api/v3/address-book.js';
import {
  addressField,
  addressText,
  answerObject,
  base64Text,
  bocField,
  booleanField,
  currenciesField,
  currenciesText,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  integerField,
  interfacesField,
  listText,
  nullableField,
  optionalField,
  optionalMember,
  type ProfileFormat,
  profileFormat,
  quotedText,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import {
  AddressCollector,
  addressesText,
  checkPage,
  pageAddressesText,
  pageOf,
  rowsOf,
  wantedFacts,
} from '#api/v3/page.js';
import { accountListParameter, decodeAccount, hash256ListParameter, pageFields } from '#api/v3/parameters.js';
import { readWallet, WALLET_CODES, type WalletState } from '#domain/contracts/wallet.js';
import type { IndexedAccount } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

const STATUS = '`uninit`, `active`, `frozen` or `nonexist`.';
const WALLET_TYPE = 'Kind of the wallet: `wallet v1 r1` to `wallet v5 r1`.';
const SEQNO = 'Number that the next order must carry.';
const WALLET_ID = 'Number of the wallet among those of one key; since v3.';

export const AccountStateFullJson = answerObject(
  'AccountStateFull',
  {
    address: addressField('The account.'),
    account_state_hash: hash256Field('Of the account’s cell.'),
    balance: decimalField('Nanotons.'),
    extra_currencies: currenciesField,
    status: textField(STATUS),
    frozen_hash: optionalField(hash256Field('State that a frozen account had.')),
    last_transaction_hash: hash256Field('Its last transaction.'),
    last_transaction_lt: decimalField('Logical time of that.'),
    data_hash: optionalField(hash256Field('Of the data.')),
    code_hash: optionalField(hash256Field('Of the code.')),
    data_boc: optionalField(
      bocField('The data; not with `include_boc=false`, and not where a part of it is not known.'),
    ),
    code_boc: optionalField(bocField('The code; not with `include_boc=false`.')),
    contract_methods: nullableField(
      Type.Array(Type.Integer(), { description: 'Ids of the contract’s get methods, where its code lists them.' }),
    ),
    interfaces: nullableField(interfacesField),
  },
  'The newest indexed state of an account.',
);

export const AccountStatesResponse = answerObject('AccountStatesResponse', {
  accounts: Type.Array(AccountStateFullJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

export const WalletStateJson = answerObject(
  'WalletState',
  {
    address: addressField('The account.'),
    is_wallet: booleanField('It is a wallet of a known kind.'),
    wallet_type: optionalField(textField(WALLET_TYPE)),
    seqno: optionalField(integerField(SEQNO)),
    wallet_id: optionalField(integerField(WALLET_ID)),
    balance: decimalField('Nanotons.'),
    extra_currencies: optionalField(currenciesField),
    is_signature_allowed: optionalField(booleanField('It takes signed orders; since v5.')),
    status: textField(STATUS),
    code_hash: optionalField(hash256Field('Of the code.')),
    last_transaction_hash: hash256Field('Its last transaction.'),
    last_transaction_lt: decimalField('Logical time of that.'),
  },
  'The newest indexed state of an account, and what kind of wallet it is.',
);

export const WalletStatesResponse = answerObject('WalletStatesResponse', {
  wallets: Type.Array(WalletStateJson),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

export const AccountBalanceJson = answerObject('AccountBalance', {
  account: addressField('The account.'),
  balance: decimalField('Nanotons.'),
});

export const V2AddressInformation = answerObject(
  'V2AddressInformation',
  {
    balance: decimalField('Nanotons.'),
    code: nullableField(bocField('Code.')),
    data: nullableField(bocField('Data.')),
    last_transaction_lt: decimalField('Of its last transaction; 0 without any.'),
    last_transaction_hash: hash256Field('Its last transaction; zeros without any.'),
    frozen_hash: nullableField(hash256Field('State that a frozen account had.')),
    status: textField(
      '`active`, `frozen`, or without code: `uninitialized` from the chain, `uninit` or `nonexist` from the index.',
    ),
  },
  'An account.',
);

export const V2WalletInformation = answerObject(
  'V2WalletInformation',
  {
    balance: decimalField('Nanotons.'),
    wallet_type: optionalField(textField(WALLET_TYPE)),
    seqno: optionalField(integerField(SEQNO)),
    wallet_id: optionalField(integerField(WALLET_ID)),
    last_transaction_lt: decimalField('Of its last transaction; 0 without any.'),
    last_transaction_hash: hash256Field('Its last transaction; zeros without any.'),
    status: textField('As of addressInformation.'),
  },
  'A wallet.',
);

/**
 * An account as `/accountStates` shows it.
 *
 * @param methods ids of its get methods; null: not known, or its code has no table of them
 */
export function accountStateText(
  account: IndexedAccount,
  methods: readonly number[] | null,
  dialect: ProfileFormat,
): string {
  const { code_hash } = account;
  // Those without code are said to be of no kind here, other than in the address book.
  const interfaces = code_hash === null ? '[]' : interfacesText(code_hash, methods);
  return (
    `{"address":${addressText(account.address)},"account_state_hash":${hashText(account.state_hash)}` +
    `,"balance":${decimalText(account.balance)},"extra_currencies":${currenciesText(account.extra_currencies)}` +
    `,"status":${quotedText(account.status)}${optionalMember('frozen_hash', maybeHash(account.frozen_hash))}` +
    `,"last_transaction_hash":${hashText(account.last_trans_hash)}` +
    `,"last_transaction_lt":${decimalText(account.last_trans_lt)}` +
    optionalMember('data_hash', maybeHash(account.data_hash)) +
    optionalMember('code_hash', maybeHash(account.code_hash)) +
    optionalMember('data_boc', maybeBoc(account.data_boc)) +
    optionalMember('code_boc', maybeBoc(account.code_boc)) +
    dialect.nullable('contract_methods', methods === null ? null : JSON.stringify(methods)) +
    `${dialect.nullable('interfaces', interfaces)}}`
  );
}

/**
 * An account as `/walletStates` shows it; other members of wallets than those of its kind are left out. So is what a wallet
 * keeps, as long as its data is not known whole.
 */
export function walletStateText(account: IndexedAccount): string {
  const wallet = walletOf(account);
  const code = account.code_hash === null ? undefined : WALLET_CODES.get(toHex(account.code_hash));
  const members =
    wallet === null && account.incomplete && code !== undefined
      ? `,"wallet_type":${quotedText(code.wallet_type)}`
      : walletMembers(wallet);
  const allowed = wallet?.is_signature_allowed ?? null;
  const currencies = account.extra_currencies;
  return (
    `{"address":${addressText(account.address)},"is_wallet":${members !== ''}${members}` +
    `,"balance":${decimalText(account.balance)}` +
    optionalMember('extra_currencies', currencies.size === 0 ? null : currenciesText(currencies)) +
    optionalMember('is_signature_allowed', allowed === null ? null : String(allowed)) +
    `,"status":${quotedText(account.status)}${optionalMember('code_hash', maybeHash(account.code_hash))}` +
    `,"last_transaction_hash":${hashText(account.last_trans_hash)}` +
    `,"last_transaction_lt":${decimalText(account.last_trans_lt)}}`
  );
}

/** Kind, seqno and id of a wallet, each with a comma before it. */
export function walletMembers(wallet: WalletState | null): string {
  if (wallet === null) return '';
  const { wallet_type, seqno, wallet_id } = wallet;
  return (
    `,"wallet_type":${quotedText(wallet_type)},"seqno":${seqno}` +
    optionalMember('wallet_id', wallet_id === null ? null : String(wallet_id))
  );
}

/** Null: it is no wallet of a known kind, or its data is not known. The account must have been read with code and data. */
export function walletOf({ code_hash, code_boc, data_boc }: IndexedAccount): WalletState | null {
  if (code_hash === null || code_boc === null || data_boc === null) return null;
  // Most accounts are no wallets: their code need not be looked at.
  if (!WALLET_CODES.has(toHex(code_hash))) return null;
  return readWallet(parseBocRoot(code_boc), parseBocRoot(data_boc));
}

function maybeHash(hash: Uint8Array | null): string | null {
  return hash === null ? null : hashText(hash);
}

function maybeBoc(boc: Uint8Array | null): string | null {
  return boc === null ? null : base64Text(boc);
}

const TAG = 'Accounts';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** Most texts that `addressBook` and `metadata` take. */
const MAX_BOOK = 1_024;

const accountsParameter = accountListParameter('Accounts');

/** Texts that should be accounts; one that is none does not spoil the answer for the others. */
const accountTexts = commaList(Type.String({ maxLength: 200 }), {
  description:
    'Accounts, in raw or user-friendly form; several may be given by repeating the parameter or with commas between them.',
  maxItems: MAX_BOOK,
});

function addressesOf(accounts: readonly IndexedAccount[]): AddressCollector {
  const addresses = new AddressCollector();
  for (const { address: of } of accounts) addresses.add(of);
  return addresses;
}

const accountStates = v3Endpoint({
  name: 'accountStates',
  verbs: GET,
  tag: TAG,
  summary: 'States of accounts',
  description:
    'The newest indexed states of accounts, in the order asked for. Accounts that are not known are left out.',
  params: Type.Object(
    {
      address: accountsParameter,
      include_boc: Type.Optional(Type.Boolean({ description: 'With code and data.', default: true })),
      code_hash: Type.Optional(hash256ListParameter('Only accounts whose code has one of these hashes')),
    },
    { additionalProperties: false },
  ),
  result: AccountStatesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: asked, include_boc: boc = true, code_hash }, context) => {
    const { network, query, profile } = context;
    const accounts = await network.index.accounts({ address: asked, code_hash }, { boc }, query);
    const addresses = addressesOf(accounts);
    const all = accounts.map((account) => account.address);
    const facts = await network.index.addressFacts(all, wantedFacts(context), query);
    const dialect = profileFormat(profile);
    const rows = accounts.map((account) => {
      const methods = facts.accounts.get(account.address.toRaw())?.methods ?? null;
      return accountStateText(account, methods, dialect);
    });
    return jsonText(`{"accounts":${listText(rows)},${addressesText(addresses, facts, context)}}`);
  },
});

const walletStates = v3Endpoint({
  name: 'walletStates',
  verbs: GET,
  tag: TAG,
  summary: 'Wallets',
  description:
    'The newest indexed states of accounts, in the order asked for, with what wallets keep: seqno and id. Accounts that are ' +
    'not known are left out; for those that are no wallet of a known kind `is_wallet` is false.',
  params: Type.Object({ address: accountsParameter }, { additionalProperties: false }),
  result: WalletStatesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: asked }, context) => {
    const accounts = await context.network.index.accounts({ address: asked }, { boc: true }, context.query);
    const last = await pageAddressesText(addressesOf(accounts), context);
    return jsonText(`{"wallets":${listText(accounts.map(walletStateText))},${last}}`);
  },
});

const addressBookEndpoint = v3Endpoint({
  name: 'addressBook',
  verbs: GET,
  tag: TAG,
  summary: 'How to show accounts',
  description:
    'For each text that was given, the user-friendly form of the account, its domain, and what it is known to be. Texts that ' +
    'are no account have a row without; when there are no others it is an error (422).',
  params: Type.Object({ address: accountTexts }, { additionalProperties: false }),
  result: AddressBookJson,
  schemaName: 'AddressBook',
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: given }, context) => {
    const { accounts, others } = splitAccounts(given);
    const { network, query, profile } = context;
    const wanted = { domains: true, tokens: false };
    const facts = await network.index.addressFacts([...accounts.values()], wanted, query);
    const rows = addressBookText(accounts, facts, context);
    const empty = emptyRowText(profileFormat(profile));
    const more = others.map((text) => `,${JSON.stringify(text)}:${empty}`).join('');
    return jsonText(`${rows.slice(0, -1)}${more}}`);
  },
});

const metadataEndpoint = v3Endpoint({
  name: 'metadata',
  verbs: GET,
  tag: TAG,
  summary: 'What tokens say of themselves',
  description:
    'Names, symbols and images of those accounts that are tokens, by raw address; of jetton wallets also those of their jettons.',
  params: Type.Object({ address: accountTexts }, { additionalProperties: false }),
  result: MetadataJson,
  schemaName: 'Metadata',
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: given }, { network, query }) => {
    const { accounts } = splitAccounts(given);
    const wanted = { domains: false, tokens: true };
    return jsonText(metadataText((await network.index.addressFacts([...accounts.values()], wanted, query)).tokens));
  },
});

/** The accounts, by their texts, and the texts that are none. @throws http/bad-parameter when all are none */
function splitAccounts(given: readonly string[]) {
  const accounts = new Map<string, Address>();
  const others = new Set<string>();
  for (const text of given) {
    const read = readAddress(text);
    if (read instanceof Address) {
      accounts.set(text, read);
      continue;
    }
    others.add(text);
  }
  if (accounts.size > 0) return { accounts, others: [...others] };
  const problem = readAddress(given[0] ?? '') as string;
  throw httpErrors['bad-parameter']({ parameter: 'address', problem });
}

/** Else why it is none. */
function readAddress(text: string): Address | string {
  try {
    return decodeAccount(text);
  } catch (error) {
    if (isTernError(error)) return error.message;
    throw error;
  }
}

const topAccountsByBalance = v3Endpoint({
  name: 'topAccountsByBalance',
  verbs: GET,
  tag: 'Stats',
  summary: 'Accounts with the most coins',
  description: 'Accounts by their newest indexed balance, the greatest first.',
  params: Type.Object(pageFields, { additionalProperties: false }),
  check: checkPage,
  result: Type.Array(AccountBalanceJson),
  schemaName: 'TopAccountsByBalance',
  statuses: STATUSES,
  freshness: 'head',
  handle: async (params, context) => {
    const listed = await context.network.index.topAccounts(pageOf(params, context), context.query);
    const rows = rowsOf(listed, context).map(
      ({ address: account, balance }) => `{"account":${addressText(account)},"balance":${decimalText(balance)}}`,
    );
    return jsonText(listText(rows));
  },
});

/** Methods about accounts, in the order of the document. */
export const v3AccountEndpoints: readonly AnyEndpoint<V3Context>[] = [
  accountStates,
  walletStates,
  addressBookEndpoint,
  metadataEndpoint,
];

export const statisticsEndpoints: readonly AnyEndpoint<V3Context>[] = [topAccountsByBalance];
