import { firstIdOf, seqnoOfId, shardPosition } from '#drivers/store/keys.js';
import type { BlockFilter, IndexExtent, IndexedBlock, Listed, Page } from '#drivers/store/read/index-types.js';
import {
  hasLt,
  hasTime,
  idsOfMcBlock,
  type RowWindow,
  readPage,
  storableTimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import { all, type IndexSession, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { BLOCKS, type StoredRowOf, selectList } from '#drivers/store/tables.js';

/** The lowest and the highest indexed masterchain block; null when there is none. */
export async function readIndexExtent(session: IndexSession): Promise<IndexExtent | null> {
  const rows = await session.rows<BlockFound>(sql`
    SELECT ${BLOCK_COLUMNS} FROM index_state s
    CROSS JOIN LATERAL (VALUES (lower(s.rounds)), (upper(s.rounds) - 1)) AS v(seqno)
    CROSS JOIN LATERAL (SELECT * FROM blocks b WHERE b.id = v.seqno::bigint << 24 LIMIT 1) AS b
    ORDER BY b.id`);
  const first = rows[0];
  const last = rows.at(-1);
  return first === undefined || last === undefined ? null : { first: indexedBlock(first), last: indexedBlock(last) };
}

export async function readHasMcBlock(session: IndexSession, mc_seqno: number): Promise<boolean> {
  const rows = await session.rows<{ has: boolean }>(
    sql`SELECT s.rounds @> ${mc_seqno}::integer AS has FROM index_state s`,
  );
  return rows[0]?.has === true;
}

/** The newest blocks of all shards as a masterchain block commits them, itself included. */
export async function readShardState(session: IndexSession, mc_seqno: number): Promise<readonly IndexedBlock[]> {
  const rows = await session.rows<BlockFound>(sql`
    WITH m AS MATERIALIZED (SELECT b.id, b.shard_tops FROM blocks b WHERE b.id = ${firstIdOf(mc_seqno)}::bigint)
    SELECT ${BLOCK_COLUMNS} FROM m CROSS JOIN LATERAL (SELECT * FROM blocks b WHERE b.id = m.id LIMIT 1) AS b
    UNION ALL
    SELECT ${BLOCK_COLUMNS} FROM m CROSS JOIN LATERAL generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
    CROSS JOIN LATERAL (
      SELECT * FROM blocks b
      WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1]
        AND b.seqno = m.shard_tops[n + 2]::integer
      LIMIT 1
    ) AS b
    ORDER BY workchain, shard, seqno`);
  return rows.map(indexedBlock);
}

/** A page of blocks by gen_utime or start_lt, then id. */
export async function readBlocks(
  session: IndexSession,
  filter: BlockFilter,
  page: Page,
): Promise<Listed<IndexedBlock>> {
  const byLt = hasLt(filter) && !hasTime(filter);
  const { rows, next } = await readPage<BlockFound, BlockFound>(
    {
      name: 'blocks',
      filter,
      keyParts: 2,
      read: async (window) => {
        const statement = await blocksStatement(session, filter, byLt ? 'start_lt' : 'gen_utime', page.sort, window);
        return session.rows<BlockFound>(statement, window.offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found,
      keyOf: (row) => [byLt ? row.start_lt : row.gen_utime, row.id],
    },
    page,
  );
  return { rows: rows.map(indexedBlock), next };
}

async function blocksStatement(
  session: IndexSession,
  filter: BlockFilter,
  column: 'start_lt' | 'gen_utime',
  sort: 'asc' | 'desc',
  { after, offset, count }: RowWindow,
): Promise<Sql> {
  const { root_hash, file_hash, mc_seqno, seqno, workchain } = filter;
  const shard = filter.shard ?? (workchain === -1 ? 1n << 63n : undefined);
  const given = storableTimeRange(filter);
  const conditions: Sql[] = [];
  if (workchain !== undefined) conditions.push(sql`b.workchain = ${workchain}::integer`);
  if (shard !== undefined) conditions.push(sql`b.shard = ${BigInt.asIntN(64, shard)}::bigint`);
  if (seqno !== undefined) conditions.push(sql`b.seqno = ${seqno}::integer`);
  if (mc_seqno !== undefined) conditions.push(idsOfMcBlock(mc_seqno, raw('b.id')));
  if (root_hash !== undefined) conditions.push(sql`b.root_hash = ${root_hash}::bytea`);
  if (file_hash !== undefined) conditions.push(sql`b.file_hash = ${file_hash}::bytea`);
  if (filter.shards_only === true) conditions.push(sql`b.workchain <> -1`);
  if (after !== null) {
    const [value, id] = after;
    conditions.push(
      sql`(b.${raw(column)}, b.id) ${raw(sort === 'desc' ? '<' : '>')} (${value}::bigint, ${id}::bigint)`,
    );
  }
  const times = [raw('b.start_lt'), raw('b.gen_utime')] as const;
  const bounds = withinTimeRange(given, ...times);
  const end = sql`ORDER BY b.${raw(column)} ${raw(sort)}, b.id ${raw(sort)} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}`;
  const few = fewBlocks(filter);
  if (few !== null) {
    return sql`SELECT ${BLOCK_COLUMNS} FROM (SELECT * FROM blocks b WHERE ${few} OFFSET 0) AS b
      WHERE ${all([...conditions, ...bounds])} ${end}`;
  }
  if (workchain !== undefined && shard !== undefined && !hasTime(given) && !hasLt(given)) {
    // Within a shard, seqnos rise with time, so the index by position has this order.
    const from =
      after === null
        ? []
        : [
            sql`b.seqno ${raw(sort === 'desc' ? '<=' : '>=')} (SELECT c.seqno FROM blocks c WHERE c.id = ${after[1]}::bigint)`,
          ];
    return sql`SELECT ${BLOCK_COLUMNS} FROM blocks b WHERE ${all([...conditions, ...from])}
      ORDER BY b.seqno ${raw(sort)} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}`;
  }
  const more =
    hasTime(given) && hasLt(given) ? withinTimeRange(await translateTimeRange(session, given), ...times) : bounds;
  if (workchain !== undefined) more.push(hasWorkchain(workchain));
  if (workchain !== undefined && shard !== undefined) {
    for (const [compare, order] of [
      ['>=', 'ASC'],
      ['<=', 'DESC'],
    ] as const) {
      more.push(sql`b.${raw(column)} ${raw(compare)} (
        SELECT w.${raw(column)} FROM blocks w
        WHERE w.workchain = ${workchain}::integer AND w.shard = ${BigInt.asIntN(64, shard)}::bigint
        ORDER BY w.seqno ${raw(order)} LIMIT 1
      )`);
    }
  }
  return sql`SELECT ${BLOCK_COLUMNS} FROM blocks b WHERE ${all([...conditions, ...more])} ${end}`;
}

/** A selective condition of the filter. */
function fewBlocks({ root_hash, file_hash, mc_seqno, seqno }: BlockFilter): Sql | null {
  if (root_hash !== undefined) return sql`b.root_hash = ${root_hash}::bytea`;
  if (file_hash !== undefined) return sql`b.file_hash = ${file_hash}::bytea`;
  if (mc_seqno !== undefined) return idsOfMcBlock(mc_seqno, raw('b.id'));
  return seqno === undefined ? null : sql`b.seqno = ${seqno}::integer`;
}

/** A row of `blocks` as far as blocks are listed. */
type BlockFound = Omit<StoredRowOf<typeof BLOCKS>, 'global_version' | 'shard_tops'>;

/** Columns of a {@link BlockFound}, of the table `b`. */
const BLOCK_COLUMNS = raw(selectList(BLOCKS, 'b', 'global_version', 'shard_tops'));

function indexedBlock(found: BlockFound): IndexedBlock {
  const { bits } = found;
  // Without a spread: extending a spread object by so many fields is several times as slow.
  return {
    workchain: found.workchain,
    shard: BigInt.asUintN(64, found.shard),
    seqno: found.seqno,
    mc_seqno: seqnoOfId(found.id),
    root_hash: found.root_hash,
    file_hash: found.file_hash,
    global_id: found.global_id,
    version: Number(found.version),
    after_merge: (bits & 1) !== 0,
    before_split: (bits & 2) !== 0,
    after_split: (bits & 4) !== 0,
    want_merge: (bits & 8) !== 0,
    want_split: (bits & 16) !== 0,
    key_block: (bits & 32) !== 0,
    vert_seqno_incr: (bits & 64) !== 0,
    flags: found.flags,
    gen_utime: Number(found.gen_utime),
    start_lt: found.start_lt,
    end_lt: found.end_lt,
    validator_list_hash_short: Number(found.validator_list_hash_short),
    gen_catchain_seqno: Number(found.gen_catchain_seqno),
    min_ref_mc_seqno: Number(found.min_ref_mc_seqno),
    prev_key_block_seqno: Number(found.prev_key_block_seqno),
    vert_seqno: Number(found.vert_seqno),
    master_ref_seqno: found.master_ref_seqno === null ? null : Number(found.master_ref_seqno),
    rand_seed: found.rand_seed,
    created_by: found.created_by,
    tx_count: found.tx_count,
    prev_blocks: Array.from({ length: found.prev_blocks.length / 3 }, (_, i) => {
      const [workchain, shard, seqno] = found.prev_blocks.slice(i * 3, i * 3 + 3) as [bigint, bigint, bigint];
      return shardPosition(Number(workchain), shard, Number(seqno));
    }),
  };
}

/** Whether a workchain has a block: otherwise a filter by an unknown workchain would scan all blocks. */
export function hasWorkchain(workchain: number): Sql {
  return sql`(
    SELECT w.seqno FROM blocks w WHERE w.workchain = ${workchain}::integer ORDER BY w.workchain, w.shard, w.seqno LIMIT 1
  ) IS NOT NULL`;
}
