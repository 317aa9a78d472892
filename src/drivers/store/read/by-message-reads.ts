import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { ByMessageFilter, IndexedTransaction, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage, type Stretch } from '#drivers/store/read/keyset-page.js';
import {
  type Driver,
  fewest,
  isImpossible,
  keyConditions,
  meetsPredicate,
} from '#drivers/store/read/message-predicate.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { all, join, raw, type Sql, sql } from '#drivers/store/read/sql.js';
import { StoredMessages } from '#drivers/store/read/stored-messages.js';
import { assembleTransactions } from '#drivers/store/read/transaction-assembly.js';
import { behind, limited, orderBy, orderKey, type TransactionOrder } from '#drivers/store/read/transaction-order.js';
import { TRANSACTION_COLUMNS, type TransactionFound } from '#drivers/store/read/transaction-rows.js';

/** Whose messages count: those that a transaction received, those that it sent. */
interface Sides {
  readonly in: boolean;
  readonly out: boolean;
}

/** A page of the transactions that received or sent a message like this. */
export async function readTransactionsByMessage(
  session: IndexSession,
  cells: SharedCells,
  filter: ByMessageFilter,
  page: Page,
): Promise<Listed<IndexedTransaction>> {
  const { direction, opcode } = filter;
  const sides = { in: direction !== 'out', out: direction !== 'in' && opcode === undefined };
  const order = { byTime: false, sort: page.sort };
  const few = session.thresholds.messagesOfTransactions;
  let driver: Driver | undefined;
  const { rows, next } = await readPage<TransactionFound, TransactionFound>(
    {
      name: 'transactionsByMessage',
      filter,
      keyParts: 2,
      read: async (stretch) => {
        if ((!sides.in && !sides.out) || isImpossible(filter)) return [];
        driver ??= await fewest(session, keyConditions(filter), [], few);
        const found =
          driver.count < few ? ofMessages(filter, driver, sides, order, stretch) : walk(filter, sides, order, stretch);
        // Of a hash there are one or two messages, whichever it is: any plan for it is good for all.
        const isOfHash = driver.condition.name === 'msg_hash' && stretch.offset === 0;
        return session.rows<TransactionFound>(found, isOfHash ? {} : { planned: 'each time' });
      },
      check: (found) => found.map((row) => (hasMessage(filter, sides, row.boc) ? row : null)),
      keyOf: (row) => orderKey(order, row),
    },
    page,
  );
  return { rows: await assembleTransactions(session, cells, rows), next };
}

function hasMessage(filter: ByMessageFilter, sides: Sides, stored: Uint8Array): boolean {
  const messages = new StoredMessages(stored);
  const { received } = messages;
  if (sides.in && received !== null && meetsPredicate(filter, received)) return true;
  return sides.out && messages.sent.some((message) => meetsPredicate(filter, message));
}

/** Of few messages: their transactions, sorted. */
function ofMessages(
  filter: ByMessageFilter,
  driver: Driver,
  sides: Sides,
  order: TransactionOrder,
  stretch: Stretch,
): Sql {
  const others = keyConditions(filter).filter(({ name }) => name !== driver.condition.name);
  const ids: Sql[] = [];
  if (sides.out) ids.push(raw('SELECT f.tx_id AS id FROM found f WHERE f.position > 0'));
  if (sides.in) {
    ids.push(raw('SELECT f.tx_id AS id FROM found f WHERE f.position = 0'));
    ids.push(
      raw(`SELECT c.id FROM found f CROSS JOIN LATERAL (
        SELECT c.id FROM transactions c WHERE c.in_msg_key = f.msg_key AND c.id > f.tx_id OFFSET 0
      ) AS c WHERE f.position > 0`),
    );
  }
  return sql`WITH found AS MATERIALIZED (
      SELECT m.tx_id, m.msg_key, m.position FROM messages m
      WHERE ${all([driver.condition.finds, ...others.map(({ holds }) => holds)])}
    ), page AS MATERIALIZED (
      SELECT t.id, t.lt FROM (SELECT DISTINCT i.id FROM (${join(ids, ' UNION ALL ')}) AS i) AS i
      CROSS JOIN LATERAL (SELECT t.id, t.lt FROM transactions t WHERE t.id = i.id LIMIT 1) AS t
      WHERE ${all(behind(order, stretch.after))} ORDER BY ${orderBy(order)} ${limited(stretch)}
    )
    SELECT ${TRANSACTION_COLUMNS} FROM page
    CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = page.id LIMIT 1) AS t ORDER BY ${orderBy(order)}`;
}

/** Of many messages: the transactions in their order, each asked for its messages. */
function walk(filter: ByMessageFilter, sides: Sides, order: TransactionOrder, stretch: Stretch): Sql {
  const meets = all(keyConditions(filter).map(({ holds }) => holds));
  const has: Sql[] = [];
  if (sides.in) {
    has.push(sql`(t.in_msg_key IS NOT NULL AND EXISTS (
      SELECT FROM messages m WHERE m.msg_key = t.in_msg_key AND m.tx_id <= t.id AND ${meets} OFFSET 0
    ))`);
  }
  if (sides.out) {
    // Messages have the logical times right behind that of their transaction.
    has.push(sql`EXISTS (
      SELECT FROM messages m
      WHERE m.source_key = t.account_key AND m.created_lt > t.lt AND m.created_lt <= t.lt + 65536 AND m.tx_id = t.id
        AND m.position > 0 AND ${meets} OFFSET 0
    )`);
  }
  const conditions = [...behind(order, stretch.after), sql`(${join(has, ' OR ')})`];
  const account = sides.in ? (sides.out ? undefined : filter.destination) : filter.source;
  if (account) conditions.unshift(sql`t.account_key = ${accountKey(addressBytes(account))}::bigint`);
  return sql`SELECT ${TRANSACTION_COLUMNS} FROM (
      SELECT t.* FROM transactions t WHERE ${all(conditions)} ORDER BY ${orderBy(order)} ${limited(stretch)}
    ) AS t ORDER BY ${orderBy(order)}`;
}
