import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { interfaces, interfacesJson, readAddressRows } from '#api/v3/address-book.js';
import { accountDependencies } from '#api/v3/answer-keys.js';
import {
  AddressCollector,
  address,
  answerType,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  type InputOf,
  integer,
  list,
  nullable,
  optional,
  required,
  unlisted,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { jsonPieces, upperCaseRaw } from '#api/v3/json-pieces.js';
import { addRows, checkPage, listAnswer, pageOf, rowsOf, wantedFacts, withAddresses } from '#api/v3/page.js';
import { pageFields, v3AccountListParameter, v3HashListParameter } from '#api/v3/parameters.js';
import { itemsPrice, pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { readWallet, WALLET_CODES, type WalletState } from '#domain/contracts/wallet.js';
import type { IndexedAccount } from '#drivers/store/read/index-types.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';

const STATUS = '`uninit`, `active`, `frozen` or `nonexist`.';

/** Members of answers about wallets: type, seqno and wallet id, as far as the wallet has them. */
export const walletMembers = {
  wallet_type: optional(word('Type of the wallet: `wallet v1 r1` to `wallet v5 r1`.')),
  seqno: optional(integer('Seqno that its next external-in message must carry.')),
  wallet_id: optional(integer('Wallet id (subwallet id); since v3.')),
};

const AccountStateFull = answerType(
  'AccountStateFull',
  {
    address: address('The account.'),
    account_state_hash: required(hash('Hash of the account cell.'), 'state_hash'),
    balance: decimal('Nanotons.'),
    extra_currencies: currencies,
    status: word(STATUS),
    frozen_hash: optional(hash('Hash of the state that a frozen account had.')),
    last_transaction_hash: required(hash('Its last transaction.'), 'last_trans_hash'),
    last_transaction_lt: required(decimal('Logical time of its last transaction.'), 'last_trans_lt'),
    data_hash: optional(hash('Hash of the data.')),
    code_hash: optional(hash('Hash of the code.')),
    data_boc: optional(boc('The data; not with `include_boc=false`, and not while a part of it is unknown.')),
    code_boc: optional(boc('The code; not with `include_boc=false`.')),
    contract_methods: nullable(list(integer(), 'Ids of its get-methods, if its code lists them.')),
    interfaces: nullable(interfaces),
  },
  'The newest indexed state of an account.',
);

const AccountStates = listAnswer('AccountStatesResponse', 'accounts', AccountStateFull, { metadata: true });

const WalletStateJson = answerType(
  'WalletState',
  {
    address: address('The account.'),
    is_wallet: flag('It is a wallet of a known type.'),
    ...walletMembers,
    balance: decimal('Nanotons.'),
    extra_currencies: optional(currencies),
    is_signature_allowed: optional(flag('It accepts signed external-in messages; since v5.')),
    status: word(STATUS),
    code_hash: optional(hash('Hash of the code.')),
    last_transaction_hash: required(hash('Its last transaction.'), 'last_trans_hash'),
    last_transaction_lt: required(decimal('Logical time of its last transaction.'), 'last_trans_lt'),
  },
  'The newest indexed state of an account, and its wallet type.',
);

const WalletStates = listAnswer('WalletStatesResponse', 'wallets', WalletStateJson, { metadata: true });

const AccountBalance = answerType('AccountBalance', {
  account: required(unlisted(address('The account.')), 'address'),
  balance: decimal('Nanotons.'),
});

const TopAccounts = list(AccountBalance);

/**
 * Wallets have their type, and seqno and id, except while their data is not known whole; other accounts have none of these
 * members.
 */
function walletStateOf(account: IndexedAccount): InputOf<typeof WalletStateJson> {
  const wallet = walletOf(account);
  const code = account.code_hash === null ? undefined : WALLET_CODES.get(toHex(account.code_hash));
  const wallet_type = wallet?.wallet_type ?? (account.incomplete ? code?.wallet_type : undefined) ?? null;
  const { extra_currencies } = account;
  return {
    ...account,
    ...wallet,
    wallet_type,
    is_wallet: wallet_type !== null,
    extra_currencies: extra_currencies.size === 0 ? null : extra_currencies,
  };
}

/** Null: it is no wallet of a known type, or its data is unknown. The account must have been read with code and data. */
export function walletOf({ code_hash, code_boc, data_boc }: IndexedAccount): WalletState | null {
  if (code_hash === null || code_boc === null || data_boc === null) return null;
  // Most accounts are no wallets: their code need not be parsed.
  if (!WALLET_CODES.has(toHex(code_hash))) return null;
  return readWallet(parseBocRoot(code_boc), parseBocRoot(data_boc));
}

/** Bytes of code and data whose base64 takes one unit of `Endpoint.price` to write. */
const BYTES_PER_UNIT = 200_000;

const TAG = 'Accounts';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

const accountsParameter = v3AccountListParameter('Accounts');

const accountStates = v3Endpoint({
  name: 'accountStates',
  verbs: GET,
  tag: TAG,
  summary: 'States of accounts',
  description: 'The newest indexed states of accounts, in the order of the request. Unknown accounts are left out.',
  params: Type.Object(
    {
      address: accountsParameter,
      include_boc: Type.Optional(Type.Boolean({ description: 'Include code and data.', default: true })),
      code_hash: Type.Optional(v3HashListParameter('Only accounts whose code has one of these hashes')),
    },
    { additionalProperties: false },
  ),
  result: AccountStates.schema,
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.account),
  coverage: { needs: [], names: ({ address }) => ({ accounts: address, contracts: address }) },
  freshness: 'head',
  depends: ({ address }) => accountDependencies(address),
  handle: async ({ address: wanted, include_boc = true, code_hash }, context) => {
    const { network, query, profile } = context;
    const accounts = await network.index.accounts({ address: wanted, code_hash }, { boc: include_boc }, query);
    const bytes = accounts.reduce((sum, each) => sum + (each.code_boc?.length ?? 0) + (each.data_boc?.length ?? 0), 0);
    context.foresee(bytes / BYTES_PER_UNIT);
    const all = new Map(accounts.map((account) => [upperCaseRaw(account.address), account.address]));
    const known = await readAddressRows(all, wantedFacts(context, true), context);
    const page = { profile, addresses: new AddressCollector() };
    const writeState = (account: IndexedAccount): string => {
      const contract_methods = known.get(upperCaseRaw(account.address))?.account?.methods ?? null;
      const code = account.code_hash;
      // Accounts without code have an empty list here, and null in the address book.
      const names = code === null ? '[]' : interfacesJson(code, contract_methods);
      return writeAnswerJson(AccountStateFull, { ...account, contract_methods, interfaces: names }, page);
    };
    const head = jsonPieces('{"accounts":[');
    await addRows(head, accounts, (account) => [writeState(account)], context);
    head.add('],');
    return withAddresses(head, page.addresses, context, true, known);
  },
});

const walletStates = v3Endpoint({
  name: 'walletStates',
  verbs: GET,
  tag: TAG,
  summary: 'Wallets',
  description:
    'The newest indexed states of accounts, in the order of the request, with the seqno and id of wallets. Unknown accounts are ' +
    'left out; `is_wallet` is false for accounts that are no wallet of a known type.',
  params: Type.Object({ address: accountsParameter }, { additionalProperties: false }),
  result: WalletStates.schema,
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.account),
  coverage: { needs: [], names: ({ address }) => ({ accounts: address }) },
  freshness: 'head',
  depends: ({ address }) => accountDependencies(address),
  handle: async ({ address: wanted }, context) => {
    const accounts = await context.network.index.accounts({ address: wanted }, { boc: true }, context.query);
    return WalletStates.write({ rows: accounts.map(walletStateOf), next: null }, context);
  },
});

const topAccountsByBalance = v3Endpoint({
  name: 'topAccountsByBalance',
  verbs: GET,
  tag: 'Stats',
  summary: 'Accounts with the largest balances',
  description: 'Accounts by their newest indexed balance, the largest first.',
  params: Type.Object(pageFields, { additionalProperties: false }),
  check: checkPage,
  result: TopAccounts.schema,
  schemaName: 'TopAccountsByBalance',
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.bookEntry),
  coverage: { needs: ['state'] },
  freshness: 'head',
  handle: async (params, context) => {
    const listed = await context.network.index.topAccounts(pageOf(params, context), context.query);
    const page = { profile: context.profile, addresses: new AddressCollector() };
    return jsonText(writeAnswerJson(TopAccounts, rowsOf(listed, context), page));
  },
});

/** Methods about accounts, in the order of the document. */
export const v3AccountEndpoints: readonly AnyEndpoint<V3Context>[] = [accountStates, walletStates];

export const statisticsEndpoints: readonly AnyEndpoint<V3Context>[] = [topAccountsByBalance];
