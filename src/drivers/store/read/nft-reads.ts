import { BY_ID, byAddress, distinctBytes, ID, oneOf, ownedById } from '#drivers/store/read/contract-found.js';
import type { Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import {
  addressColumn,
  type Equal,
  int8Column,
  mergedWalks,
  numericColumn,
  successiveWalks,
  type WalkColumn,
  type WalkOrder,
  type WalkStretch,
  walk,
} from '#drivers/store/read/index-walk.js';
import type {
  IndexedNftCollection,
  IndexedNftItem,
  NftCollectionFilter,
  NftItemFilter,
} from '#drivers/store/read/indexed-tokens.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import {
  COLLECTION_FOUND,
  type CollectionFound,
  collectionOf,
  ITEM_FOUND,
  ITEM_JOINS,
  type ItemFound,
  itemOf,
} from '#drivers/store/read/nft-found.js';
import { all, nothing, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import { readWalkedList } from '#drivers/store/read/walked-list.js';

/** Collections by id. */
export async function readNftCollections(
  session: IndexSession,
  filter: NftCollectionFilter,
  page: Page,
): Promise<Listed<IndexedNftCollection>> {
  const { rows, next } = await readWalkedList<CollectionFound>(
    session,
    {
      ...{ name: 'nftCollections', filter, first: null, order: BY_ID, joins: nothing, columns: COLLECTION_FOUND },
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
  columns: [int8Column('last_trans_lt'), ID],
  sort: 'desc',
  predicate: raw('t.last_trans_lt >= 0'),
};
const BY_INDEX: WalkOrder<ItemFound> = { columns: [INDEX, ID], sort: 'asc', predicate: EVERY };
const BY_COLLECTION: WalkOrder<ItemFound> = { columns: [COLLECTION, INDEX, ID], sort: 'asc', predicate: EVERY };

/** What is asked for, as it is stored. */
interface AskedItems {
  readonly ownerColumn: 'owner' | 'real_owner';
  readonly owners: readonly Uint8Array[] | undefined;
  readonly collections: readonly Uint8Array[] | undefined;
  readonly addresses: readonly Uint8Array[] | undefined;
  readonly indexes: readonly bigint[] | undefined;
  readonly by_lt: boolean;
}

/** Items by owner, collection and index as far as these are asked for, else by id; or by lt. */
export async function readNftItems(
  session: IndexSession,
  filter: NftItemFilter,
  page: Page,
): Promise<Listed<IndexedNftItem>> {
  const asked: AskedItems = {
    ownerColumn: filter.include_on_sale === true ? 'real_owner' : 'owner',
    owners: distinctBytes(filter.owner),
    collections: distinctBytes(filter.collection),
    addresses: distinctBytes(filter.address),
    indexes: filter.index && [...new Set(filter.index)],
    by_lt: filter.by_lt ?? false,
  };
  const [first, order] = itemOrder(asked);
  const { rows, next } = await readWalkedList<ItemFound>(
    session,
    {
      ...{ name: 'nftItems', filter, first, order, columns: ITEM_FOUND, joins: ITEM_JOINS },
      source: itemSource(session, asked, order),
    },
    page,
  );
  return { rows: rows.map(itemOf), next };
}

function itemOrder(asked: AskedItems): [first: WalkColumn<ItemFound> | null, order: WalkOrder<ItemFound>] {
  const { ownerColumn, owners, collections, addresses, by_lt } = asked;
  if (by_lt) return [null, BY_LT];
  if (addresses !== undefined) return [null, BY_ID];
  const order = collections?.length === 1 ? BY_INDEX : BY_COLLECTION;
  if (owners !== undefined && owners.length > 1) return [OWNERS[ownerColumn], order];
  if (collections !== undefined && collections.length > 1) return [COLLECTION, BY_INDEX];
  return [null, owners === undefined && collections === undefined ? BY_ID : order];
}

function itemSource(
  session: IndexSession,
  asked: AskedItems,
  order: WalkOrder,
): ((stretch: Stretch) => Sql | Promise<Sql>) | null {
  const { ownerColumn, owners, collections, addresses, indexes, by_lt } = asked;
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
        ? newestOfBoth(session, asked, owners, collections, stretch)
        : ofBoth(owners, collections, owned, order, stretch);
    }
    if (owners !== undefined) {
      const of = (owner: Sql, part: WalkStretch) => walk('nft_items', [[owned(owner)]], order, [], part);
      return severally(owners, order, of, by_lt, stretch);
    }
    if (collections !== undefined) {
      const of = (value: Sql, part: WalkStretch) =>
        walk('nft_items', [[{ column: raw('t.collection'), value }]], order, [], part);
      return severally(collections, order, of, by_lt, stretch);
    }
    return walk('nft_items', [[]], order, [], stretch);
  };
}

/** Of one key, or of several: one after the other, or merged. */
function severally(
  keys: readonly Uint8Array[],
  order: WalkOrder,
  of: (key: Sql, stretch: WalkStretch) => Sql,
  areMerged: boolean,
  stretch: WalkStretch,
): Sql {
  if (keys.length === 1) return of(sql`${keys[0]}::bytea`, stretch);
  if (areMerged) return mergedWalks(keys, order, (key) => of(key, stretch), stretch.most);
  return successiveWalks(keys, order, of, stretch);
}

/** Of owners and collections, one of which is one. */
function ofBoth(
  owners: readonly Uint8Array[],
  collections: readonly Uint8Array[],
  owned: (value: Sql) => Equal,
  order: WalkOrder,
  stretch: WalkStretch,
): Sql {
  const [owner, collection] = [sql`${owners[0]}::bytea`, sql`${collections[0]}::bytea`];
  const of = (of: Sql, from: Sql, part: WalkStretch) =>
    walk('nft_items', [[owned(of), { column: COLLECTION.expression, value: from }]], order, [], part);
  if (collections.length === 1)
    return severally(owners, order, (key, part) => of(key, collection, part), false, stretch);
  if (owners.length === 1) return severally(collections, order, (key, part) => of(owner, key, part), false, stretch);
  const conditions = oneOf('collection', collections);
  const filtered = (key: Sql, part: WalkStretch) => walk('nft_items', [[owned(key)]], order, conditions, part);
  return severally(owners, order, filtered, false, stretch);
}

/** Items of owners in collections by index; up to so many are sorted whole. */
const MOST_SORTED = 5000;

/**
 * Items of owners in collections by lt. No index has them: few are sorted, and where there are many, those of the owners are
 * walked by lt, as many of them will do.
 */
async function newestOfBoth(
  session: IndexSession,
  { ownerColumn }: AskedItems,
  owners: readonly Uint8Array[],
  collections: readonly Uint8Array[],
  stretch: WalkStretch,
): Promise<Sql> {
  const owned = (value: Sql): Equal => ({ column: raw(`t.${ownerColumn}`), value });
  const each = sql`SELECT t.* FROM unnest(${unseen(owners, 'bytea[]')}) AS o(key)
    CROSS JOIN unnest(${unseen(collections, 'bytea[]')}) AS c(key)
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

/** Items by their indexes in collections: a collection has one of each. */
function ofIndexes(collections: readonly Uint8Array[], indexes: readonly bigint[], conditions: readonly Sql[]): Sql {
  return sql`SELECT t.* FROM unnest(${unseen(collections, 'bytea[]')}) AS c(key)
    CROSS JOIN unnest(${unseen(indexes, 'numeric[]')}) AS i(key)
    CROSS JOIN LATERAL (
      SELECT * FROM nft_items t WHERE t.collection = c.key AND t.index = i.key AND t.lapsed IS NULL AND ${EVERY} OFFSET 0
    ) AS t WHERE ${all(conditions)}`;
}
