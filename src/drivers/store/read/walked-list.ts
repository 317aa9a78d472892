import type { OrderKey } from '#drivers/store/read/cursor.js';
import type { Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import {
  behindKey,
  orderedBy,
  WALK_KEY_BITS,
  type WalkColumn,
  type WalkOrder,
} from '#drivers/store/read/index-walk.js';
import { readPage, type Stretch } from '#drivers/store/read/keyset-page.js';
import { all, raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** A list of rows of a table. */
export interface WalkedList<Row extends object> {
  /** Name and filter: what its cursors are of. */
  readonly name: string;
  readonly filter: object;
  /** What it is sorted by first, rising; null: nothing else than the order. */
  readonly first: WalkColumn<Row> | null;
  readonly order: WalkOrder<Row>;
  /**
   * Rows of the table, in any order, with the first of the stretch among them; null: none can be. Rows before the stretch are
   * left out here.
   */
  readonly source: ((stretch: Stretch) => Sql | Promise<Sql>) | null;
  /** Columns of a row, in terms of `t` and what is joined to it. */
  readonly columns: Sql;
  readonly joins: Sql;
}

/** A page of the list. */
export async function readWalkedList<Row extends object>(
  session: IndexSession,
  { name, filter, first, order, source, columns, joins }: WalkedList<Row>,
  page: Page,
): Promise<Listed<Row>> {
  const key = first === null ? order.columns : [first, ...order.columns];
  const sorted = first === null ? orderedBy(order) : sql`${first.expression}, ${orderedBy(order)}`;
  return readPage<Row, Row>(
    {
      name,
      filter,
      keyParts: key.length,
      keyBits: WALK_KEY_BITS,
      read: async (stretch) => {
        if (source === null) return [];
        const { after, offset, count } = stretch;
        const behind = first === null || after === null ? behindKey(order, after) : [behindFirst(first, order, after)];
        const limits = raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
        const statement = sql`SELECT ${columns} FROM (
            SELECT t.* FROM (${await source(stretch)}) AS t WHERE ${all(behind)} ORDER BY ${sorted} ${limits}
          ) AS t ${joins} ORDER BY ${sorted}`;
        return session.rows<Row>(statement, offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found,
      keyOf: (row) => key.map(({ part }) => part(row)),
    },
    page,
  );
}

function behindFirst(first: WalkColumn, order: WalkOrder, [begun, ...rest]: OrderKey): Sql {
  const value = first.value(begun!);
  return sql`(${first.expression} > ${value} OR (${first.expression} = ${value} AND ${all(behindKey(order, rest))}))`;
}
