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
