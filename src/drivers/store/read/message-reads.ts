import type {
  IndexedMessage,
  IndexedTransactionCells,
  Listed,
  MessageFilter,
  Page,
} from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage } from '#drivers/store/read/keyset-page.js';
import { type MessageFound, MessageList } from '#drivers/store/read/message-list.js';
import { meetsPredicate } from '#drivers/store/read/message-predicate.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { sql } from '#drivers/store/read/sql.js';
import { type StoredMessage, StoredMessages } from '#drivers/store/read/stored-messages.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** A page of messages, each once. */
export async function readMessages(
  session: IndexSession,
  cells: SharedCells,
  filter: MessageFilter,
  page: Page,
): Promise<Listed<IndexedMessage>> {
  const list = new MessageList(session, filter, page.sort);
  const shown = new Set<string>();
  const { rows, next } = await readPage<MessageFound, IndexedMessage>(
    {
      name: 'messages',
      filter,
      keyParts: 4,
      keyHasNull: true,
      read: async (stretch) => {
        const found = await list.read(stretch);
        const before = stretch.after === null ? null : list.foundBy(stretch.after);
        // The message that the page before ended with, received once more.
        if (before !== null && found[0]?.msg_key === before.msg_key) {
          const message = (await readCells(session, [before])).get(before.tx_id)?.messages.at(before.position);
          if (message != null) shown.add(toHex(message.hash));
        }
        return found;
      },
      check: async (found) => {
        const cellsOf = await readCells(session, found);
        return found.map((row) => messageOf(filter, row, cellsOf, shown));
      },
      keyOf: (row) => list.keyOf(row),
    },
    page,
  );
  return { rows: await complete(session, cells, rows), next };
}

/** A transaction's cells as stored, and its messages. */
interface Cells {
  readonly id: bigint;
  readonly global_version: number;
  readonly boc: Uint8Array;
  readonly messages: StoredMessages;
}

async function readCells(session: IndexSession, found: readonly MessageFound[]): Promise<ReadonlyMap<bigint, Cells>> {
  const ids = new Set<bigint>();
  for (const { tx_id, received } of found) {
    ids.add(tx_id);
    for (const id of received) ids.add(id);
  }
  if (ids.size === 0) return new Map();
  const rows = await session.rows<{ id: bigint; global_version: number; boc: Uint8Array }>(
    sql`SELECT t.id, t.global_version, t.boc FROM unnest(${[...ids]}::bigint[]) AS k(id)
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = k.id LIMIT 1) AS t`,
  );
  return new Map(rows.map((row) => [row.id, { ...row, messages: new StoredMessages(row.boc) }]));
}

/** The message of a row when it is what was asked for, with its transactions as stored. */
function messageOf(
  filter: MessageFilter,
  row: MessageFound,
  cells: ReadonlyMap<bigint, Cells>,
  shown: Set<string>,
): IndexedMessage | null {
  const own = cells.get(row.tx_id);
  const message = own?.messages.at(row.position) ?? null;
  if (own === undefined || message === null || !meetsPredicate(filter, message)) return null;
  const hash = message.hash.slice();
  // A message from outside may be received more than once.
  const key = toHex(hash);
  if (shown.has(key)) return null;
  const receiver = row.position === 0 ? own : receiverOf(message, row, cells);
  const sender = row.position === 0 ? null : own;
  const { direction } = filter;
  if ((direction === 'in' && receiver === null) || (direction === 'out' && sender === null)) return null;
  shown.add(key);
  const sent_by = direction === 'in' ? null : sender;
  const received_by = direction === 'out' ? null : receiver;
  return {
    hash,
    sent_by: sent_by && { id: sent_by.id, boc: sent_by.boc },
    received_by: received_by && { id: received_by.id, boc: received_by.boc },
    global_version: (sent_by ?? received_by)!.global_version,
    out_index: sent_by === null ? null : row.position - 1,
  };
}

function receiverOf(
  message: StoredMessage,
  { received }: MessageFound,
  cells: ReadonlyMap<bigint, Cells>,
): Cells | null {
  for (const id of received) {
    const receiver = cells.get(id);
    const its = receiver?.messages.received;
    if (its != null && bytesEqual(its.hash, message.hash)) return receiver!;
  }
  return null;
}

/** Puts the whole bags of cells in the place of the stored ones. */
async function complete(
  session: IndexSession,
  cells: SharedCells,
  rows: readonly IndexedMessage[],
): Promise<IndexedMessage[]> {
  const stored = new Map<bigint, Uint8Array>();
  for (const { sent_by, received_by } of rows) {
    for (const side of [sent_by, received_by]) if (side !== null) stored.set(side.id, side.boc);
  }
  const bocs = await cells.complete(session, [...stored.values()]);
  const whole = new Map([...stored.keys()].map((id, i) => [id, bocs[i]!]));
  const side = (of: IndexedTransactionCells | null) => of && { id: of.id, boc: whole.get(of.id)! };
  return rows.map((row) => ({ ...row, sent_by: side(row.sent_by), received_by: side(row.received_by) }));
}
