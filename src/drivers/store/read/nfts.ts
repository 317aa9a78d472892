import { nftAuction } from '#domain/contracts/interfaces/nft-auction.js';
import { nftCollection } from '#domain/contracts/interfaces/nft-collection.js';
import { nftItem } from '#domain/contracts/interfaces/nft-item.js';
import { nftSale } from '#domain/contracts/interfaces/nft-sale.js';
import { telemintItem } from '#domain/contracts/interfaces/telemint-item.js';
import { addressBytes } from '#drivers/store/keys.js';
import {
  addressColumn,
  addressOrNull,
  BY_ID,
  BY_ID_COLUMN,
  byAddress,
  distinctBytes,
  type Equal,
  int8Column,
  mergedWalks,
  numericColumn,
  oneOf,
  ownedById,
  readContracts,
  readWalkedList,
  successiveWalks,
  type WalkColumn,
  type WalkOrder,
  type WalkWindow,
  walk,
} from '#drivers/store/read/contract-lists.js';
import { contractReader, type IndexedInterface, type StoredContract } from '#drivers/store/read/contract-rows.js';
import type {
  IndexedNftCollection,
  IndexedNftItem,
  IndexedSale,
  Listed,
  NftCollectionFilter,
  NftItemFilter,
  Page,
} from '#drivers/store/read/index-types.js';
import type { RowWindow } from '#drivers/store/read/pages.js';
import { all, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import type { Address } from '#formats/address/address.js';

const COLLECTIONS = contractReader(nftCollection);
const ITEMS = contractReader(nftItem);

/** Collections by id. */
export function readNftCollections(
  session: IndexSession,
  filter: NftCollectionFilter,
  page: Page,
): Promise<Listed<IndexedNftCollection>> {
  const source = ownedById('nft_collections', 'owner', distinctBytes(filter.address), distinctBytes(filter.owner));
  return readContracts(session, COLLECTIONS, { name: 'nftCollections', filter, order: BY_ID, source }, page);
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
): ((window: RowWindow) => Sql | Promise<Sql>) | null {
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
    const window = { after, most: offset + count };
    if (owners !== undefined && collections !== undefined) {
      return by_lt
        ? newestOfBoth(session, query, owners, collections, window)
        : ofBoth(owners, collections, owned, order, window);
    }
    if (owners !== undefined) {
      const of = (owner: Sql, part: WalkWindow) => walk('nft_items', [[owned(owner)]], order, [], part);
      return severally(owners, order, of, by_lt, window);
    }
    if (collections !== undefined) {
      const of = (value: Sql, part: WalkWindow) =>
        walk('nft_items', [[{ column: raw('t.collection'), value }]], order, [], part);
      return severally(collections, order, of, by_lt, window);
    }
    return walk('nft_items', [[]], order, [], window);
  };
}

/** Rows of one key, or of several: one after the other, or merged. */
function severally(
  keys: readonly Uint8Array[],
  order: WalkOrder,
  of: (key: Sql, window: WalkWindow) => Sql,
  areMerged: boolean,
  window: WalkWindow,
): Sql {
  if (keys.length === 1) return of(sql`${keys[0]}::bytea`, window);
  if (areMerged) return mergedWalks(keys, order, (key) => of(key, window), window.most);
  return successiveWalks(keys, order, of, window);
}

/** Rows of owners in collections. */
function ofBoth(
  owners: readonly Uint8Array[],
  collections: readonly Uint8Array[],
  owned: (value: Sql) => Equal,
  order: WalkOrder,
  window: WalkWindow,
): Sql {
  const [owner, collection] = [sql`${owners[0]}::bytea`, sql`${collections[0]}::bytea`];
  const of = (of: Sql, from: Sql, part: WalkWindow) =>
    walk('nft_items', [[owned(of), { column: COLLECTION.expression, value: from }]], order, [], part);
  if (collections.length === 1)
    return severally(owners, order, (key, part) => of(key, collection, part), false, window);
  if (owners.length === 1) return severally(collections, order, (key, part) => of(owner, key, part), false, window);
  const conditions = oneOf('collection', collections);
  const filtered = (key: Sql, part: WalkWindow) => walk('nft_items', [[owned(key)]], order, conditions, part);
  return severally(owners, order, filtered, false, window);
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
  window: WalkWindow,
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
  const of = (key: Sql) => walk('nft_items', [[owned(key)]], BY_LT, conditions, window);
  return mergedWalks(owners, BY_LT, of, window.most);
}

/** Items by their indexes in collections: a collection has one item per index. */
function ofIndexes(collections: readonly Uint8Array[], indexes: readonly bigint[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${opaqueToPlanner(collections, 'bytea[]')}) AS c(key)
    CROSS JOIN unnest(${opaqueToPlanner(indexes, 'numeric[]')}) AS i(key)
    CROSS JOIN LATERAL (
      SELECT * FROM nft_items t WHERE t.collection = c.key AND t.index = i.key AND t.lapsed IS NULL AND ${EVERY} OFFSET 0
    ) AS t WHERE ${all(conditions)}`;
}

/** An item with {@link ITEM_JOINS}. */
type ItemFound = StoredContract<typeof nftItem> & {
  readonly real_owner: Uint8Array | null;
  /** Its collection, as {@link COLLECTION_PREFIX} names the columns; null: none. */
  readonly collection_id: bigint | null;
  readonly sale_kind: 'sale' | 'auction' | null;
  readonly sale_owner: Uint8Array | null;
};

const COLLECTION_PREFIX = 'collection_';

const ITEM_FOUND = raw(
  `${ITEMS.columns('t')}, t.real_owner, ${COLLECTIONS.columns('c', COLLECTION_PREFIX)}, s.kind AS sale_kind, s.nft_owner AS sale_owner`,
);

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

function itemOf(found: ItemFound): IndexedNftItem {
  const { sale_kind, sale_owner } = found;
  const item = ITEMS.row(found);
  return {
    ...item,
    collection_address: item.collection,
    collection: found.collection_id === null ? null : COLLECTIONS.prefixedRow(found, COLLECTION_PREFIX),
    sale: sale_kind === null ? null : { kind: sale_kind, nft_owner: addressOrNull(sale_owner) },
  };
}

/** Sales, auctions and telemint items, each once, in the order of the addresses. */
export async function readNftSales(
  session: IndexSession,
  addresses: readonly Address[],
): Promise<readonly IndexedSale[]> {
  const wanted = new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)]));
  if (wanted.size === 0) return [];
  const of = async <Interface extends IndexedInterface>(declared: Interface) => {
    const { table, columns, row } = contractReader(declared);
    const rows = byAddress(table, [...wanted.values()], []);
    return (await session.rows<StoredContract<Interface>>(sql`SELECT ${raw(columns('t'))} FROM (${rows}) AS t`)).map(
      row,
    );
  };
  const sales = (await of(nftSale)).map((sale) => ({ ...sale, details: { kind: 'sale' as const, ...sale } }));
  const auctions = (await of(nftAuction)).map((sale) => ({ ...sale, details: { kind: 'auction' as const, ...sale } }));
  // A telemint item sells itself.
  const telemint = (await of(telemintItem)).map((item) => ({
    ...{ ...item, nft: item.address, nft_owner: null, marketplace: null, created_at: null },
    details: { kind: 'telemint' as const, ...item },
  }));
  const all: readonly Omit<IndexedSale, 'item'>[] = [...telemint, ...auctions, ...sales];
  const found = new Map(all.map((sale) => [sale.address.toRaw(), sale]));
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
  return new Map(rows.map(itemOf).map((item) => [item.address.toRaw(), item]));
}
