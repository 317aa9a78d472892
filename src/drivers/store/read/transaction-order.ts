import type { Bounds } from '#drivers/store/read/bounds.js';
import type { OrderKey } from '#drivers/store/read/cursor.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import { raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** How a list of transactions is sorted: by lt, or by now and lt; then by id, which rises in both directions. */
export interface TransactionOrder {
  readonly byTime: boolean;
  readonly sort: 'asc' | 'desc';
}

/** What stands behind a row in the order. The key is lt and id, or now, lt and id. */
export function behind({ byTime, sort }: TransactionOrder, after: OrderKey | null): Sql[] {
  if (after === null) return [];
  const compare = raw(sort === 'desc' ? '<' : '>');
  if (byTime) {
    const [now, lt, id] = after;
    return [
      sql`(t.now, t.lt) ${compare}= (${now}::bigint, ${lt}::bigint)`,
      sql`((t.now, t.lt) ${compare} (${now}::bigint, ${lt}::bigint) OR t.id > ${id}::bigint)`,
    ];
  }
  const [lt, id] = after;
  return [sql`t.lt ${compare}= ${lt}::bigint`, sql`(t.lt ${compare} ${lt}::bigint OR t.id > ${id}::bigint)`];
}

export function orderBy({ byTime, sort }: TransactionOrder): Sql {
  return raw(byTime ? `t.now ${sort}, t.lt ${sort}, t.id` : `t.lt ${sort}, t.id`);
}

export function orderKey({ byTime }: TransactionOrder, row: { now: bigint; lt: bigint; id: bigint }): OrderKey {
  return byTime ? [row.now, row.lt, row.id] : [row.lt, row.id];
}

/** `LIMIT` and `OFFSET`. As numbers in the text: the planner thinks of the least of indexes when it does not know them. */
export function limited({ count, offset }: Stretch): Sql {
  return raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
}

/** Least and greatest of columns of int8. */
const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;

/**
 * The rows of one account, from the first to the last that the bounds of lt allow. Written as a comparison of rows, and to be
 * sorted by {@link accountOrder}: with `account_key = …` the planner takes the account for one like the others, and sorts the
 * millions of rows of a frequent one.
 */
export function ofAccount(key: Sql, { start_lt = LEAST, end_lt = GREATEST }: Bounds): Sql {
  return sql`(t.account_key, t.lt) >= (${key}, ${start_lt}::bigint) AND (t.account_key, t.lt) <= (${key}, ${end_lt}::bigint)`;
}

/**
 * The order of rows of one account, as its index has them: also that by now, for the blocks of an account have rising times.
 */
export function accountOrder({ sort }: TransactionOrder): Sql {
  return raw(`t.account_key ${sort}, t.lt ${sort}, t.id`);
}

/** Bounds, and where the order goes on behind a row. */
export function boundsBehind({ byTime, sort }: TransactionOrder, after: OrderKey | null, bounds: Bounds): Bounds {
  const place = after?.[0];
  if (place == null) return bounds;
  if (byTime)
    return sort === 'desc' ? { ...bounds, end_utime: Number(place) } : { ...bounds, start_utime: Number(place) };
  return sort === 'desc' ? { ...bounds, end_lt: place } : { ...bounds, start_lt: place };
}
