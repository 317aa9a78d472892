import { Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import {
  address,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  integer,
  interfaces,
  namedObject,
  nullable,
  optional,
  text,
} from '#api/v3/schemas/fields.js';

const STATUS = '`uninit`, `active`, `frozen` or `nonexist`.';
const WALLET_TYPE = 'Kind of the wallet: `wallet v1 r1` to `wallet v5 r1`.';
const SEQNO = 'Number that the next order must carry.';
const WALLET_ID = 'Number of the wallet among those of one key; since v3.';

export const AccountStateFull = namedObject(
  'AccountStateFull',
  {
    address: address('The account.'),
    account_state_hash: hash('Of the account’s cell.'),
    balance: decimal('Nanotons.'),
    extra_currencies: currencies,
    status: text(STATUS),
    frozen_hash: optional(hash('State that a frozen account had.')),
    last_transaction_hash: hash('Its last transaction.'),
    last_transaction_lt: decimal('Logical time of that.'),
    data_hash: optional(hash('Of the data.')),
    code_hash: optional(hash('Of the code.')),
    data_boc: optional(boc('The data; not with `include_boc=false`, and not where a part of it is not known.')),
    code_boc: optional(boc('The code; not with `include_boc=false`.')),
    contract_methods: nullable(
      Type.Array(Type.Integer(), { description: 'Ids of the contract’s get methods, where its code lists them.' }),
    ),
    interfaces: nullable(interfaces),
  },
  'The newest indexed state of an account.',
);

export const AccountStatesResponse = namedObject('AccountStatesResponse', {
  accounts: Type.Array(AccountStateFull),
  address_book: AddressBook,
  metadata: Metadata,
});

export const WalletState = namedObject(
  'WalletState',
  {
    address: address('The account.'),
    is_wallet: flag('It is a wallet of a known kind.'),
    wallet_type: optional(text(WALLET_TYPE)),
    seqno: optional(integer(SEQNO)),
    wallet_id: optional(integer(WALLET_ID)),
    balance: decimal('Nanotons.'),
    extra_currencies: optional(currencies),
    is_signature_allowed: optional(flag('It takes signed orders; since v5.')),
    status: text(STATUS),
    code_hash: optional(hash('Of the code.')),
    last_transaction_hash: hash('Its last transaction.'),
    last_transaction_lt: decimal('Logical time of that.'),
  },
  'The newest indexed state of an account, and what kind of wallet it is.',
);

export const WalletStatesResponse = namedObject('WalletStatesResponse', {
  wallets: Type.Array(WalletState),
  address_book: AddressBook,
  metadata: Metadata,
});

export const AccountBalance = namedObject('AccountBalance', {
  account: address('The account.'),
  balance: decimal('Nanotons.'),
});

export const V2AddressInformation = namedObject(
  'V2AddressInformation',
  {
    balance: decimal('Nanotons.'),
    code: nullable(boc('Code.')),
    data: nullable(boc('Data.')),
    last_transaction_lt: decimal('Of its last transaction; 0 without any.'),
    last_transaction_hash: hash('Its last transaction; zeros without any.'),
    frozen_hash: nullable(hash('State that a frozen account had.')),
    status: text(
      '`active`, `frozen`, or without code: `uninitialized` from the chain, `uninit` or `nonexist` from the index.',
    ),
  },
  'An account.',
);

export const V2WalletInformation = namedObject(
  'V2WalletInformation',
  {
    balance: decimal('Nanotons.'),
    wallet_type: optional(text(WALLET_TYPE)),
    seqno: optional(integer(SEQNO)),
    wallet_id: optional(integer(WALLET_ID)),
    last_transaction_lt: decimal('Of its last transaction; 0 without any.'),
    last_transaction_hash: hash('Its last transaction; zeros without any.'),
    status: text('As of addressInformation.'),
  },
  'A wallet.',
);
