import { hasLt, hasTime, storableBounds, translateBounds, within } from '#drivers/store/read/bounds.js';
import type { OrderKey } from '#drivers/store/read/cursor.js';
import type {
  IndexedMessage,
  IndexedTransactionCells,
  Listed,
  MessageFilter,
  Page,
} from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { readPage, type Stretch } from '#drivers/store/read/keyset-page.js';
import {
  type Driver,
  fewest,
  isImpossible,
  type KeyCondition,
  keyConditions,
  meetsPredicate,
} from '#drivers/store/read/message-predicate.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { all, raw, type Sql, sql } from '#drivers/store/read/sql.js';
import { type StoredMessage, StoredMessages } from '#drivers/store/read/stored-messages.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

interface MessageFound {
  readonly tx_id: bigint;
  readonly msg_key: bigint;
  readonly created_lt: bigint | null;
  readonly created_at: bigint | null;
  readonly position: number;
  /** Transactions that received a message with this key. */
  readonly received: readonly bigint[];
}

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

/** The list of messages that meet a filter, by keys. */
class MessageList {
  readonly #session: IndexSession;
  readonly #filter: MessageFilter;
  readonly #sort: 'asc' | 'desc';
  readonly #byTime: boolean;
  /** What rows are found by; null: by their order. */
  #driver: Driver | null | undefined;

  constructor(session: IndexSession, filter: MessageFilter, sort: 'asc' | 'desc') {
    this.#session = session;
    this.#filter = filter;
    this.#sort = sort;
    this.#byTime = hasTime(filter);
  }

  keyOf({ tx_id, msg_key, created_lt, created_at, position }: MessageFound): OrderKey {
    return [this.#byTime ? created_at : created_lt, msg_key, tx_id, BigInt(position)];
  }

  /** The row of a key, as far as the key tells. */
  foundBy([time, msg_key, tx_id, position]: OrderKey): MessageFound | null {
    if (msg_key == null || tx_id == null || position == null) return null;
    const times = { created_lt: this.#byTime ? null : time!, created_at: this.#byTime ? time! : null };
    return { tx_id, msg_key, ...times, position: Number(position), received: [] };
  }

  async read(stretch: Stretch): Promise<MessageFound[]> {
    if (isImpossible(this.#filter)) return [];
    if (this.#byTime) return this.#readByTime(stretch);
    const { source, only_externals, exclude_externals } = this.#filter;
    const fromOutside = source === null || only_externals === true;
    const withTimes = exclude_externals === true || hasLt(this.#filter) || source instanceof Object;
    const parts = this.#sort === 'asc' ? [false, true] : [true, false];
    if (stretch.after === null && !fromOutside && !withTimes) return this.#readByLt(stretch, null);
    // A row from outside has no created_lt, so that it cannot be compared: those with and those without are read apart.
    const rows: MessageFound[] = [];
    for (const isOutside of parts) {
      if (isOutside ? withTimes : fromOutside) continue;
      const { after, offset, count } = stretch;
      if (after !== null && isOutside !== (after[0] === null) && isOutside === parts[0]) continue;
      const isIn = after !== null && isOutside === (after[0] === null);
      const part = { after: isIn ? after : null, offset, count: count - rows.length };
      if (part.count > 0) rows.push(...(await this.#readByLt(part, isOutside)));
    }
    return rows;
  }

  /** @param isOutside whether created_lt is null; null: any */
  async #readByLt(stretch: Stretch, isOutside: boolean | null): Promise<MessageFound[]> {
    const compare = raw(this.#sort === 'desc' ? '<' : '>');
    const conditions = within(storableBounds(this.#filter), raw('m.created_lt'), raw('m.created_at'));
    if (isOutside !== null) conditions.push(raw(isOutside ? 'm.created_lt IS NULL' : 'm.created_lt IS NOT NULL'));
    if (stretch.after !== null) {
      const [lt, key, tx, position] = stretch.after;
      conditions.push(
        isOutside === true
          ? sql`(m.msg_key, m.tx_id, m.position) ${compare} (${key}::bigint, ${tx}::bigint, ${position}::smallint)`
          : sql`m.created_lt ${compare}= ${lt}::bigint AND (m.created_lt, m.msg_key, m.tx_id, m.position) ${compare} (${lt}::bigint, ${key}::bigint, ${tx}::bigint, ${position}::smallint)`,
      );
    }
    const driver = await this.#chooseDriver(
      within(storableBounds(this.#filter), raw('m.created_lt'), raw('m.created_at')),
    );
    return this.#rows(driver, conditions, 'created_lt', stretch);
  }

  async #readByTime(stretch: Stretch): Promise<MessageFound[]> {
    const { sort } = { sort: this.#sort };
    const compare = raw(sort === 'desc' ? '<' : '>');
    const given = storableBounds(this.#filter);
    const driver = await this.#chooseDriver(within(given, raw('m.created_lt'), raw('m.created_at')));
    const behind: Sql[] = [];
    let bounds = given;
    if (stretch.after !== null) {
      const [at, key, tx, position] = stretch.after;
      const time = Number(at);
      bounds = sort === 'desc' ? { ...given, end_utime: time } : { ...given, start_utime: time };
      behind.push(
        sql`(m.created_at, m.msg_key, m.tx_id, m.position) ${compare} (${at}::bigint, ${key}::bigint, ${tx}::bigint, ${position}::smallint)`,
      );
    }
    const isLarge = driver !== null && driver.count >= this.#session.thresholds.messages;
    if (isLarge || hasLt(given)) bounds = await translateBounds(this.#session, bounds);
    const columns = [raw('m.created_lt'), raw('m.created_at')] as const;
    if (isLarge) {
      // The index of the key is by created_lt, which rises with created_at nearly. So many rows by created_lt give a time that
      // the page does not go behind; all rows that can be before that time are sorted.
      const [edge] = await this.#session.rows<{ created_at: bigint }>(
        sql`SELECT m.created_at FROM messages m
          WHERE ${all([driver.condition.finds, ...this.#others(driver), ...within(bounds, ...columns), ...behind])}
          ORDER BY m.created_lt ${raw(sort)} OFFSET ${raw(stretch.offset + stretch.count - 1)} LIMIT 1`,
        { planned: 'each time' },
      );
      if (edge !== undefined) {
        const time = Number(edge.created_at);
        const narrower = sort === 'desc' ? { ...bounds, start_utime: time } : { ...bounds, end_utime: time };
        bounds = await translateBounds(this.#session, narrower);
      }
    }
    return this.#rows(driver, [...within(bounds, ...columns), ...behind], 'created_at', stretch);
  }

  async #rows(
    driver: Driver | null,
    conditions: readonly Sql[],
    time: string,
    stretch: Stretch,
  ): Promise<MessageFound[]> {
    const dir = this.#sort;
    const finds = driver === null ? [] : [driver.condition.finds];
    const { offset, count } = stretch;
    const order = (alias: string) =>
      raw(`${alias}.${time} ${dir}, ${alias}.msg_key ${dir}, ${alias}.tx_id ${dir}, ${alias}.position ${dir}`);
    // Whether a message was received is asked of its row, so that rows come in the order of an index of messages.
    return this.#session.rows<MessageFound>(
      sql`SELECT m.tx_id, m.msg_key, m.created_lt, m.created_at, m.position,
          ARRAY(SELECT c.id FROM transactions c WHERE m.position > 0 AND c.in_msg_key = m.msg_key AND c.id > m.tx_id) AS received
        FROM (
          SELECT m.tx_id, m.msg_key, m.created_lt, m.created_at, m.position FROM messages m
          WHERE ${all([...finds, ...this.#others(driver), ...conditions])}
          ORDER BY ${order('m')} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}
        ) AS m ORDER BY ${order('m')}`,
      offset === 0 && (driver === null || driver.count < this.#session.thresholds.messages)
        ? {}
        : { planned: 'each time' },
    );
  }

  /** All conditions on keys but that of the driver, and the direction. */
  #others(driver: Driver | null): Sql[] {
    const conditions = keyConditions(this.#filter)
      .filter(({ name }) => name !== driver?.condition.name)
      .map(({ holds }) => holds);
    const { direction } = this.#filter;
    if (direction === 'out') conditions.push(sql`m.position > 0`);
    if (direction === 'in') {
      conditions.push(
        sql`(m.position = 0 OR EXISTS (SELECT FROM transactions c WHERE c.in_msg_key = m.msg_key AND c.id > m.tx_id OFFSET 0))`,
      );
    }
    return conditions;
  }

  async #chooseDriver(within: readonly Sql[]): Promise<Driver | null> {
    if (this.#driver !== undefined) return this.#driver;
    const conditions = keyConditions(this.#filter).filter((condition) => !this.#isOrder(condition));
    const [only] = conditions;
    if (only === undefined) this.#driver = null;
    else if (only.name === 'msg_hash' || (conditions.length === 1 && !this.#byTime))
      this.#driver = { condition: only, count: 0 };
    else this.#driver = await fewest(this.#session, conditions, within, this.#session.thresholds.messages);
    return this.#driver;
  }

  /** Without a source is without created_lt, which the order finds. */
  #isOrder({ name }: KeyCondition): boolean {
    return name === 'source' && this.#filter.source === null;
  }
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
