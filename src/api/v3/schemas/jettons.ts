import { Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import {
  address,
  decimal,
  flag,
  hash,
  integer,
  map,
  namedObject,
  nullable,
  optional,
  text,
} from '#api/v3/schemas/fields.js';

/** Content of a token. */
export const tokenContent = map(Type.String(), {
  description:
    'What the contract says of the token (TEP-64): texts by their keys; where that stands elsewhere, `uri` is the link.',
});

export const JettonMaster = namedObject(
  'JettonMaster',
  {
    address: address('The master.'),
    total_supply: decimal('Units of the jetton that there are.'),
    mintable: flag('There may be more.'),
    admin_address: nullable(address('Who rules it.')),
    jetton_content: nullable(tokenContent),
    jetton_wallet_code_hash: hash('Of the code of its wallets.'),
    code_hash: nullable(hash('Of its code.')),
    data_hash: nullable(hash('Of its data.')),
    last_transaction_lt: decimal('Logical time of the last transaction.'),
  },
  'A jetton, as its master tells.',
);

const JettonWalletMintlessInfo = namedObject(
  'JettonWalletMintlessInfo',
  {
    amount: nullable(decimal('Units that can be claimed.')),
    start_from: nullable(integer('Not before: unix time in seconds.')),
    expire_at: nullable(integer('Not after: unix time in seconds.')),
    custom_payload_api_uri: nullable(Type.Array(text('Link to a service that proves the claim.'))),
  },
  'What an owner may claim of a mintless jetton.',
);

export const JettonWallet = namedObject(
  'JettonWallet',
  {
    address: address('The wallet.'),
    balance: decimal('Units of the jetton in it.'),
    owner: address('Whose it is.'),
    jetton: address('Master of the jetton, which confirms the wallet.'),
    last_transaction_lt: decimal('Logical time of the last transaction.'),
    code_hash: nullable(hash('Of its code.')),
    data_hash: nullable(hash('Of its data.')),
    mintless_info: optional(JettonWalletMintlessInfo),
  },
  'Who has how much of a jetton. `mintless_info` is never told: what can be claimed does not stand on the chain.',
);

export const JettonMastersResponse = namedObject('JettonMastersResponse', {
  jetton_masters: Type.Array(JettonMaster),
  address_book: AddressBook,
  metadata: Metadata,
});

export const JettonWalletsResponse = namedObject('JettonWalletsResponse', {
  jetton_wallets: Type.Array(JettonWallet),
  address_book: AddressBook,
  metadata: Metadata,
});
