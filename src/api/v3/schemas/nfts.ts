import { Type } from '@sinclair/typebox';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import {
  address,
  decimal,
  flag,
  hash,
  integer,
  namedObject,
  nullable,
  optional,
  text,
} from '#api/v3/schemas/fields.js';
import { tokenContent } from '#api/v3/schemas/jettons.js';

const state = {
  last_transaction_lt: decimal('Logical time of the last transaction.'),
  code_hash: nullable(hash('Of its code.')),
  data_hash: nullable(hash('Of its data.')),
};

export const NFTCollection = namedObject(
  'NFTCollection',
  {
    address: address('The collection.'),
    owner_address: nullable(address('Whose it is.')),
    last_transaction_lt: state.last_transaction_lt,
    next_item_index: decimal('Index of the next item; -1 where items have no order.'),
    collection_content: nullable(tokenContent),
    data_hash: state.data_hash,
    code_hash: state.code_hash,
  },
  'A collection of NFTs.',
);

export const NFTItem = namedObject(
  'NFTItem',
  {
    address: address('The item.'),
    init: flag('It has been given to somebody.'),
    index: decimal('In its collection.'),
    collection_address: nullable(address('The collection, which confirms the item.')),
    owner_address: nullable(address('Who owns it, a sale or auction included.')),
    content: nullable(tokenContent),
    ...state,
    collection: nullable(NFTCollection),
    on_sale: flag('A sale or auction owns it that is of this item.'),
    sale_contract_address: optional(address('That sale.')),
    auction_contract_address: optional(address('That auction.')),
    real_owner: optional(address('Whom the sale or auction gives as owner.')),
  },
  'An NFT.',
);

export const NFTCollectionsResponse = namedObject('NFTCollectionsResponse', {
  nft_collections: Type.Array(NFTCollection),
  address_book: AddressBook,
  metadata: Metadata,
});

export const NFTItemsResponse = namedObject('NFTItemsResponse', {
  nft_items: Type.Array(NFTItem),
  address_book: AddressBook,
  metadata: Metadata,
});

const NFTSaleDetailsGetgemsSale = namedObject(
  'NFTSaleDetailsGetgemsSale',
  {
    is_complete: optional(flag('The item was sold or taken back.')),
    full_price: optional(decimal('Nanotons.')),
    marketplace_fee_address: optional(address('Who gets the fee of the marketplace.')),
    marketplace_fee: optional(decimal('As the contract says: nanotons, or since version 4 parts of 100,000.')),
    royalty_address: optional(address('Who gets the royalty.')),
    royalty_amount: optional(decimal('As the fee.')),
  },
  'A sale at a fixed price.',
);

const NFTSaleDetailsGetgemsAuction = namedObject(
  'NFTSaleDetailsGetgemsAuction',
  {
    end_flag: optional(flag('It is over.')),
    end_time: optional(integer('When it ends: unix time in seconds.')),
    last_bid: optional(decimal('Nanotons; 0 without any.')),
    last_member: optional(address('Who made that bid.')),
    min_step: optional(integer('How much more the next bid must be, in percent.')),
    mp_fee_address: optional(address('Who gets the fee of the marketplace.')),
    mp_fee_factor: optional(integer('The fee is this…')),
    mp_fee_base: optional(integer('…of that.')),
    royalty_fee_address: optional(address('Who gets the royalty.')),
    royalty_fee_factor: optional(integer('The royalty is this…')),
    royalty_fee_base: optional(integer('…of that.')),
    max_bid: optional(decimal('Bid that ends the auction; 0: none does.')),
    min_bid: optional(decimal('Least first bid.')),
    last_bid_at: optional(integer('Unix time of the last bid; 0 without any.')),
    is_canceled: optional(flag('It was given up.')),
  },
  'An auction.',
);

const NFTSaleDetailsTeleitem = namedObject(
  'NFTSaleDetailsTeleitem',
  {
    token_name: optional(text('The user name or number.')),
    bidder_address: optional(address('Who made the highest bid.')),
    bid: optional(decimal('That bid in nanotons.')),
    bid_ts: optional(decimal('Unix time of it.')),
    min_bid: optional(decimal('Least next bid.')),
    end_time: optional(integer('When the auction ends: unix time in seconds.')),
    beneficiary_address: optional(address('Who gets the coins.')),
    initial_min_bid: optional(decimal('Least first bid.')),
    max_bid: optional(decimal('Bid that ends the auction; 0: none does.')),
    min_bid_step: optional(decimal('How much more the next bid must be, in percent.')),
    min_extend_time: optional(decimal('Seconds that the auction goes on at least after a bid.')),
    duration: optional(decimal('Seconds that it was to take.')),
    royalty_numerator: optional(integer('The royalty is this…')),
    royalty_denominator: optional(integer('…of that.')),
    royalty_destination: optional(address('Who gets the royalty.')),
  },
  'A user name or number, which sells itself; what belongs to an auction is there while there is one.',
);

const NFTSale = namedObject(
  'NFTSale',
  {
    type: text('Which kind of contract it is, and so which details there are.', {
      enum: ['getgems_sale', 'getgems_auction', 'telemint'],
    }),
    address: address('The contract.'),
    nft_address: optional(address('The item; of `telemint` the contract itself.')),
    nft_owner_address: optional(address('Who sells it.')),
    marketplace_address: optional(address('Where it is sold.')),
    created_at: optional(integer('Unix time in seconds.')),
    last_transaction_lt: optional(state.last_transaction_lt),
    code_hash: optional(hash('Of its code.')),
    data_hash: optional(hash('Of its data.')),
    details: Type.Union([NFTSaleDetailsGetgemsSale, NFTSaleDetailsGetgemsAuction, NFTSaleDetailsTeleitem]),
    nft_item: optional(NFTItem),
  },
  'A contract that sells an NFT.',
);

export const NFTSalesResponse = namedObject('NFTSalesResponse', {
  nft_sales: Type.Array(NFTSale),
  address_book: AddressBook,
  metadata: Metadata,
});
