import { type Static, Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { accountParams, freshnessAt } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import {
  AccountAddress,
  accountAddress,
  blockIdExt,
  bocBase64,
  bytesField,
  decimalField,
  ExtraCurrencyBalance,
  echoedAddress,
  extraCurrencies,
  hashField,
  InternalTransactionId,
  TonBlockIdExt,
  TvmCell,
  transactionId,
  tvmCell,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { type PaymentChannelState, paymentChannelText, publicKeyText } from '#domain/contracts/payment-channel.js';
import { isSuspendedOnMainnet } from '#domain/contracts/suspended-addresses.js';
import { readTonlibAccountState, type TonlibAccountState } from '#domain/contracts/tonlib-account-state.js';
import { readWallet } from '#domain/contracts/wallet.js';
import type { Address, ParsedAddress } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type AccountStorage, NO_ACCOUNT, shardAccountCell } from '#formats/tlb/account.js';
import { toBase64 } from '#kernel/bytes.js';
import type { AccountStateRead } from '#services/chain/accounts.js';

const AccountStateEnum = Type.Union([Type.Literal('uninitialized'), Type.Literal('active'), Type.Literal('frozen')], {
  $id: 'AccountStateEnum',
  description:
    '`active`: has code. `frozen`: lost its code because it could not pay for storage. `uninitialized`: has no code, or does not exist.',
});
type AccountStateEnum = Static<typeof AccountStateEnum>;

const balance = decimalField('Nanotons.');
const extraCurrencyBalances = Type.Array(ExtraCurrencyBalance, {
  description: 'Extra currencies of the account.',
});
const syncUtime = Type.Integer({
  description: 'Generation time of the shard block with this state: Unix time in seconds.',
  format: 'int64',
});
const frozenHash = hashField('State hash of a frozen account; empty for other accounts.');

const AddressInformation = v2Object(
  'AddressInformation',
  {
    '@type': typeName('raw.fullAccountState'),
    balance,
    extra_currencies: extraCurrencyBalances,
    last_transaction_id: InternalTransactionId,
    block_id: TonBlockIdExt,
    code: bytesField('Bag of cells with the code; empty when there is none.'),
    data: bytesField('Bag of cells with the data; empty when there is none.'),
    frozen_hash: frozenHash,
    sync_utime: syncUtime,
    state: AccountStateEnum,
    suspended: Type.Optional(Type.Boolean({ description: 'The account is suspended (configuration parameter 44).' })),
  },
  { description: 'The state of an account as of the masterchain block `block_id`.' },
);
type AddressInformation = Static<typeof AddressInformation>;

const walletId = Type.Integer({
  description: 'Wallet id (subwallet id), which distinguishes wallets of one key.',
  format: 'int64',
});
const walletSeqno = Type.Integer({
  description: 'Seqno that the next external-in message must have.',
  format: 'int32',
});
const int64 = (description: string) => Type.Integer({ description, format: 'int64' });
/** May be beyond 2^53: written with all its digits. */
const exactInt64 = (description: string) => Type.Unsafe<bigint>(int64(description));

const AccountStateRaw = v2Object('AccountStateRaw', {
  '@type': typeName('raw.accountState'),
  code: bytesField('Bag of cells with the code.'),
  data: bytesField('Bag of cells with the data.'),
  frozen_hash: frozenHash,
});

const AccountStateWalletV3 = v2Object('AccountStateWalletV3', {
  '@type': typeName('wallet.v3.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletV4 = v2Object('AccountStateWalletV4', {
  '@type': typeName('wallet.v4.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletHighloadV1 = v2Object('AccountStateWalletHighloadV1', {
  '@type': typeName('wallet.highload.v1.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletHighloadV2 = v2Object('AccountStateWalletHighloadV2', {
  '@type': typeName('wallet.highload.v2.accountState'),
  wallet_id: walletId,
});

const AccountStateDns = v2Object('AccountStateDns', {
  '@type': typeName('dns.accountState'),
  wallet_id: walletId,
});

const RWalletLimit = v2Object('RWalletLimit', {
  '@type': typeName('rwallet.limit'),
  seconds: Type.Integer({ description: 'Seconds after `start_at`.', format: 'int32' }),
  value: exactInt64('Nanotons that are locked until then.'),
});

const RWalletConfig = v2Object('RWalletConfig', {
  '@type': typeName('rwallet.config'),
  start_at: int64('Start of the limits: Unix time in seconds.'),
  limits: Type.Array(RWalletLimit, { description: 'Locked amounts by time.' }),
});

const AccountStateRWallet = v2Object('AccountStateRWallet', {
  '@type': typeName('rwallet.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
  unlocked_balance: exactInt64('Nanotons that can be spent.'),
  config: RWalletConfig,
});

const PChanConfig = v2Object('PChanConfig', {
  '@type': typeName('pchan.config'),
  alice_public_key: Type.String({ description: 'Public key of Alice.' }),
  alice_address: AccountAddress,
  bob_public_key: Type.String({ description: 'Public key of Bob.' }),
  bob_address: AccountAddress,
  init_timeout: Type.Integer({ description: 'Timeout of initialisation, in seconds.', format: 'int32' }),
  close_timeout: Type.Integer({ description: 'Timeout of closing, in seconds.', format: 'int32' }),
  channel_id: exactInt64('Channel id.'),
});

const sidesOfChannel = {
  signed_A: Type.Boolean({ description: 'Whether Alice signed.' }),
  signed_B: Type.Boolean({ description: 'Whether Bob signed.' }),
  min_A: exactInt64('Minimum amount of Alice.'),
  min_B: exactInt64('Minimum amount of Bob.'),
  expire_at: int64('Expiry without agreement: Unix time in seconds.'),
  A: exactInt64('Nanotons of Alice.'),
  B: exactInt64('Nanotons of Bob.'),
};

const PChanState = Type.Union(
  [
    v2Object('PChanStateInit', { '@type': typeName('pchan.stateInit'), ...sidesOfChannel }),
    v2Object('PChanStateClose', { '@type': typeName('pchan.stateClose'), ...sidesOfChannel }),
    v2Object('PChanStatePayout', {
      '@type': typeName('pchan.statePayout'),
      A: sidesOfChannel.A,
      B: sidesOfChannel.B,
    }),
  ],
  { $id: 'PChanState', discriminator: { propertyName: '@type' } },
);

const AccountStatePChan = v2Object('AccountStatePChan', {
  '@type': typeName('pchan.accountState'),
  config: PChanConfig,
  state: PChanState,
  description: Type.String({ description: 'The state as text.' }),
});

const AccountStateUninited = v2Object('AccountStateUninited', {
  '@type': typeName('uninited.accountState'),
  frozen_hash: frozenHash,
});

const AccountStateJson = Type.Union(
  [
    AccountStateRaw,
    AccountStateWalletV3,
    AccountStateWalletV4,
    AccountStateWalletHighloadV1,
    AccountStateWalletHighloadV2,
    AccountStateDns,
    AccountStateRWallet,
    AccountStatePChan,
    AccountStateUninited,
  ],
  { $id: 'AccountState', discriminator: { propertyName: '@type' } },
);
type AccountStateJson = Static<typeof AccountStateJson>;

const ExtendedAddressInformation = v2Object(
  'ExtendedAddressInformation',
  {
    '@type': typeName('fullAccountState'),
    address: AccountAddress,
    balance: decimalField('Nanotons; -1 for an account that does not exist.'),
    extra_currencies: extraCurrencyBalances,
    last_transaction_id: InternalTransactionId,
    block_id: TonBlockIdExt,
    sync_utime: syncUtime,
    account_state: AccountStateJson,
    revision: Type.Integer({ description: 'Revision of the contract code, where there are several.' }),
  },
  { description: 'The state of an account as of a masterchain block, with its data decoded where the code is known.' },
);
type ExtendedAddressInformation = Static<typeof ExtendedAddressInformation>;

const WALLET_TYPES = [
  'wallet v1 r1',
  'wallet v1 r2',
  'wallet v1 r3',
  'wallet v2 r1',
  'wallet v2 r2',
  'wallet v3 r1',
  'wallet v3 r2',
  'wallet v4 r1',
  'wallet v4 r2',
  'wallet v5 beta',
  'wallet v5 r1',
] as const;
type WalletType = (typeof WALLET_TYPES)[number];

const WalletInformation = v2Object(
  'WalletInformation',
  {
    '@type': typeName('ext.accounts.walletInformation'),
    wallet: Type.Boolean({ description: 'Whether the code is that of a known wallet contract.' }),
    balance,
    account_state: AccountStateEnum,
    last_transaction_id: InternalTransactionId,
    wallet_type: Type.Optional(
      Type.Unsafe<WalletType>(Type.String({ description: 'Wallet contract and revision.', enum: [...WALLET_TYPES] })),
    ),
    seqno: Type.Optional(int64('Seqno that the next external-in message must have.')),
    wallet_id: Type.Optional(Type.Integer({ description: 'Wallet id, an int32; from v3 on.' })),
    is_signature_allowed: Type.Optional(
      Type.Boolean({ description: 'Whether signature authentication is enabled; v5 only.' }),
    ),
  },
  { description: 'An account as a wallet.' },
);
type WalletInformation = Static<typeof WalletInformation>;

const AddressBalance = Type.String({
  $id: 'AddressBalance',
  description: 'Nanotons, a decimal number as text.',
});

interface AccountQuery {
  readonly address: ParsedAddress;
  readonly seqno?: number;
}

const TAG = 'Accounts';
const STATUSES = [404, 422, 504];

function readAccount({ address, seqno }: AccountQuery, context: V2Context, pruned = false): Promise<AccountStateRead> {
  const { network, read } = context;
  return network.chain.account(address.address, { ...read, at: seqno ?? 'head', pruned });
}

const getAddressInformation = v2Endpoint({
  name: 'getAddressInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Account state: balance, code, data, last transaction',
  description:
    'The state of an account after the newest masterchain block, or after block `seqno`: balance in nanotons, code and data ' +
    'as bags of cells, the last transaction. For an account that does not exist, `state` is `uninitialized`, the balance 0, ' +
    'and the rest empty.',
  params: accountParams,
  result: AddressInformation,
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) => addressInformation(await readAccount(query, context), query.address.address),
});

const getExtendedAddressInformation = v2Endpoint({
  name: 'getExtendedAddressInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Account state, decoded where the code is known',
  description:
    'As `getAddressInformation`, but for some contracts (wallets v3 and v4, highload and restricted wallets, manual DNS, payment channels) ' +
    '`account_state` has the decoded data, such as `seqno` and `wallet_id`, instead of code and data. For an account ' +
    'that does not exist the balance is -1.',
  params: accountParams,
  result: ExtendedAddressInformation,
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) =>
    jsonText(exactJson(extendedAddressInformation(await readAccount(query, context), query.address))),
});

const getWalletInformation = v2Endpoint({
  name: 'getWalletInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Wallet: type, seqno and balance',
  description:
    'Whether an account is a known wallet (v1 to v5), which one, and the `seqno` that its next external-in message must ' +
    'have. For other accounts `wallet` is false and the fields of wallets are absent.',
  params: accountParams,
  result: WalletInformation,
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) => walletInformation(await readAccount(query, context), query.address.address),
});

const getAddressBalance = v2Endpoint({
  name: 'getAddressBalance',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Balance of an account',
  description: 'Nanotons (1 TON is 1,000,000,000 nanotons) as a decimal string; 0 for an account that does not exist.',
  params: accountParams,
  result: AddressBalance,
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) => addressBalance(await readAccount(query, context, true), query.address.address),
});

const getAddressState = v2Endpoint({
  name: 'getAddressState',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Status of an account',
  description:
    '`active`: it has code. `frozen`: it could not pay for its storage. `uninitialized`: it has no code, or does not exist.',
  params: accountParams,
  result: AccountStateEnum,
  schemaName: 'AddressState',
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) => addressState(await readAccount(query, context, true), query.address.address),
});

const getShardAccountCell = v2Endpoint({
  name: 'getShardAccountCell',
  verbs: GET_OR_POST,
  tag: TAG,
  unpublished: true,
  summary: 'ShardAccount of an account as a cell',
  description: 'The `ShardAccount` of an account: its entry in the shard state, as a bag of cells.',
  params: accountParams,
  result: TvmCell,
  statuses: STATUSES,
  price: () => PRICE.account,
  freshness: freshnessAt,
  handle: async (query, context) => tvmCell(shardAccountOf(await readAccount(query, context), query.address.address)),
});

/** Methods about account states, in the order of the document. */
export const v2AccountEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getAddressInformation,
  getExtendedAddressInformation,
  getWalletInformation,
  getAddressBalance,
  getAddressState,
  getShardAccountCell,
];

/** The parts of an account state that the methods show. */
interface AccountParts {
  /** Null: the account does not exist. */
  readonly storage: AccountStorage | null;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** State hash of a frozen account. */
  readonly state_hash: Uint8Array | null;
}

/** @throws v2/no-workchain */
function partsOf(read: AccountStateRead, address: Address): AccountParts {
  if (read.shard_block === null) {
    throw v2Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  const { account } = read;
  if (account === null || account.kind === 'account_none') {
    return { storage: null, code: null, data: null, state_hash: null };
  }
  const { storage } = account;
  const { state } = storage;
  switch (state.kind) {
    case 'account_active':
      return { storage, code: state.state_init.code, data: state.state_init.data, state_hash: null };
    case 'account_frozen':
      return { storage, code: null, data: null, state_hash: state.state_hash };
    default:
      return { storage, code: null, data: null, state_hash: null };
  }
}

function stateOf({ code, state_hash }: AccountParts): AccountStateEnum {
  if (code !== null) return 'active';
  return state_hash === null ? 'uninitialized' : 'frozen';
}

function balanceOf({ storage }: AccountParts): string {
  return storage === null ? '0' : storage.balance.grams.toString();
}

/** @throws v2/no-workchain */
function addressInformation(read: AccountStateRead, address: Address): AddressInformation {
  const parts = partsOf(read, address);
  const { storage, code, data, state_hash } = parts;
  const utime = read.shard_utime ?? 0;
  return {
    '@type': 'raw.fullAccountState',
    balance: balanceOf(parts),
    extra_currencies: storage === null ? [] : extraCurrencies(storage.balance.other),
    last_transaction_id: transactionId(read.last_transaction),
    block_id: blockIdExt(read.block),
    code: code === null ? '' : bocBase64(code),
    data: data === null ? '' : bocBase64(data),
    frozen_hash: state_hash === null ? '' : toBase64(state_hash),
    sync_utime: utime,
    state: stateOf(parts),
    suspended: isSuspendedOnMainnet(address, utime),
  };
}

/** @throws v2/no-workchain */
function extendedAddressInformation(read: AccountStateRead, asked: ParsedAddress): ExtendedAddressInformation {
  const parts = partsOf(read, asked.address);
  const { storage, code, data } = parts;
  const utime = read.shard_utime ?? 0;
  const balance = storage?.balance.grams ?? 0n;
  const { revision, ...kind } = readTonlibAccountState({ code, data, balance, now: utime });
  return {
    '@type': 'fullAccountState',
    address: { '@type': 'accountAddress', account_address: echoedAddress(asked) },
    balance: storage === null ? '-1' : balance.toString(),
    extra_currencies: storage === null ? [] : extraCurrencies(storage.balance.other),
    last_transaction_id: transactionId(read.last_transaction),
    block_id: blockIdExt(read.block),
    sync_utime: utime,
    account_state: accountState(kind, parts),
    revision,
  };
}

function accountState(kind: TonlibAccountState, { code, data, state_hash }: AccountParts): AccountStateJson {
  const frozen_hash = state_hash === null ? '' : toBase64(state_hash);
  switch (kind.kind) {
    case 'uninited':
      return { '@type': 'uninited.accountState', frozen_hash };
    case 'raw':
      return {
        '@type': 'raw.accountState',
        code: code === null ? '' : bocBase64(code),
        data: data === null ? '' : bocBase64(data),
        frozen_hash,
      };
    case 'wallet.v3':
      return { '@type': 'wallet.v3.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.v4':
      return { '@type': 'wallet.v4.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.highload.v1':
      return { '@type': 'wallet.highload.v1.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.highload.v2':
      return { '@type': 'wallet.highload.v2.accountState', wallet_id: kind.wallet_id };
    case 'dns':
      return { '@type': 'dns.accountState', wallet_id: kind.wallet_id };
    case 'pchan':
      return {
        '@type': 'pchan.accountState',
        config: {
          '@type': 'pchan.config',
          alice_public_key: publicKeyText(kind.config.a_key),
          alice_address: accountAddress(kind.config.a_addr),
          bob_public_key: publicKeyText(kind.config.b_key),
          bob_address: accountAddress(kind.config.b_addr),
          init_timeout: kind.config.init_timeout,
          close_timeout: kind.config.close_timeout,
          channel_id: kind.config.channel_id,
        },
        state: channelState(kind.state),
        description: paymentChannelText(kind.state),
      };
    case 'rwallet':
      return {
        '@type': 'rwallet.accountState',
        wallet_id: kind.wallet_id,
        seqno: kind.seqno,
        unlocked_balance: kind.unlocked_balance,
        config: {
          '@type': 'rwallet.config',
          start_at: kind.start_at,
          limits: kind.limits.map(({ seconds, value }) => ({ '@type': 'rwallet.limit', seconds, value })),
        },
      };
  }
}

/** JSON in which a bigint is a number with all its digits. No string of the value has U+0001. */
function exactJson(value: object): string {
  const marked = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `\u0001${each}` : each));
  return marked.replace(/"\\u0001(-?[0-9]+)"/g, '$1');
}

/** tonlib has the values of `expire_at`, `A` and `B` in each other's place; these are the ones of the contract. */
function channelState(state: PaymentChannelState): Static<typeof PChanState> {
  const sides = { A: state.A, B: state.B };
  if (state.kind === 'payout') return { '@type': 'pchan.statePayout', ...sides };
  const { kind, signed_A, signed_B, min_A, min_B, expire_at } = state;
  return {
    '@type': kind === 'init' ? 'pchan.stateInit' : 'pchan.stateClose',
    ...{ signed_A, signed_B, min_A, min_B, expire_at },
    ...sides,
  };
}

/** @throws v2/no-workchain */
function walletInformation(read: AccountStateRead, address: Address): WalletInformation {
  const parts = partsOf(read, address);
  const wallet = readWallet(parts.code, parts.data);
  const json: WalletInformation = {
    '@type': 'ext.accounts.walletInformation',
    wallet: wallet !== null,
    balance: balanceOf(parts),
    account_state: stateOf(parts),
    last_transaction_id: transactionId(read.last_transaction),
  };
  if (wallet === null) return json;
  json.wallet_type = wallet.wallet_type as WalletType;
  json.seqno = wallet.seqno;
  if (wallet.wallet_id !== null) json.wallet_id = wallet.wallet_id;
  if (wallet.is_signature_allowed !== null) json.is_signature_allowed = wallet.is_signature_allowed;
  return json;
}

/** @throws v2/no-workchain */
function addressBalance(read: AccountStateRead, address: Address): string {
  return balanceOf(partsOf(read, address));
}

/** @throws v2/no-workchain */
function addressState(read: AccountStateRead, address: Address): AccountStateEnum {
  return stateOf(partsOf(read, address));
}

/** The `ShardAccount` of a read. @throws v2/no-workchain */
function shardAccountOf(read: AccountStateRead, address: Address): Cell {
  if (read.shard_block === null) {
    throw v2Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  return shardAccountCell(read.cell ?? NO_ACCOUNT, read.last_transaction);
}
