import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList } from '#api/http/endpoint.js';
import { accountDependencies, accountDependency, contractDependencies } from '#api/v3/answer-keys.js';
import {
  address,
  answerType,
  decimal,
  flag,
  hash,
  integer,
  nullable,
  oneOfTypes,
  optional,
  required,
  text,
  unlisted,
  word,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { namedBy } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { tokenContent } from '#api/v3/jettons.js';
import { checkPage, listAnswer, pageOf } from '#api/v3/page.js';
import { decodeIndex, MAX_LIST_ITEMS, pageFields, v3AccountListParameter } from '#api/v3/parameters.js';
import { itemsPrice, pagePrice, ROW_PRICE } from '#api/v3/price.js';
import type { IndexedNftItem, IndexedSale } from '#drivers/store/read/index-types.js';

const lastTransactionLt = decimal('Logical time of its last transaction.');

const NFTCollection = answerType(
  'NFTCollection',
  {
    address: address('The collection.'),
    owner_address: nullable(address('Its owner.'), 'owner'),
    last_transaction_lt: required(lastTransactionLt, 'last_trans_lt'),
    next_item_index: decimal('Index of the next item; -1 if items are not numbered.'),
    collection_content: nullable(tokenContent, 'content'),
    data_hash: nullable(hash('Hash of its data.')),
    code_hash: nullable(hash('Hash of its code.')),
  },
  'A collection of NFTs.',
);

/** The owner of an item, if that is a contract of this kind. */
const sellerOf =
  (kind: 'sale' | 'auction') =>
  ({ sale, owner }: IndexedNftItem) =>
    sale?.kind === kind ? owner : null;

const NFTItem = answerType(
  'NFTItem',
  {
    address: address('The item.'),
    init: flag('It is initialised: it has an owner.'),
    index: decimal('Its index in the collection.'),
    collection_address: nullable(address('Its collection, which confirms the item.')),
    owner_address: nullable(address('Its owner, which may be a sale or auction.'), 'owner'),
    content: nullable(tokenContent),
    last_transaction_lt: required(lastTransactionLt, 'last_trans_lt'),
    code_hash: nullable(hash('Hash of its code.')),
    data_hash: nullable(hash('Hash of its data.')),
    collection: nullable(unlisted(NFTCollection)),
    on_sale: required(
      flag('It is owned by a sale or auction of this item.'),
      ({ sale }: IndexedNftItem) => sale !== null,
    ),
    sale_contract_address: optional(unlisted(address('The sale that owns it.')), sellerOf('sale')),
    auction_contract_address: optional(unlisted(address('The auction that owns it.')), sellerOf('auction')),
    real_owner: optional(
      unlisted(address('Owner of the item according to the sale or auction.')),
      ({ sale }: IndexedNftItem) => sale?.nft_owner,
    ),
  },
  'An NFT.',
);

const NFTSaleDetailsGetgemsSale = answerType(
  'NFTSaleDetailsGetgemsSale',
  {
    is_complete: optional(flag('The item was sold or the sale was cancelled.')),
    full_price: optional(decimal('Nanotons.')),
    marketplace_fee_address: optional(address('Receiver of the marketplace fee.')),
    marketplace_fee: optional(decimal('As the contract returns it: nanotons, or since version 4 parts of 100,000.')),
    royalty_address: optional(address('Receiver of the royalty.')),
    royalty_amount: optional(decimal('In the unit of the fee.')),
  },
  'A sale at a fixed price.',
);

const NFTSaleDetailsGetgemsAuction = answerType(
  'NFTSaleDetailsGetgemsAuction',
  {
    end_flag: optional(flag('It has ended.')),
    end_time: optional(integer('When it ends: unix time in seconds.')),
    last_bid: optional(decimal('Nanotons; 0 without any.')),
    last_member: optional(address('The last bidder.')),
    min_step: optional(integer('Minimal increase of the next bid, in percent.')),
    mp_fee_address: optional(address('Receiver of the marketplace fee.')),
    mp_fee_factor: optional(integer('Numerator of the fee.')),
    mp_fee_base: optional(integer('Denominator of the fee.')),
    royalty_fee_address: optional(address('Receiver of the royalty.')),
    royalty_fee_factor: optional(integer('Numerator of the royalty.')),
    royalty_fee_base: optional(integer('Denominator of the royalty.')),
    max_bid: optional(decimal('Bid that ends the auction; 0: none does.')),
    min_bid: optional(decimal('Minimal first bid.')),
    last_bid_at: optional(integer('Unix time of the last bid; 0 without any.')),
    is_canceled: optional(flag('It was cancelled.')),
  },
  'An auction.',
);

const NFTSaleDetailsTeleitem = answerType(
  'NFTSaleDetailsTeleitem',
  {
    token_name: optional(text('The username or number.')),
    bidder_address: optional(address('The highest bidder.')),
    bid: optional(decimal('The highest bid in nanotons.')),
    bid_ts: optional(decimal('Unix time of the highest bid.')),
    min_bid: optional(decimal('Minimal next bid.')),
    end_time: optional(integer('When the auction ends: unix time in seconds.')),
    beneficiary_address: optional(address('Receiver of the price.')),
    initial_min_bid: optional(decimal('Minimal first bid.')),
    max_bid: optional(decimal('Bid that ends the auction; 0: none does.')),
    min_bid_step: optional(decimal('Minimal increase of the next bid, in percent.')),
    min_extend_time: optional(decimal('Seconds that the auction continues at least after a bid.')),
    duration: optional(decimal('Duration of the auction in seconds.')),
    royalty_numerator: optional(integer('Numerator of the royalty.')),
    royalty_denominator: optional(integer('Denominator of the royalty.')),
    royalty_destination: optional(address('Receiver of the royalty.')),
  },
  'A Telegram username or number, which sells itself; members about an auction are present during one.',
);

const SALE_TYPES = { sale: 'getgems_sale', auction: 'getgems_auction', telemint: 'telemint' } as const;

const NFTSale = answerType(
  'NFTSale',
  {
    type: required(
      word('Type of the contract, which determines `details`.', { enum: Object.values(SALE_TYPES) }),
      ({ details }: IndexedSale) => SALE_TYPES[details.kind],
    ),
    address: address('The contract.'),
    nft_address: optional(address('The item; of `telemint` the contract itself.'), 'nft'),
    nft_owner_address: optional(address('The seller.'), 'nft_owner'),
    marketplace_address: optional(address('The marketplace.'), 'marketplace'),
    created_at: optional(integer('Unix time in seconds.')),
    last_transaction_lt: optional(lastTransactionLt, 'last_trans_lt'),
    code_hash: optional(hash('Hash of its code.')),
    data_hash: optional(hash('Hash of its data.')),
    details: oneOfTypes({
      sale: NFTSaleDetailsGetgemsSale,
      auction: NFTSaleDetailsGetgemsAuction,
      telemint: NFTSaleDetailsTeleitem,
    }),
    nft_item: optional(NFTItem, 'item'),
  },
  'A contract that sells an NFT.',
);

const NftCollections = listAnswer('NFTCollectionsResponse', 'nft_collections', NFTCollection, { metadata: true });
const NftItems = listAnswer('NFTItemsResponse', 'nft_items', NFTItem, { metadata: true });
const NftSales = listAnswer('NFTSalesResponse', 'nft_sales', NFTSale, { metadata: true });

const GET = ['GET'] as const;
const TAG = 'NFTs';
const STATUSES = [422, 504];

const collections = v3Endpoint({
  name: 'nft/collections',
  verbs: GET,
  tag: TAG,
  summary: 'Collections of NFTs',
  description: 'Collections that match all given conditions, in the order of their first transactions.',
  params: Type.Object(
    {
      collection_address: Type.Optional(v3AccountListParameter('Only these collections')),
      owner_address: Type.Optional(v3AccountListParameter('Only collections of these owners')),
      ...pageFields,
    },
    { additionalProperties: false },
  ),
  check: checkPage,
  result: NftCollections.schema,
  statuses: STATUSES,
  price: pagePrice(ROW_PRICE.contract),
  coverage: namedBy('collection_address'),
  freshness: 'head',
  depends: ({ collection_address, owner_address }) => contractDependencies(collection_address, owner_address),
  handle: async ({ collection_address: address, owner_address: owner, ...rest }, context) => {
    const filter = { address, owner };
    const listed = await context.network.index.nftCollections(filter, pageOf(rest, context), context.query);
    return NftCollections.write(listed, context);
  },
});

const index = commaList(Type.Transform(Type.String()).Decode(decodeIndex).Encode(String), {
  description:
    'Only items with these indexes, decimal numbers, in the given collections; several may be given by ' +
    'repeating the parameter or with commas between them.',
  maxItems: MAX_LIST_ITEMS,
  examples: [['0']],
});

/** Maximal number of `collection_address` times that of `index`: each index is looked up in each collection. */
const MAX_PLACES = 1_000;

/** The work of looking up one index in one collection. */
const PLACE_PRICE = 0.01;

/** How many items `collection_address` and `index` name. */
function placesIn(given: { readonly collection_address?: readonly unknown[]; readonly index?: readonly unknown[] }) {
  return (given.collection_address?.length ?? 0) * (given.index?.length ?? 0);
}

const itemPagePrice = pagePrice(ROW_PRICE.contract);

/** Items are written with their collections. */
function dependOnCollections(items: readonly IndexedNftItem[], { dependsOn }: V3Context): void {
  const collections = new Map(items.map(({ collection_address: of }) => [of?.toRaw(), of]));
  for (const collection of collections.values()) if (collection !== null) dependsOn(accountDependency(collection));
}

const items = v3Endpoint({
  name: 'nft/items',
  verbs: GET,
  tag: TAG,
  summary: 'NFTs',
  description:
    'Items that are confirmed by their collections or have none, and that match all given conditions. If owners or collections are ' +
    'given, they are ordered by owner, collection and index, those without a collection last; otherwise, and with `address`, by ' +
    'their first transactions; or by their last ones. Several `collection_address` require exactly one `owner_address`; the number of ' +
    `\`collection_address\` times that of \`index\` is at most ${MAX_PLACES.toLocaleString('en')}.`,
  params: Type.Object(
    {
      address: Type.Optional(v3AccountListParameter('Only these items')),
      owner_address: Type.Optional(v3AccountListParameter('Only items of these owners')),
      collection_address: Type.Optional(v3AccountListParameter('Only items of these collections')),
      index: Type.Optional(index),
      include_on_sale: Type.Optional(
        Type.Boolean({
          description:
            '`owner_address` matches the owner according to the sale or auction that owns an item, and not the sale or auction itself.',
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
    const places = placesIn(given);
    if (places <= MAX_PLACES) return;
    const most = MAX_PLACES.toLocaleString('en');
    throw v3Errors.parameters({
      problem: `collection_address and index name ${places.toLocaleString('en')} items, and at most ${most} are allowed`,
    });
  },
  result: NftItems.schema,
  statuses: STATUSES,
  price: (given, profile) => itemPagePrice(given, profile) + placesIn(given) * PLACE_PRICE,
  coverage: {
    needs: ({ address, index }) => (address === undefined && index === undefined ? ['state'] : []),
    names: ({ address, collection_address: collections, index: indexes }) => {
      if (address !== undefined || collections === undefined || indexes === undefined) return { contracts: address };
      return { nftItems: { collections, indexes } };
    },
  },
  freshness: 'head',
  depends: ({ address, owner_address, collection_address }) =>
    contractDependencies(address, owner_address, collection_address),
  handle: async (given, context) => {
    const { address, owner_address: owner, collection_address: collection, include_on_sale } = given;
    const filter = {
      ...{ address, owner, collection, index: given.index, include_on_sale },
      by_lt: given.sort_by_last_transaction_lt,
    };
    const listed = await context.network.index.nftItems(filter, pageOf(given, context), context.query);
    dependOnCollections(listed.rows, context);
    return NftItems.write(listed, context);
  },
});

const sales = v3Endpoint({
  name: 'nft/sales',
  verbs: GET,
  tag: TAG,
  summary: 'Contracts that sell NFTs',
  description:
    'Sales at a fixed price, auctions, and Telegram items, which sell themselves, in the order of the request. Other accounts ' +
    'are left out.',
  params: Type.Object({ address: v3AccountListParameter('Contracts') }, { additionalProperties: false }),
  result: NftSales.schema,
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.contract),
  coverage: namedBy('address'),
  freshness: 'head',
  depends: ({ address }) => accountDependencies(address),
  handle: async ({ address }, context) => {
    const rows = await context.network.index.nftSales(address, context.query);
    const items = rows.flatMap(({ nft, item }) => {
      if (nft !== null) context.dependsOn(accountDependency(nft));
      return item === null ? [] : [item];
    });
    dependOnCollections(items, context);
    return NftSales.write({ rows, next: null }, context);
  },
});

/** Methods about NFTs. */
export const nftEndpoints: readonly AnyEndpoint<V3Context>[] = [collections, items, sales];
