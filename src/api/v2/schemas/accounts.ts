import { type Static, Type } from '@sinclair/typebox';
import {
  AccountAddress,
  bytesField,
  decimalField,
  ExtraCurrencyBalance,
  hashField,
  InternalTransactionId,
  namedObject,
  TonBlockIdExt,
  typeName,
} from '#api/v2/schemas/ton-objects.js';

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
const extraCurrencies = Type.Array(ExtraCurrencyBalance, { description: 'Other currencies that the account has.' });
const syncUtime = Type.Integer({
  description: 'When the block of the account’s shard was made that holds this state: unix time in seconds.',
  format: 'int64',
});
const frozenHash = hashField('Hash of the state that a frozen account had; empty for other accounts.');

export const AddressInformation = namedObject(
  'AddressInformation',
  {
    '@type': typeName('raw.fullAccountState'),
    balance,
    extra_currencies: extraCurrencies,
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

const AccountStateRaw = namedObject('AccountStateRaw', {
  '@type': typeName('raw.accountState'),
  code: bytesField('Bag of cells with the code.'),
  data: bytesField('Bag of cells with the data.'),
  frozen_hash: frozenHash,
});

const AccountStateWalletV3 = namedObject('AccountStateWalletV3', {
  '@type': typeName('wallet.v3.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletV4 = namedObject('AccountStateWalletV4', {
  '@type': typeName('wallet.v4.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletHighloadV1 = namedObject('AccountStateWalletHighloadV1', {
  '@type': typeName('wallet.highload.v1.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
});

const AccountStateWalletHighloadV2 = namedObject('AccountStateWalletHighloadV2', {
  '@type': typeName('wallet.highload.v2.accountState'),
  wallet_id: walletId,
});

const AccountStateDns = namedObject('AccountStateDns', {
  '@type': typeName('dns.accountState'),
  wallet_id: walletId,
});

const RWalletLimit = namedObject('RWalletLimit', {
  '@type': typeName('rwallet.limit'),
  seconds: Type.Integer({ description: 'Seconds after the start.', format: 'int32' }),
  value: int64('Nanotons that stay locked until then.'),
});

const RWalletConfig = namedObject('RWalletConfig', {
  '@type': typeName('rwallet.config'),
  start_at: int64('When the seconds of the limits begin: unix time.'),
  limits: Type.Array(RWalletLimit, { description: 'What is locked how long.' }),
});

const AccountStateRWallet = namedObject('AccountStateRWallet', {
  '@type': typeName('rwallet.accountState'),
  wallet_id: walletId,
  seqno: walletSeqno,
  unlocked_balance: int64('Nanotons that may be spent.'),
  config: RWalletConfig,
});

const PChanConfig = namedObject('PChanConfig', {
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
    namedObject('PChanStateInit', { '@type': typeName('pchan.stateInit'), ...sidesOfChannel }),
    namedObject('PChanStateClose', { '@type': typeName('pchan.stateClose'), ...sidesOfChannel }),
    namedObject('PChanStatePayout', {
      '@type': typeName('pchan.statePayout'),
      A: sidesOfChannel.A,
      B: sidesOfChannel.B,
    }),
  ],
  { $id: 'PChanState', discriminator: { propertyName: '@type' } },
);

const AccountStatePChan = namedObject('AccountStatePChan', {
  '@type': typeName('pchan.accountState'),
  config: PChanConfig,
  state: PChanState,
  description: Type.String({ description: 'The state in words.' }),
});

const AccountStateUninited = namedObject('AccountStateUninited', {
  '@type': typeName('uninited.accountState'),
  frozen_hash: frozenHash,
});

export const AccountState = Type.Union(
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
export type AccountState = Static<typeof AccountState>;

export const ExtendedAddressInformation = namedObject(
  'ExtendedAddressInformation',
  {
    '@type': typeName('fullAccountState'),
    address: AccountAddress,
    balance: decimalField('Nanotons; -1 when there is no such account.'),
    extra_currencies: extraCurrencies,
    last_transaction_id: InternalTransactionId,
    block_id: TonBlockIdExt,
    sync_utime: syncUtime,
    account_state: AccountState,
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

export const WalletInformation = namedObject(
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
