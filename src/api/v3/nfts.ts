import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList } from '#api/http/endpoint.js';
import { AddressBookJson, MetadataJson } from '#api/v3/address-book.js';
import {
  addressField,
  addressText,
  answerObject,
  booleanField,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  integerField,
  nullableField,
  optionalField,
  optionalMember,
  type ProfileFormat,
  quotedText,
  textField,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { contentText, textOrNull, tokenContent } from '#api/v3/jettons.js';
import { type AddressCollector, answerList, checkPage, pageOf } from '#api/v3/page.js';
import { accountListParameter, decodeIndex, MAX_LIST_ITEMS, pageFields } from '#api/v3/parameters.js';
import type {
  AuctionDetails,
  FixedPriceDetails,
  IndexedNftCollection,
  IndexedNftItem,
  IndexedSale,
  TelemintDetails,
} from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';

const state = {
  last_transaction_lt: decimalField('Logical time of the last transaction.'),
  code_hash: nullableField(hash256Field('Of its code.')),
  data_hash: nullableField(hash256Field('Of its data.')),
};

export const NFTCollection = answerObject(
  'NFTCollection',
  {
    address: addressField('The collection.'),
    owner_address: nullableField(addressField('Whose it is.')),
    last_transaction_lt: state.last_transaction_lt,
    next_item_index: decimalField('Index of the next item; -1 where items have no order.'),
    collection_content: nullableField(tokenContent),
    data_hash: state.data_hash,
    code_hash: state.code_hash,
  },
  'A collection of NFTs.',
);

export const NFTItem = answerObject(
  'NFTItem',
  {
    address: addressField('The item.'),
    init: booleanField('It has been given to somebody.'),
    index: decimalField('In its collection.'),
    collection_address: nullableField(addressField('The collection, which confirms the item.')),
    owner_address: nullableField(addressField('Who owns it, a sale or auction included.')),
    content: nullableField(tokenContent),
    ...state,
    collection: nullableField(NFTCollection),
    on_sale: booleanField('A sale or auction owns it that is of this item.'),
    sale_contract_address: optionalField(addressField('That sale.')),
    auction_contract_address: optionalField(addressField('That auction.')),
    real_owner: optionalField(addressField('Whom the sale or auction gives as owner.')),
  },
  'An NFT.',
);

export const NFTCollectionsResponse = answerObject('NFTCollectionsResponse', {
  nft_collections: Type.Array(NFTCollection),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

export const NFTItemsResponse = answerObject('NFTItemsResponse', {
  nft_items: Type.Array(NFTItem),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

const NFTSaleDetailsGetgemsSale = answerObject(
  'NFTSaleDetailsGetgemsSale',
  {
    is_complete: optionalField(booleanField('The item was sold or taken back.')),
    full_price: optionalField(decimalField('Nanotons.')),
    marketplace_fee_address: optionalField(addressField('Who gets the fee of the marketplace.')),
    marketplace_fee: optionalField(
      decimalField('As the contract says: nanotons, or since version 4 parts of 100,000.'),
    ),
    royalty_address: optionalField(addressField('Who gets the royalty.')),
    royalty_amount: optionalField(decimalField('As the fee.')),
  },
  'A sale at a fixed price.',
);

const NFTSaleDetailsGetgemsAuction = answerObject(
  'NFTSaleDetailsGetgemsAuction',
  {
    end_flag: optionalField(booleanField('It is over.')),
    end_time: optionalField(integerField('When it ends: unix time in seconds.')),
    last_bid: optionalField(decimalField('Nanotons; 0 without any.')),
    last_member: optionalField(addressField('Who made that bid.')),
    min_step: optionalField(integerField('How much more the next bid must be, in percent.')),
    mp_fee_address: optionalField(addressField('Who gets the fee of the marketplace.')),
    mp_fee_factor: optionalField(integerField('The fee is this…')),
    mp_fee_base: optionalField(integerField('…of that.')),
    royalty_fee_address: optionalField(addressField('Who gets the royalty.')),
    royalty_fee_factor: optionalField(integerField('The royalty is this…')),
    royalty_fee_base: optionalField(integerField('…of that.')),
    max_bid: optionalField(decimalField('Bid that ends the auction; 0: none does.')),
    min_bid: optionalField(decimalField('Least first bid.')),
    last_bid_at: optionalField(integerField('Unix time of the last bid; 0 without any.')),
    is_canceled: optionalField(booleanField('It was given up.')),
  },
  'An auction.',
);

const NFTSaleDetailsTeleitem = answerObject(
  'NFTSaleDetailsTeleitem',
  {
    token_name: optionalField(textField('The user name or number.')),
    bidder_address: optionalField(addressField('Who made the highest bid.')),
    bid: optionalField(decimalField('That bid in nanotons.')),
    bid_ts: optionalField(decimalField('Unix time of it.')),
    min_bid: optionalField(decimalField('Least next bid.')),
    end_time: optionalField(integerField('When the auction ends: unix time in seconds.')),
    beneficiary_address: optionalField(addressField('Who gets the coins.')),
    initial_min_bid: optionalField(decimalField('Least first bid.')),
    max_bid: optionalField(decimalField('Bid that ends the auction; 0: none does.')),
    min_bid_step: optionalField(decimalField('How much more the next bid must be, in percent.')),
    min_extend_time: optionalField(decimalField('Seconds that the auction goes on at least after a bid.')),
    duration: optionalField(decimalField('Seconds that it was to take.')),
    royalty_numerator: optionalField(integerField('The royalty is this…')),
    royalty_denominator: optionalField(integerField('…of that.')),
    royalty_destination: optionalField(addressField('Who gets the royalty.')),
  },
  'A user name or number, which sells itself; what belongs to an auction is there while there is one.',
);

const NFTSale = answerObject(
  'NFTSale',
  {
    type: textField('Which kind of contract it is, and so which details there are.', {
      enum: ['getgems_sale', 'getgems_auction', 'telemint'],
    }),
    address: addressField('The contract.'),
    nft_address: optionalField(addressField('The item; of `telemint` the contract itself.')),
    nft_owner_address: optionalField(addressField('Who sells it.')),
    marketplace_address: optionalField(addressField('Where it is sold.')),
    created_at: optionalField(integerField('Unix time in seconds.')),
    last_transaction_lt: optionalField(state.last_transaction_lt),
    code_hash: optionalField(hash256Field('Of its code.')),
    data_hash: optionalField(hash256Field('Of its data.')),
    details: Type.Union([NFTSaleDetailsGetgemsSale, NFTSaleDetailsGetgemsAuction, NFTSaleDetailsTeleitem]),
    nft_item: optionalField(NFTItem),
  },
  'A contract that sells an NFT.',
);

export const NFTSalesResponse = answerObject('NFTSalesResponse', {
  nft_sales: Type.Array(NFTSale),
  address_book: AddressBookJson,
  metadata: MetadataJson,
});

/** A collection as `/nft/collections` shows it. The answer names it and its owner. */
export function nftCollectionText(
  collection: IndexedNftCollection,
  dialect: ProfileFormat,
  addresses: AddressCollector,
): string {
  return collectionMembers(collection, dialect, (address) => addresses.add(address));
}

function collectionMembers(
  collection: IndexedNftCollection,
  { nullable }: ProfileFormat,
  text: (address: Address) => string,
): string {
  const { address, owner, last_trans_lt, next_item_index, content, data_hash, code_hash } = collection;
  return (
    `{"address":${text(address)}${nullable('owner_address', textOrNull(owner, text))}` +
    `,"last_transaction_lt":${decimalText(last_trans_lt)},"next_item_index":${decimalText(next_item_index)}` +
    nullable('collection_content', contentText(content)) +
    nullable('data_hash', textOrNull(data_hash, hashText)) +
    `${nullable('code_hash', textOrNull(code_hash, hashText))}}`
  );
}

/** An item as `/nft/items` shows it. The answer names it, its collection and its owner. */
export function nftItemText(item: IndexedNftItem, dialect: ProfileFormat, addresses: AddressCollector): string {
  const { nullable } = dialect;
  const { address, init, index, collection_address, owner, content, code_hash, data_hash, collection, sale } = item;
  const named = (value: Address) => addresses.add(value);
  const seller = (kind: 'sale' | 'auction') => (sale?.kind === kind ? textOrNull(owner, addressText) : null);
  return (
    `{"address":${named(address)},"init":${init},"index":${decimalText(index)}` +
    nullable('collection_address', textOrNull(collection_address, named)) +
    nullable('owner_address', textOrNull(owner, named)) +
    nullable('content', contentText(content)) +
    `,"last_transaction_lt":${decimalText(item.last_trans_lt)}` +
    nullable('code_hash', textOrNull(code_hash, hashText)) +
    nullable('data_hash', textOrNull(data_hash, hashText)) +
    nullable(
      'collection',
      textOrNull(collection, (value) => collectionMembers(value, dialect, addressText)),
    ) +
    `,"on_sale":${sale !== null}` +
    optionalMember('sale_contract_address', seller('sale')) +
    optionalMember('auction_contract_address', seller('auction')) +
    `${optionalMember('real_owner', textOrNull(sale?.nft_owner ?? null, addressText))}}`
  );
}

const TYPES = { sale: 'getgems_sale', auction: 'getgems_auction', telemint: 'telemint' } as const;

/** A contract that sells an item, as `/nft/sales` shows it. The answer names all accounts in it but the owner of the collection. */
export function nftSaleText(sale: IndexedSale, dialect: ProfileFormat, addresses: AddressCollector): string {
  const { address, nft, nft_owner, marketplace, created_at, last_trans_lt, code_hash, data_hash, details, item } = sale;
  const named = (value: Address) => addresses.add(value);
  return (
    `{"type":${quotedText(TYPES[details.kind])},"address":${named(address)}` +
    optionalMember('nft_address', textOrNull(nft, named)) +
    optionalMember('nft_owner_address', textOrNull(nft_owner, named)) +
    optionalMember('marketplace_address', textOrNull(marketplace, named)) +
    optionalMember('created_at', textOrNull(created_at, String)) +
    `,"last_transaction_lt":${decimalText(last_trans_lt)}` +
    optionalMember('code_hash', textOrNull(code_hash, hashText)) +
    optionalMember('data_hash', textOrNull(data_hash, hashText)) +
    `,"details":${detailsText(details, named)}` +
    `${optionalMember(
      'nft_item',
      textOrNull(item, (value) => nftItemText(value, dialect, addresses)),
    )}}`
  );
}

function detailsText(details: IndexedSale['details'], named: (address: Address) => string): string {
  const address = (name: string, value: Address | null) => optionalMember(name, textOrNull(value, named));
  switch (details.kind) {
    case 'sale':
      return saleDetails(details, address);
    case 'auction':
      return auctionDetails(details, address);
    case 'telemint':
      return telemintDetails(details, address);
  }
}

type AddressMember = (name: string, value: Address | null) => string;

function saleDetails(sale: FixedPriceDetails, address: AddressMember): string {
  return (
    `{"is_complete":${sale.is_complete},"full_price":${decimalText(sale.full_price)}` +
    address('marketplace_fee_address', sale.marketplace_fee_address) +
    `,"marketplace_fee":${decimalText(sale.marketplace_fee)}` +
    address('royalty_address', sale.royalty_address) +
    `,"royalty_amount":${decimalText(sale.royalty_amount)}}`
  );
}

function auctionDetails(auction: AuctionDetails, address: AddressMember): string {
  return (
    `{"end_flag":${auction.end_flag},"end_time":${auction.end_time},"last_bid":${decimalText(auction.last_bid)}` +
    address('last_member', auction.last_member) +
    `,"min_step":${auction.min_step}` +
    address('mp_fee_address', auction.mp_fee_address) +
    `,"mp_fee_factor":${auction.mp_fee_factor},"mp_fee_base":${auction.mp_fee_base}` +
    address('royalty_fee_address', auction.royalty_fee_address) +
    `,"royalty_fee_factor":${auction.royalty_fee_factor},"royalty_fee_base":${auction.royalty_fee_base}` +
    `,"max_bid":${decimalText(auction.max_bid)},"min_bid":${decimalText(auction.min_bid)}` +
    `,"last_bid_at":${auction.last_bid_at},"is_canceled":${auction.is_canceled}}`
  );
}

function telemintDetails(item: TelemintDetails, address: AddressMember): string {
  const text = (name: string, value: bigint | null) => optionalMember(name, textOrNull(value, decimalText));
  const integer = (name: string, value: bigint | null) => optionalMember(name, textOrNull(value, String));
  return (
    `{"token_name":${JSON.stringify(item.token_name)}` +
    address('bidder_address', item.bidder_address) +
    text('bid', item.bid) +
    text('bid_ts', item.bid_ts) +
    text('min_bid', item.min_bid) +
    integer('end_time', item.end_time) +
    address('beneficiary_address', item.beneficiary_address) +
    text('initial_min_bid', item.initial_min_bid) +
    text('max_bid', item.max_bid) +
    text('min_bid_step', item.min_bid_step) +
    text('min_extend_time', item.min_extend_time) +
    text('duration', item.duration) +
    integer('royalty_numerator', item.royalty_numerator) +
    integer('royalty_denominator', item.royalty_denominator) +
    `${address('royalty_destination', item.royalty_destination)}}`
  );
}

const GET = ['GET'] as const;
const TAG = 'NFTs';
const STATUSES = [422, 504];

const collections = v3Endpoint({
  name: 'nft/collections',
  verbs: GET,
  tag: TAG,
  summary: 'Collections of NFTs',
  description: 'Collections that meet all conditions given, in the order in which the index found them.',
  params: Type.Object(
    {
      collection_address: Type.Optional(accountListParameter('Only these collections')),
      owner_address: Type.Optional(accountListParameter('Only collections of these owners')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: NFTCollectionsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ collection_address: address, owner_address: owner, ...rest }, context) => {
    const filter = { address, owner };
    const listed = await context.network.index.nftCollections(filter, pageOf(rest, context), context.query);
    return answerList('nft_collections', listed, nftCollectionText, context);
  },
});

const index = commaList(Type.Transform(Type.String()).Decode(decodeIndex).Encode(String), {
  description:
    'Only items with these indexes, decimal numbers, in the collections that are asked for; several may be given by ' +
    'repeating the parameter or with commas between them.',
  maxItems: MAX_LIST_ITEMS,
  examples: [['0']],
});

const items = v3Endpoint({
  name: 'nft/items',
  verbs: GET,
  tag: TAG,
  summary: 'NFTs',
  description:
    'Items that their collections confirm, or that have none, and that meet all conditions given. They stand by owner, ' +
    'collection and index as far as owners and collections are asked for, those without a collection last; else, and asked ' +
    'for by `address`, in the order in which the index found them; or by their last transactions. Several ' +
    '`collection_address` go with just one `owner_address`.',
  params: Type.Object(
    {
      address: Type.Optional(accountListParameter('Only these items')),
      owner_address: Type.Optional(accountListParameter('Only items of these owners')),
      collection_address: Type.Optional(accountListParameter('Only items of these collections')),
      index: Type.Optional(index),
      include_on_sale: Type.Optional(
        Type.Boolean({
          description:
            'Of items that a sale or auction owns, whom that gives as owner is looked for by `owner_address`, and not the ' +
            'sale itself.',
          default: false,
        }),
      ),
      sort_by_last_transaction_lt: Type.Optional(
        Type.Boolean({ description: 'By logical time of the last transaction, the newest first.' }),
      ),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: (given) => {
    checkPage(given);
    const { collection_address = [], owner_address = [] } = given;
    if (collection_address.length > 1 && owner_address.length !== 1) {
      throw v3Errors.parameters({ problem: 'exact one owner_address required for multiple collection_address' });
    }
    if (given.index !== undefined && collection_address.length === 0) {
      throw v3Errors.parameters({ problem: 'index parameter is not allowed without the collection_address' });
    }
  },
  result: NFTItemsResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async (given, context) => {
    const { address, owner_address: owner, collection_address: collection, include_on_sale } = given;
    const filter = {
      ...{ address, owner, collection, index: given.index, include_on_sale },
      by_lt: given.sort_by_last_transaction_lt,
    };
    const listed = await context.network.index.nftItems(filter, pageOf(given, context), context.query);
    return answerList('nft_items', listed, nftItemText, context);
  },
});

const sales = v3Endpoint({
  name: 'nft/sales',
  verbs: GET,
  tag: TAG,
  summary: 'Contracts that sell NFTs',
  description:
    'Sales at a fixed price, auctions, and items of Telegram, which sell themselves, in the order asked for. Accounts that ' +
    'are none of these are left out.',
  params: Type.Object({ address: accountListParameter('Contracts') }, { additionalProperties: false }),
  result: NFTSalesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address }, context) => {
    const rows = await context.network.index.nftSales(address, context.query);
    return answerList('nft_sales', { rows, next: null }, nftSaleText, context);
  },
});

/** Methods about NFTs. */
export const nftEndpoints: readonly AnyEndpoint<V3Context>[] = [collections, items, sales];
