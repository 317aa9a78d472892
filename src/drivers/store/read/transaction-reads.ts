import { loadTransaction } from '#drivers/store/encode/stored-transaction.js';
import { hasTime } from '#drivers/store/read/bounds.js';
import type { IndexedTransaction, Listed, Page, TransactionFilter } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage } from '#drivers/store/read/keyset-page.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { sql } from '#drivers/store/read/sql.js';
import { assembleTransactions } from '#drivers/store/read/transaction-assembly.js';
import { transactionHead } from '#drivers/store/read/transaction-head.js';
import { limited, orderBy, orderKey } from '#drivers/store/read/transaction-order.js';
import { NONE, transactionSource, wantedAccounts } from '#drivers/store/read/transaction-paths.js';
import { TRANSACTION_COLUMNS, type TransactionFound } from '#drivers/store/read/transaction-rows.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** A page of transactions that meet a filter. */
export async function readTransactions(
  session: IndexSession,
  cells: SharedCells,
  filter: TransactionFilter,
  page: Page,
): Promise<Listed<IndexedTransaction>> {
  const order = { byTime: hasTime(filter), sort: page.sort };
  const meets = filterCheck(filter);
  const { rows, next } = await readPage<TransactionFound, TransactionFound>(
    {
      name: 'transactions',
      filter,
      keyParts: order.byTime ? 3 : 2,
      read: async (stretch) => {
        const source = await transactionSource(session, filter, order, stretch);
        if (source === NONE) return [];
        const statement = sql`SELECT ${TRANSACTION_COLUMNS} FROM (
            SELECT t.* FROM ${source} ORDER BY ${orderBy(order)} ${limited(stretch)}
          ) AS t ORDER BY ${orderBy(order)}`;
        return session.rows<TransactionFound>(statement, stretch.offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found.map((row) => (meets(row) ? row : null)),
      keyOf: (row) => orderKey(order, row),
    },
    page,
  );
  return { rows: await assembleTransactions(session, cells, rows), next };
}

/** Compares what was found by keys with what they stand for. */
function filterCheck(filter: TransactionFilter): (row: TransactionFound) => boolean {
  const accounts = wantedAccounts(filter);
  const ids =
    accounts === undefined ? null : new Set(accounts.map(({ workchain, hash }) => `${workchain}:${toHex(hash)}`));
  const hashes = filter.hash === undefined ? null : new Set(filter.hash.map(toHex));
  return (row) =>
    (ids === null || ids.has(`${row.workchain}:${toHex(transactionHead(row.boc).account_addr)}`)) &&
    (hashes === null || hashes.has(toHex(storedHash(row.boc))));
}

/** The hash of a stored transaction. */
function storedHash(stored: Uint8Array): Uint8Array {
  return loadTransaction(stored, () => null).hash(0);
}
