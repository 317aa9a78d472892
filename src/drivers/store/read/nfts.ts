import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import {
  addressColumn,
  addressOrNull,
  BY_ID,
  BY_ID_COLUMN,
  byAddress,
  CONTRACT_FOUND,
  type ContractFound,
  contractOf,
  distinctBytes,
  type Equal,
  int8Column,
  mergedWalks,
  numericColumn,
  oneOf,
  ownedById,
  readWalkedList,
  successiveWalks,
  type WalkColumn,
  type WalkOrder,
  type WalkWindow,
  walk,
} from '#drivers/store/read/contract-lists.js';
import type {
  IndexedNftCollection,
  IndexedNftItem,
  IndexedSale,
  Listed,
  NftCollectionFilter,
  NftItemFilter,
  Page,
  TokenTexts,
} from '#drivers/store/read/index-types.js';
import type { RowWindow } from '#drivers/store/read/pages.js';
import { all, emptySql, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

/** Collections by id. */
export async function readNftCollections(
  session: IndexSession,
  filter: NftCollectionFilter,
  page: Page,
): Promise<Listed<IndexedNftCollection>> {
  const { rows, next } = await readWalkedList<CollectionFound>(
    session,
    {
      ...{ name: 'nftCollections', filter, first: null, order: BY_ID, joins: emptySql, columns: COLLECTION_FOUND },
      source: ownedById('nft_collections', 'owner', distinctBytes(filter.address), distinctBytes(filter.owner)),
    },
    page,
  );
  return { rows: rows.map(collectionOf), next };
}

const COLLECTION = addressColumn('collection', 'perhaps');
const INDEX = numericColumn('index');
const OWNERS = { owner: addressColumn('owner', 'always'), real_owner: addressColumn('real_owner', 'always') } as const;

const EVERY = raw('t.id > 0');
const BY_LT: WalkOrder<ItemFound> = {
  columns: [int8Column('last_trans_lt'), BY_ID_COLUMN],
  sort: 'desc',
  predicate: raw('t.last_trans_lt >= 0'),
};
const BY_INDEX: WalkOrder<ItemFound> = { columns: [INDEX, BY_ID_COLUMN], sort: 'asc', predicate: EVERY };
const BY_COLLECTION: WalkOrder<ItemFound> = {
  columns: [COLLECTION, INDEX, BY_ID_COLUMN],
  sort: 'asc',
  predicate: EVERY,
};

/** The filter with stored values. */
interface ItemQuery {
  readonly ownerColumn: 'owner' | 'real_owner';
  readonly owners: readonly Uint8Array[] | undefined;
  readonly collections: readonly Uint8Array[] | undefined;
  readonly addresses: readonly Uint8Array[] | undefined;
  readonly indexes: readonly bigint[] | undefined;
  readonly by_lt: boolean;
}

/** Items by owner, collection and index as far as these are given, else by id; or by lt. */
export async function readNftItems(
  session: IndexSession,
  filter: NftItemFilter,
  page: Page,
): Promise<Listed<IndexedNftItem>> {
  const query: ItemQuery = {
    ownerColumn: filter.include_on_sale === true ? 'real_owner' : 'owner',
    owners: distinctBytes(filter.owner),
    collections: distinctBytes(filter.collection),
    addresses: distinctBytes(filter.address),
    indexes: filter.index && [...new Set(filter.index)],
    by_lt: filter.by_lt ?? false,
  };
  const [first, order] = itemOrder(query);
  const { rows, next } = await readWalkedList<ItemFound>(
    session,
    {
      ...{ name: 'nftItems', filter, first, order, columns: ITEM_FOUND, joins: ITEM_JOINS },
      source: itemSource(session, query, order),
    },
    page,
  );
  return { rows: rows.map(itemOf), next };
}

function itemOrder(query: ItemQuery): [first: WalkColumn<ItemFound> | null, order: WalkOrder<ItemFound>] {
  const { ownerColumn, owners, collections, addresses, by_lt } = query;
  if (by_lt) return [null, BY_LT];
  if (addresses !== undefined) return [null, BY_ID];
  const order = collections?.length === 1 ? BY_INDEX : BY_COLLECTION;
  if (owners !== undefined && owners.length > 1) return [OWNERS[ownerColumn], order];
  if (collections !== undefined && collections.length > 1) return [COLLECTION, BY_INDEX];
  return [null, owners === undefined && collections === undefined ? BY_ID : order];
}

function itemSource(
  session: IndexSession,
  query: ItemQuery,
  order: WalkOrder,
): ((stretch: RowWindow) => Sql | Promise<Sql>) | null {
  const { ownerColumn, owners, collections, addresses, indexes, by_lt } = query;
  if ([owners, collections, addresses, indexes].some((list) => list?.length === 0)) return null;
  const ofOwner = oneOf(ownerColumn, owners);
  if (addresses !== undefined) {
    const conditions = [...ofOwner, ...oneOf('collection', collections)];
    if (indexes !== undefined) conditions.push(sql`t.index = ANY(${indexes}::numeric[])`);
    return () => byAddress('nft_items', addresses, conditions);
  }
  if (indexes !== undefined && collections !== undefined) return () => ofIndexes(collections, indexes, ofOwner);
  const owned = (value: Sql): Equal => ({ column: raw(`t.${ownerColumn}`), value });
  return ({ after, offset, count }) => {
    const stretch = { after, most: offset + count };
    if (owners !== undefined && collections !== undefined) {
      return by_lt
        ? newestOfBoth(session, query, owners, collections, stretch)
        : ofBoth(owners, collections, owned, order, stretch);
    }
    if (owners !== undefined) {
      const of = (owner: Sql, part: WalkWindow) => walk('nft_items', [[owned(owner)]], order, [], part);
      return severally(owners, order, of, by_lt, stretch);
    }
    if (collections !== undefined) {
      const of = (value: Sql, part: WalkWindow) =>
        walk('nft_items', [[{ column: raw('t.collection'), value }]], order, [], part);
      return severally(collections, order, of, by_lt, stretch);
    }
    return walk('nft_items', [[]], order, [], stretch);
  };
}

/** Rows of one key, or of several: one after the other, or merged. */
function severally(
  keys: readonly Uint8Array[],
  order: WalkOrder,
  of: (key: Sql, stretch: WalkWindow) => Sql,
  areMerged: boolean,
  stretch: WalkWindow,
): Sql {
  if (keys.length === 1) return of(sql`${keys[0]}::bytea`, stretch);
  if (areMerged) return mergedWalks(keys, order, (key) => of(key, stretch), stretch.most);
  return successiveWalks(keys, order, of, stretch);
}

/** Rows of owners in collections. */
function ofBoth(
  owners: readonly Uint8Array[],
  collections: readonly Uint8Array[],
  owned: (value: Sql) => Equal,
  order: WalkOrder,
  stretch: WalkWindow,
): Sql {
  const [owner, collection] = [sql`${owners[0]}::bytea`, sql`${collections[0]}::bytea`];
  const of = (of: Sql, from: Sql, part: WalkWindow) =>
    walk('nft_items', [[owned(of), { column: COLLECTION.expression, value: from }]], order, [], part);
  if (collections.length === 1)
    return severally(owners, order, (key, part) => of(key, collection, part), false, stretch);
  if (owners.length === 1) return severally(collections, order, (key, part) => of(owner, key, part), false, stretch);
  const conditions = oneOf('collection', collections);
  const filtered = (key: Sql, part: WalkWindow) => walk('nft_items', [[owned(key)]], order, conditions, part);
  return severally(owners, order, filtered, false, stretch);
}

/** Up to so many items of owners in collections are sorted as a whole. */
const MOST_SORTED = 5000;

/**
 * Items of owners in collections by lt. No index has this order: few are sorted; when there are many, items of the owners are walked
 * by lt, many of which match.
 */
async function newestOfBoth(
  session: IndexSession,
  { ownerColumn }: ItemQuery,
  owners: readonly Uint8Array[],
  collections: readonly Uint8Array[],
  stretch: WalkWindow,
): Promise<Sql> {
  const owned = (value: Sql): Equal => ({ column: raw(`t.${ownerColumn}`), value });
  const each = sql`SELECT t.* FROM unnest(${opaqueToPlanner(owners, 'bytea[]')}) AS o(key)
    CROSS JOIN unnest(${opaqueToPlanner(collections, 'bytea[]')}) AS c(key)
    CROSS JOIN LATERAL (${walk(
      'nft_items',
      [[owned(raw('o.key')), { column: COLLECTION.expression, value: raw('c.key') }]],
      BY_INDEX,
      [],
      { after: null, most: MOST_SORTED + 1 },
    )}) AS t LIMIT ${raw(MOST_SORTED + 1)}`;
  const [counted] = await session.rows<{ count: bigint }>(sql`SELECT count(*) AS count FROM (${each}) AS t`);
  if (counted!.count <= MOST_SORTED) return each;
  const conditions = oneOf('collection', collections);
  const of = (key: Sql) => walk('nft_items', [[owned(key)]], BY_LT, conditions, stretch);
  return mergedWalks(owners, BY_LT, of, stretch.most);
}

/** Items by their indexes in collections: a collection has one item per index. */
function ofIndexes(collections: readonly Uint8Array[], indexes: readonly bigint[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(collections, 'bytea[]')}) AS c(key)
    CROSS JOIN unnest(${opaqueToPlanner(indexes, 'numeric[]')}) AS i(key)
    CROSS JOIN LATERAL (
      SELECT * FROM nft_items t WHERE t.collection = c.key AND t.index = i.key AND t.lapsed IS NULL AND ${EVERY} OFFSET 0
    ) AS t WHERE ${all(conditions)}`;
}

interface CollectionFound extends ContractFound {
  readonly next_item_index: bigint;
  readonly owner: Uint8Array | null;
  readonly content: TokenTexts;
}

const COLLECTION_FOUND: Sql = sql`${CONTRACT_FOUND}, t.next_item_index, t.owner, t.content`;

function collectionOf({ next_item_index, owner, content, ...row }: CollectionFound): IndexedNftCollection {
  return { ...contractOf(row), next_item_index, owner: addressOrNull(owner), content };
}

interface ItemFound extends ContractFound {
  readonly init: boolean;
  readonly index: bigint;
  readonly collection: Uint8Array | null;
  readonly owner: Uint8Array | null;
  readonly real_owner: Uint8Array | null;
  readonly content: TokenTexts;
  readonly collection_id: bigint | null;
  readonly collection_last_trans_lt: bigint;
  readonly collection_code_hash: Uint8Array | null;
  readonly collection_data_hash: Uint8Array | null;
  readonly collection_next_item_index: bigint;
  readonly collection_owner: Uint8Array | null;
  readonly collection_content: TokenTexts;
  readonly sale_kind: 'sale' | 'auction' | null;
  readonly sale_owner: Uint8Array | null;
}

/** Columns of an item with {@link ITEM_JOINS}. */
const ITEM_FOUND: Sql = sql`${CONTRACT_FOUND}, t.init, t.index, t.collection, t.owner, t.real_owner, t.content,
  c.id AS collection_id, c.last_trans_lt AS collection_last_trans_lt, c.code_hash AS collection_code_hash,
  c.data_hash AS collection_data_hash, c.next_item_index AS collection_next_item_index, c.owner AS collection_owner,
  c.content AS collection_content, s.kind AS sale_kind, s.nft_owner AS sale_owner`;

/** The collection of the item `t`, and the contract that sells it. */
const ITEM_JOINS: Sql = raw(`
  LEFT JOIN LATERAL (
    SELECT * FROM nft_collections c WHERE c.address = t.collection AND c.lapsed IS NULL LIMIT 1
  ) AS c ON true
  LEFT JOIN LATERAL (
    SELECT 'sale' AS kind, s.nft_owner FROM nft_sales s
    WHERE s.address = t.owner AND s.nft = t.address AND s.lapsed IS NULL
    UNION ALL
    SELECT 'auction', s.nft_owner FROM nft_auctions s
    WHERE s.address = t.owner AND s.nft = t.address AND s.lapsed IS NULL
    LIMIT 1
  ) AS s ON true`);

function itemOf(row: ItemFound): IndexedNftItem {
  const { init, index, collection, owner, content, sale_kind } = row;
  return {
    ...contractOf(row),
    ...{ init, index, content, collection_address: addressOrNull(collection), owner: addressOrNull(owner) },
    collection:
      collection === null || row.collection_id === null
        ? null
        : {
            address: addressOfBytes(collection),
            last_trans_lt: row.collection_last_trans_lt,
            code_hash: row.collection_code_hash,
            data_hash: row.collection_data_hash,
            next_item_index: row.collection_next_item_index,
            owner: addressOrNull(row.collection_owner),
            content: row.collection_content,
          },
    sale: sale_kind === null ? null : { kind: sale_kind, nft_owner: addressOrNull(row.sale_owner) },
  };
}

interface SoldFound extends ContractFound {
  readonly nft: Uint8Array | null;
  readonly nft_owner: Uint8Array | null;
  readonly marketplace: Uint8Array | null;
  readonly created_at: bigint;
}

interface SaleFound extends SoldFound {
  readonly is_complete: boolean;
  readonly full_price: bigint;
  readonly marketplace_fee_address: Uint8Array | null;
  readonly marketplace_fee: bigint;
  readonly royalty_address: Uint8Array | null;
  readonly royalty_amount: bigint;
}

interface AuctionFound extends SoldFound {
  readonly end_flag: boolean;
  readonly end_time: bigint;
  readonly last_bid: bigint;
  readonly last_member: Uint8Array | null;
  readonly min_step: bigint;
  readonly mp_fee_address: Uint8Array | null;
  readonly mp_fee_factor: bigint;
  readonly mp_fee_base: bigint;
  readonly royalty_fee_address: Uint8Array | null;
  readonly royalty_fee_factor: bigint;
  readonly royalty_fee_base: bigint;
  readonly max_bid: bigint;
  readonly min_bid: bigint;
  readonly last_bid_at: bigint;
  readonly is_canceled: boolean;
}

interface TelemintFound extends ContractFound {
  readonly token_name: string;
  readonly bidder_address: Uint8Array | null;
  readonly bid: bigint | null;
  readonly bid_ts: bigint | null;
  readonly min_bid: bigint | null;
  readonly end_time: bigint | null;
  readonly beneficiary_address: Uint8Array | null;
  readonly initial_min_bid: bigint | null;
  readonly max_bid: bigint | null;
  readonly min_bid_step: bigint | null;
  readonly min_extend_time: bigint | null;
  readonly duration: bigint | null;
  readonly royalty_numerator: bigint | null;
  readonly royalty_denominator: bigint | null;
  readonly royalty_destination: Uint8Array | null;
}

/** Sales, auctions and telemint items, each once, in the order of the addresses. */
export async function readNftSales(
  session: IndexSession,
  addresses: readonly Address[],
): Promise<readonly IndexedSale[]> {
  const wanted = new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)]));
  if (wanted.size === 0) return [];
  const of = <Row extends ContractFound>(table: string) =>
    session.rows<Row>(sql`SELECT t.* FROM (${byAddress(table, [...wanted.values()], [])}) AS t`);
  const sales = (await of<SaleFound>('nft_sales')).map(saleOf);
  const auctions = (await of<AuctionFound>('nft_auctions')).map(auctionOf);
  const telemint = (await of<TelemintFound>('telemint_items')).map(telemintOf);
  const found = new Map([...telemint, ...auctions, ...sales].map((sale) => [sale.address.toRaw(), sale]));
  const items = await itemsOf(session, [...found.values()]);
  return [...wanted.keys()].flatMap((key) => {
    const sale = found.get(key);
    return sale === undefined ? [] : [{ ...sale, item: items.get(sale.nft?.toRaw() ?? '') ?? null }];
  });
}

async function itemsOf(
  session: IndexSession,
  sales: readonly Omit<IndexedSale, 'item'>[],
): Promise<ReadonlyMap<string, IndexedNftItem>> {
  const addresses = new Map(sales.flatMap(({ nft }) => (nft === null ? [] : [[nft.toRaw(), addressBytes(nft)]])));
  if (addresses.size === 0) return new Map();
  const rows = await session.rows<ItemFound>(
    sql`SELECT ${ITEM_FOUND} FROM (${byAddress('nft_items', [...addresses.values()], [])}) AS t ${ITEM_JOINS}`,
  );
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), itemOf(row)]));
}

function soldOf(row: SoldFound) {
  return {
    ...contractOf(row),
    nft: addressOrNull(row.nft),
    nft_owner: addressOrNull(row.nft_owner),
    marketplace: addressOrNull(row.marketplace),
    created_at: row.created_at,
  };
}

function saleOf(row: SaleFound): Omit<IndexedSale, 'item'> {
  return {
    ...soldOf(row),
    details: {
      kind: 'sale',
      is_complete: row.is_complete,
      full_price: row.full_price,
      marketplace_fee_address: addressOrNull(row.marketplace_fee_address),
      marketplace_fee: row.marketplace_fee,
      royalty_address: addressOrNull(row.royalty_address),
      royalty_amount: row.royalty_amount,
    },
  };
}

function auctionOf(row: AuctionFound): Omit<IndexedSale, 'item'> {
  return {
    ...soldOf(row),
    details: {
      kind: 'auction',
      end_flag: row.end_flag,
      end_time: row.end_time,
      last_bid: row.last_bid,
      last_member: addressOrNull(row.last_member),
      min_step: row.min_step,
      mp_fee_address: addressOrNull(row.mp_fee_address),
      mp_fee_factor: row.mp_fee_factor,
      mp_fee_base: row.mp_fee_base,
      royalty_fee_address: addressOrNull(row.royalty_fee_address),
      royalty_fee_factor: row.royalty_fee_factor,
      royalty_fee_base: row.royalty_fee_base,
      max_bid: row.max_bid,
      min_bid: row.min_bid,
      last_bid_at: row.last_bid_at,
      is_canceled: row.is_canceled,
    },
  };
}

/** A telemint item sells itself. */
function telemintOf(row: TelemintFound): Omit<IndexedSale, 'item'> {
  const contract = contractOf(row);
  return {
    ...contract,
    ...{ nft: contract.address, nft_owner: null, marketplace: null, created_at: null },
    details: {
      kind: 'telemint',
      token_name: row.token_name,
      bidder_address: addressOrNull(row.bidder_address),
      bid: row.bid,
      bid_ts: row.bid_ts,
      min_bid: row.min_bid,
      end_time: row.end_time,
      beneficiary_address: addressOrNull(row.beneficiary_address),
      initial_min_bid: row.initial_min_bid,
      max_bid: row.max_bid,
      min_bid_step: row.min_bid_step,
      min_extend_time: row.min_extend_time,
      duration: row.duration,
      royalty_numerator: row.royalty_numerator,
      royalty_denominator: row.royalty_denominator,
      royalty_destination: addressOrNull(row.royalty_destination),
    },
  };
}
