import { firstIdOf } from '#drivers/store/ids.js';
import { BLOCK_COLUMNS, type BlockFound, hasWorkchain, indexedBlock } from '#drivers/store/read/block-rows.js';
import { hasLt, hasTime, roundIds, storableBounds, translateBounds, within } from '#drivers/store/read/bounds.js';
import type { BlockFilter, IndexedBlock, IndexHead, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage, type Stretch } from '#drivers/store/read/keyset-page.js';
import { all, raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** The lowest and the highest indexed masterchain block; null when there is none. */
export async function readHead(session: IndexSession): Promise<IndexHead | null> {
  const rows = await session.rows<BlockFound>(sql`
    SELECT ${BLOCK_COLUMNS} FROM index_state s
    CROSS JOIN LATERAL (VALUES (lower(s.rounds)), (upper(s.rounds) - 1)) AS v(seqno)
    CROSS JOIN LATERAL (SELECT * FROM blocks b WHERE b.id = v.seqno::bigint << 24 LIMIT 1) AS b
    ORDER BY b.id`);
  const first = rows[0];
  const last = rows.at(-1);
  return first === undefined || last === undefined ? null : { first: indexedBlock(first), last: indexedBlock(last) };
}

export async function readHasRound(session: IndexSession, mc_seqno: number): Promise<boolean> {
  const rows = await session.rows<{ has: boolean }>(
    sql`SELECT s.rounds @> ${mc_seqno}::integer AS has FROM index_state s`,
  );
  return rows[0]?.has === true;
}

/** The newest blocks of all shards as of a masterchain block, itself included. */
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
      read: async (stretch) => {
        const statement = await blocksStatement(session, filter, byLt ? 'start_lt' : 'gen_utime', page.sort, stretch);
        return session.rows<BlockFound>(statement, stretch.offset === 0 ? {} : { planned: 'each time' });
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
  { after, offset, count }: Stretch,
): Promise<Sql> {
  const { root_hash, file_hash, mc_seqno, seqno, workchain } = filter;
  const shard = filter.shard ?? (workchain === -1 ? 1n << 63n : undefined);
  const given = storableBounds(filter);
  const conditions: Sql[] = [];
  if (workchain !== undefined) conditions.push(sql`b.workchain = ${workchain}::integer`);
  if (shard !== undefined) conditions.push(sql`b.shard = ${BigInt.asIntN(64, shard)}::bigint`);
  if (seqno !== undefined) conditions.push(sql`b.seqno = ${seqno}::integer`);
  if (mc_seqno !== undefined) conditions.push(roundIds(mc_seqno, raw('b.id')));
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
  const bounds = within(given, ...times);
  const end = sql`ORDER BY b.${raw(column)} ${raw(sort)}, b.id ${raw(sort)} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}`;
  const few = fewBlocks(filter);
  if (few !== null) {
    return sql`SELECT ${BLOCK_COLUMNS} FROM (SELECT * FROM blocks b WHERE ${few} OFFSET 0) AS b
      WHERE ${all([...conditions, ...bounds])} ${end}`;
  }
  if (workchain !== undefined && shard !== undefined && !hasTime(given) && !hasLt(given)) {
    // Of one shard, later blocks have greater numbers, so that its own index has them in this order.
    const from =
      after === null
        ? []
        : [
            sql`b.seqno ${raw(sort === 'desc' ? '<=' : '>=')} (SELECT c.seqno FROM blocks c WHERE c.id = ${after[1]}::bigint)`,
          ];
    return sql`SELECT ${BLOCK_COLUMNS} FROM blocks b WHERE ${all([...conditions, ...from])}
      ORDER BY b.seqno ${raw(sort)} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}`;
  }
  const more = hasTime(given) && hasLt(given) ? within(await translateBounds(session, given), ...times) : bounds;
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

/** A condition of the filter that few blocks meet. */
function fewBlocks({ root_hash, file_hash, mc_seqno, seqno }: BlockFilter): Sql | null {
  if (root_hash !== undefined) return sql`b.root_hash = ${root_hash}::bytea`;
  if (file_hash !== undefined) return sql`b.file_hash = ${file_hash}::bytea`;
  if (mc_seqno !== undefined) return roundIds(mc_seqno, raw('b.id'));
  return seqno === undefined ? null : sql`b.seqno = ${seqno}::integer`;
}
