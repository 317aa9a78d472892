import { firstIdOf } from '#drivers/store/ids.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { all, raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** A range of logical time, of unix time, and of ids; both ends belong to it. Undefined: no end. */
export interface Bounds {
  readonly start_lt?: bigint | undefined;
  readonly end_lt?: bigint | undefined;
  readonly start_utime?: number | undefined;
  readonly end_utime?: number | undefined;
}

interface ClockRow {
  readonly lt: bigint | null;
  readonly utime: bigint | null;
  readonly id: bigint | null;
}

export function hasTime(bounds: Bounds): boolean {
  return bounds.start_utime !== undefined || bounds.end_utime !== undefined;
}

export function hasLt(bounds: Bounds): boolean {
  return bounds.start_lt !== undefined || bounds.end_lt !== undefined;
}

/** The conditions of the bounds on two columns. */
export function within(bounds: Bounds, lt: Sql, utime: Sql): Sql[] {
  const { start_lt, end_lt, start_utime, end_utime } = bounds;
  const conditions: Sql[] = [];
  if (start_lt !== undefined) conditions.push(sql`${lt} >= ${start_lt}::bigint`);
  if (end_lt !== undefined) conditions.push(sql`${lt} <= ${end_lt}::bigint`);
  if (start_utime !== undefined) conditions.push(sql`${utime} >= ${start_utime}::bigint`);
  if (end_utime !== undefined) conditions.push(sql`${utime} <= ${end_utime}::bigint`);
  return conditions;
}

/** Most that a column of logical time holds: 2^63 - 1. What is asked for above is above all. */
const MOST_LT = (1n << 63n) - 1n;

/** Bounds that the columns can be compared with. */
export function storableBounds(bounds: Bounds): Bounds {
  const clamp = (lt: bigint | undefined) => (lt === undefined || lt <= MOST_LT ? lt : MOST_LT);
  const { start_utime, end_utime } = bounds;
  return { start_lt: clamp(bounds.start_lt), end_lt: clamp(bounds.end_lt), start_utime, end_utime };
}

/**
 * Says bounds of logical time in unix time as well, and the other way round, so that an index by one of them serves both.
 * Exact: nothing within the bounds that were given is outside of those that are added.
 *
 * What makes it so: every block descends from one of the newest blocks of the shards (*tops*) of any masterchain block before
 * the one that commits it; neither its times nor its logical times are below theirs. And no block is newer, by either, than
 * the masterchain block that commits it.
 */
export async function translateBounds(session: IndexSession, bounds: Bounds): Promise<Bounds> {
  const { start_lt, end_lt, start_utime, end_utime } = bounds;
  const asked: Sql[] = [];
  if (start_lt !== undefined)
    asked.push(
      lowerClock('start_lt', sql`b.start_lt <= ${start_lt}::bigint AND b.end_lt <= ${start_lt}::bigint`, 'start_lt'),
    );
  if (start_utime !== undefined)
    asked.push(lowerClock('start_utime', sql`b.gen_utime < ${start_utime}::bigint`, 'gen_utime'));
  if (end_lt !== undefined)
    asked.push(
      upperClock('end_lt', sql`b.start_lt > ${end_lt}::bigint`, 'start_lt', sql`t.end_lt > ${end_lt}::bigint`),
    );
  if (end_utime !== undefined) {
    asked.push(
      upperClock(
        'end_utime',
        sql`b.gen_utime > ${end_utime}::bigint`,
        'gen_utime',
        sql`t.gen_utime > ${end_utime}::bigint`,
      ),
    );
  }
  if (asked.length === 0) return bounds;
  const found = await session.rows<ClockRow & { bound: string }>(
    asked.reduce((before, next) => sql`${before} UNION ALL ${next}`),
  );
  let result = bounds;
  for (const { bound, lt, utime } of found) {
    if (lt === null || utime === null) continue;
    result = bound.startsWith('start')
      ? { ...result, start_lt: larger(result.start_lt, lt), start_utime: larger(result.start_utime, Number(utime)) }
      : { ...result, end_lt: smaller(result.end_lt, lt), end_utime: smaller(result.end_utime, Number(utime)) };
  }
  return result;
}

/** Tops of the masterchain block `m`, which is one of them. No row when one is not indexed. */
const TOPS = raw(`
  SELECT min(t.end_lt) AS lt, min(t.gen_utime) AS utime, count(*) AS tops
  FROM generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
  CROSS JOIN LATERAL (
    SELECT b.end_lt, b.gen_utime FROM blocks b
    WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1] AND b.seqno = m.shard_tops[n + 2]::integer
    LIMIT 1
  ) AS t`);

/** The newest masterchain block before a moment: all that is at or behind the moment descends from its tops. */
function lowerClock(bound: string, before: Sql, order: string): Sql {
  return sql`(
    SELECT ${raw(`'${bound}'`)} AS bound, least(m.end_lt, tops.lt) AS lt, least(m.gen_utime, tops.utime) AS utime
    FROM (
      SELECT b.end_lt, b.gen_utime, b.shard_tops FROM blocks b
      WHERE b.workchain = -1 AND ${before} ORDER BY b.${raw(order)} DESC, b.id DESC LIMIT 1
    ) AS m
    CROSS JOIN LATERAL (${TOPS}) AS tops
    WHERE tops.tops = cardinality(m.shard_tops) / 3
  )`;
}

/**
 * A masterchain block behind a moment, so far behind that all tops are behind it too: what it does not commit, and no block
 * before it does, is behind the moment. A few are tried, farther and farther away; any will do.
 */
function upperClock(bound: string, behind: Sql, order: string, past: Sql): Sql {
  return sql`(
    SELECT ${raw(`'${bound}'`)} AS bound, m.end_lt AS lt, m.gen_utime AS utime
    FROM unnest(ARRAY[4, 32, 256, 2048]) AS skip
    CROSS JOIN LATERAL (
      SELECT b.end_lt, b.gen_utime, b.shard_tops FROM blocks b
      WHERE b.workchain = -1 AND ${behind} ORDER BY b.${raw(order)}, b.id OFFSET skip LIMIT 1
    ) AS m
    WHERE (
      SELECT count(*) FROM generate_series(1, cardinality(m.shard_tops) - 2, 3) AS n
      CROSS JOIN LATERAL (
        SELECT b.end_lt, b.gen_utime FROM blocks b
        WHERE b.workchain = m.shard_tops[n]::integer AND b.shard = m.shard_tops[n + 1]
          AND b.seqno = m.shard_tops[n + 2]::integer
        LIMIT 1
      ) AS t
      WHERE ${past}
    ) = cardinality(m.shard_tops) / 3
    LIMIT 1
  )`;
}

function larger<T extends number | bigint>(a: T | undefined, b: T): T {
  return a === undefined || b > a ? b : a;
}

function smaller<T extends number | bigint>(a: T | undefined, b: T): T {
  return a === undefined || b < a ? b : a;
}

/** The ids of one round. */
export function roundIds(mc_seqno: number, id: Sql): Sql {
  return all([sql`${id} >= ${firstIdOf(mc_seqno)}::bigint`, sql`${id} < ${firstIdOf(mc_seqno + 1)}::bigint`]);
}
