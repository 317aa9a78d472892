import { hashKey } from '#drivers/store/keys.js';
import type { Direction, IndexedTransaction } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { sql } from '#drivers/store/read/sql.js';
import { StoredMessages } from '#drivers/store/read/stored-messages.js';
import { assembleTransactions } from '#drivers/store/read/transaction-assembly.js';
import { TRANSACTION_COLUMNS, type TransactionFound } from '#drivers/store/read/transaction-rows.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** The transaction that sent what another received (`in`), those that received what it sent (`out`), or both. */
export async function readAdjacentTransactions(
  session: IndexSession,
  cells: SharedCells,
  hash: Uint8Array,
  direction: Direction | undefined,
): Promise<readonly IndexedTransaction[] | null> {
  const found = await session.rows<{ id: bigint; boc: Uint8Array }>(
    sql`SELECT t.id, t.boc FROM transactions t WHERE t.hash_key = ${hashKey(hash)}::bigint`,
  );
  let messages: StoredMessages | null = null;
  let id = 0n;
  for (const row of found) {
    const its = new StoredMessages(row.boc);
    if (!bytesEqual(its.hash, hash)) continue;
    messages = its;
    id = row.id;
  }
  if (messages === null) return null;
  const received = direction === 'out' ? null : (messages.received?.hash ?? null);
  const sent = direction === 'in' ? [] : messages.sent.map((message) => message.hash);
  const rows = await session.rows<TransactionFound & { readonly is_sender: boolean }>(
    sql`SELECT ${TRANSACTION_COLUMNS}, a.is_sender FROM (
        SELECT m.tx_id AS id, true AS is_sender FROM messages m
        WHERE m.msg_key = ANY(${received === null ? [] : [hashKey(received)]}::bigint[]) AND m.position > 0
        UNION
        SELECT c.id, false FROM unnest(${sent.map(hashKey)}::bigint[]) AS k(key) CROSS JOIN LATERAL (
          SELECT c.id FROM transactions c WHERE c.in_msg_key = k.key AND c.id > ${id}::bigint OFFSET 0
        ) AS c
      ) AS a
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = a.id LIMIT 1) AS t
      ORDER BY t.lt, t.id`,
  );
  const sentHashes = new Set(sent.map(toHex));
  const meant = rows.filter((row) => {
    const its = new StoredMessages(row.boc);
    if (row.is_sender) return its.sent.some((message) => bytesEqual(message.hash, received!));
    return its.received !== null && sentHashes.has(toHex(its.received.hash));
  });
  return assembleTransactions(session, cells, meant);
}
