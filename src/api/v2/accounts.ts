import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { DnsResolved, dnsResolved } from '#api/v2/dns.js';
import { v2Errors } from '#api/v2/errors.js';
import { accountParameter, optionalMasterchainSeqno } from '#api/v2/parameters.js';
import { TokenDataJson, tokenData } from '#api/v2/tokens.js';
import {
  AccountAddress,
  blockIdExt,
  bocBase64,
  bytesField,
  decimalField,
  ExtraCurrencyBalance,
  echoedAddress,
  extraCurrencies,
  hashField,
  InternalTransactionId,
  normalizedAddress,
  TonBlockIdExt,
  TvmCell,
  transactionId,
  tvmCell,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { isSuspendedOnMainnet } from '#domain/contracts/suspended-addresses.js';
import { readTonlibAccountState, type TonlibAccountState } from '#domain/contracts/tonlib-account-state.js';
import { readWallet } from '#domain/contracts/wallet.js';
import type { Address, ParsedAddress } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { AccountStorage } from '#formats/tlb/account.js';
import { toBase64 } from '#kernel/bytes.js';
import type { AccountStateRead } from '#services/chain/accounts.js';

export const AccountStateEnum = Type.Union(
  [Type.Literal('uninitialized'), Type.Literal('active'), Type.Literal('frozen')],
  {
    $id: 'AccountStateEnum',
    description:
      '`active`: has code. `frozen`: lost its code because it could not pay for storage. `uninitialized`: has no code, or does not exist.',
  },
);
export type AccountStateEnum = Static<typeof AccountStateEnum>;

const balance = decimalField('Nanotons.');
const extraCurrencyBalances = Type.Array(ExtraCurrencyBalance, {
  description: 'Other currencies that the account has.',
});
const syncUtime = Type.Integer({
  description: 'When the block of the account’s shard was made that holds this state: unix time in seconds.',
  format: 'int64',
});
const frozenHash = hashField('Hash of the state that a frozen account had; empty for other accounts.');

export const AddressInformation = v2Object(
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
    suspended: Type.Optional(
      Type.Boolean({ description: 'The network lets the account do nothing for now (configuration parameter 44).' }),
    ),
  },
  { description: 'An account after a masterchain block, `block_id`.' },
);
export type AddressInformation = Static<typeof AddressInformation>;

const walletId = Type.Integer({ description: 'Number of the wallet among those of one key.', format: 'int64' });
const walletSeqno = Type.Integer({ description: 'Number that the next order must carry.', format: 'int32' });
const int64 = (description: string) => Type.Integer({ description, format: 'int64' });

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
  seconds: Type.Integer({ description: 'Seconds after the start.', format: 'int32' }),
  value: int64('Nanotons that stay locked until then.'),
});

const RWalletConfig = v2Object('RWalletConfig', {
  '@type': typeName('rwallet.config'),
  start_at: int64('When the seconds of the limits begin: unix time.'),
  limits: Type.Array(RWalletLimit, { description: 'What is locked how long.' }),
});

const AccountStateRWallet = v2Object('AccountStateRWallet', {
  '@type': typeName('rwallet.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
  unlocked_balance: int64('Nanotons that may be spent.'),
  config: RWalletConfig,
});

const PChanConfig = v2Object('PChanConfig', {
  '@type': typeName('pchan.config'),
  alice_public_key: Type.String({ description: 'Key of one side.' }),
  alice_address: AccountAddress,
  bob_public_key: Type.String({ description: 'Key of the other side.' }),
  bob_address: AccountAddress,
  init_timeout: Type.Integer({ description: 'Seconds for the start.', format: 'int32' }),
  close_timeout: Type.Integer({ description: 'Seconds for the end.', format: 'int32' }),
  channel_id: int64('Number of the channel.'),
});

const sidesOfChannel = {
  signed_A: Type.Boolean({ description: 'One side agreed.' }),
  signed_B: Type.Boolean({ description: 'The other side agreed.' }),
  min_A: int64('Least amount of one side.'),
  min_B: int64('Least amount of the other side.'),
  expire_at: int64('When it ends without agreement: unix time.'),
  A: int64('Nanotons of one side.'),
  B: int64('Nanotons of the other side.'),
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
  description: Type.String({ description: 'The state in words.' }),
});

const AccountStateUninited = v2Object('AccountStateUninited', {
  '@type': typeName('uninited.accountState'),
  frozen_hash: frozenHash,
});

export const AccountStateJson = Type.Union(
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
export type AccountStateJson = Static<typeof AccountStateJson>;

export const ExtendedAddressInformation = v2Object(
  'ExtendedAddressInformation',
  {
    '@type': typeName('fullAccountState'),
    address: AccountAddress,
    balance: decimalField('Nanotons; -1 when there is no such account.'),
    extra_currencies: extraCurrencyBalances,
    last_transaction_id: InternalTransactionId,
    block_id: TonBlockIdExt,
    sync_utime: syncUtime,
    account_state: AccountStateJson,
    revision: Type.Integer({ description: 'Which version of the code it is, for codes that have several.' }),
  },
  { description: 'An account after a masterchain block, with what its data mean where the code is known.' },
);
export type ExtendedAddressInformation = Static<typeof ExtendedAddressInformation>;

export const WALLET_TYPES = [
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
export type WalletType = (typeof WALLET_TYPES)[number];

export const WalletInformation = v2Object(
  'WalletInformation',
  {
    '@type': typeName('ext.accounts.walletInformation'),
    wallet: Type.Boolean({ description: 'Whether the code is that of a known wallet.' }),
    balance,
    account_state: AccountStateEnum,
    last_transaction_id: InternalTransactionId,
    wallet_type: Type.Optional(
      Type.Unsafe<WalletType>(Type.String({ description: 'Which wallet.', enum: [...WALLET_TYPES] })),
    ),
    seqno: Type.Optional(int64('Number that the next order must carry.')),
    wallet_id: Type.Optional(
      Type.Integer({ description: 'Number of the wallet among those of one key, an int32; from v3 on.' }),
    ),
    is_signature_allowed: Type.Optional(
      Type.Boolean({ description: 'Whether the key of the owner may give orders; v5 only.' }),
    ),
  },
  { description: 'An account, seen as a wallet.' },
);
export type WalletInformation = Static<typeof WalletInformation>;

export const AddressBalance = Type.String({
  $id: 'AddressBalance',
  description: 'Nanotons, a decimal number as text.',
});

interface AccountQuery {
  readonly address: ParsedAddress;
  readonly seqno?: number;
}

const TAG = 'Accounts';
const GET_OR_POST = ['GET', 'POST'] as const;
const STATUSES = [404, 422, 504];

const params = Type.Object(
  { address: accountParameter, seqno: optionalMasterchainSeqno },
  { additionalProperties: false },
);

/** What is said of a numbered block stays true. */
function freshness({ seqno }: { readonly seqno?: number }) {
  return seqno === undefined ? ('head' as const) : ('forever' as const);
}

function readAccount({ address, seqno }: AccountQuery, context: V2Context, pruned = false): Promise<AccountStateRead> {
  const { network, read } = context;
  return network.chain.account(address.address, { ...read, at: seqno ?? 'head', pruned });
}

const getAddressInformation = v2Endpoint({
  name: 'getAddressInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'An account: balance, code, data, last transaction',
  description:
    'The state of an account after the newest masterchain block, or after block `seqno`: balance in nanotons, code and data ' +
    'as bags of cells, the last transaction. For an address that nobody has used yet, `state` is `uninitialized`, the ' +
    'balance 0, and the rest empty.',
  params,
  result: AddressInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressInformation(await readAccount(question, context), question.address.address),
});

const getExtendedAddressInformation = v2Endpoint({
  name: 'getExtendedAddressInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'An account, its data read where the code is known',
  description:
    'As `getAddressInformation`, but for some contracts (wallets v3 and v4, highload and restricted wallets, manual DNS) ' +
    '`account_state` has what their data mean, such as `seqno` and `wallet_id`, in place of code and data. For an account ' +
    'that does not exist the balance is -1.',
  params,
  result: ExtendedAddressInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    extendedAddressInformation(await readAccount(question, context), question.address),
});

const getWalletInformation = v2Endpoint({
  name: 'getWalletInformation',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'A wallet: its kind, seqno and balance',
  description:
    'Tells whether an account is a known wallet (v1 to v5), and if so which, with the `seqno` that its next order must ' +
    'carry. For other accounts `wallet` is false and the fields of wallets are not there.',
  params,
  result: WalletInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    walletInformation(await readAccount(question, context), question.address.address),
});

const getAddressBalance = v2Endpoint({
  name: 'getAddressBalance',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'The balance of an account',
  description:
    'Nanotons (1 TON is 1,000,000,000 of them) as a decimal number in text; 0 when there is no such account.',
  params,
  result: AddressBalance,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressBalance(await readAccount(question, context, true), question.address.address),
});

const getAddressState = v2Endpoint({
  name: 'getAddressState',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Whether an account is active',
  description:
    '`active`: it has code. `frozen`: it could not pay for its storage. `uninitialized`: it has no code yet, or there is ' +
    'no such account.',
  params,
  result: AccountStateEnum,
  schemaName: 'AddressState',
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressState(await readAccount(question, context, true), question.address.address),
});

const getTokenData = v2Endpoint({
  name: 'getTokenData',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'A jetton or an NFT',
  description:
    'What a jetton master, a jetton wallet, an NFT collection or an NFT tells of itself: owner, amounts, and its ' +
    'description as far as it is on the chain (TEP-64; links are given, not followed). A wallet or an NFT counts only ' +
    'when its master or collection knows it. An NFT that is a domain comes with its DNS records.',
  params,
  result: TokenDataJson,
  statuses: [404, 409, 422, 500, 504],
  errorStatuses: { [v2Errors['not-a-token'].code]: 409 },
  freshness,
  handle: async ({ address: asked, seqno }, { network, read }) => {
    const { token } = await network.contracts.tokenData(asked.address, { ...read, at: seqno ?? 'head' });
    if (token === null) throw v2Errors['not-a-token']({ address: normalizedAddress(asked) });
    return tokenData(token, asked);
  },
});

const getShardAccountCell = v2Endpoint({
  name: 'getShardAccountCell',
  verbs: GET_OR_POST,
  tag: TAG,
  unpublished: true,
  summary: 'An account as a cell',
  description: 'The `ShardAccount` of an account: its entry in the state of the shard, as a bag of cells.',
  params,
  result: TvmCell,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    tvmCell(shardAccountCell(await readAccount(question, context), question.address.address)),
});

const dnsResolve = v2Endpoint({
  name: 'dnsResolve',
  verbs: GET_OR_POST,
  tag: TAG,
  unpublished: true,
  summary: 'DNS records of a name',
  description:
    'What a resolver contract says about a name (TEP-81), records of all categories. With a `ttl` above 0 other resolvers ' +
    'that it names are asked as well, up to that many.',
  params: Type.Object(
    {
      address: accountParameter,
      name: Type.Optional(
        Type.String({ description: 'Name to resolve, such as `alice.ton`; empty: the resolver itself.', default: '' }),
      ),
      category: Type.Optional(
        Type.String({ description: 'Accepted for the sake of existing clients; records of all categories are given.' }),
      ),
      ttl: Type.Optional(
        Type.Integer({
          description: 'How many further resolvers may be asked.',
          format: 'int32',
          default: 0,
          minimum: 0,
          maximum: 0x7fff_ffff,
        }),
      ),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  result: DnsResolved,
  statuses: STATUSES,
  freshness,
  handle: async ({ address: resolver, name = '', ttl = 0, seqno }, { network, read }) => {
    const options = { ...read, at: seqno ?? 'head' } as const;
    return dnsResolved(await network.contracts.resolveDns(resolver.address, name, ttl, options));
  },
});

/** Methods about accounts, in the order of the document. */
export const v2AccountEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getAddressInformation,
  getExtendedAddressInformation,
  getWalletInformation,
  getAddressBalance,
  getAddressState,
  getTokenData,
  getShardAccountCell,
  dnsResolve,
];

/** What the methods about accounts have in common. */
interface AccountParts {
  /** Null: there is no such account. */
  readonly storage: AccountStorage | null;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** Hash of the state that a frozen account had. */
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
export function addressInformation(read: AccountStateRead, address: Address): AddressInformation {
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
export function extendedAddressInformation(read: AccountStateRead, asked: ParsedAddress): ExtendedAddressInformation {
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
    case 'rwallet':
      return {
        '@type': 'rwallet.accountState',
        wallet_id: kind.wallet_id,
        seqno: kind.seqno,
        unlocked_balance: Number(kind.unlocked_balance),
        config: {
          '@type': 'rwallet.config',
          start_at: kind.start_at,
          limits: kind.limits.map(({ seconds, value }) => ({
            '@type': 'rwallet.limit',
            seconds,
            value: Number(value),
          })),
        },
      };
  }
}

/** @throws v2/no-workchain */
export function walletInformation(read: AccountStateRead, address: Address): WalletInformation {
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
export function addressBalance(read: AccountStateRead, address: Address): string {
  return balanceOf(partsOf(read, address));
}

/** @throws v2/no-workchain */
export function addressState(read: AccountStateRead, address: Address): AccountStateEnum {
  return stateOf(partsOf(read, address));
}

/** `account_none$0 = Account;` */
const NO_ACCOUNT = new Builder().storeBit(false).endCell();
const NO_HASH = new Uint8Array(32);

/**
 * `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;` of a read.
 * @throws v2/no-workchain
 */
export function shardAccountCell(read: AccountStateRead, address: Address): Cell {
  if (read.shard_block === null) {
    throw v2Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  const { cell, last_transaction } = read;
  return new Builder()
    .storeRef(cell ?? NO_ACCOUNT)
    .storeBytes(last_transaction?.hash ?? NO_HASH)
    .storeUint(last_transaction?.lt ?? 0n, 64)
    .endCell();
}
