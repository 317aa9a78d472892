import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import type {
  HeldMessage,
  HeldMessages,
  IndexedMessage,
  Listed,
  MessageFacts,
  MessageFilter,
  MessageKeys,
  Page,
  ReadMessage,
} from '#drivers/store/read/index-types.js';
import {
  hasLt,
  hasTime,
  isSystemMessage,
  type OrderKey,
  queryDigest,
  type RowWindow,
  readPage,
  storableTimeRange,
  type TimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import {
  all,
  emptySql,
  type IndexSession,
  join,
  opaqueToPlanner,
  type PlanningOptions,
  raw,
  type Sql,
  sql,
} from '#drivers/store/read/session.js';
import { completeTransactions } from '#drivers/store/read/transaction-assembly.js';
import { type StoredMessage, StoredMessages, type StoredTransaction } from '#drivers/store/stored-transaction.js';
import type { MESSAGES, StoredRowOf } from '#drivers/store/tables.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** A page of messages, each once. */
export async function readMessages(
  session: IndexSession,
  filter: MessageFilter,
  page: Page,
): Promise<Listed<IndexedMessage>> {
  const { rows, next } = await listMessages(session, filter, page, null);
  return { rows: await complete(session, rows.filter(isMatched)), next };
}

/**
 * The same page; of the messages that the caller holds only the keys are read. A page that was not asked for lately is read as a
 * whole: then hardly any of it is held, and a second statement would cost more than the cells.
 */
export async function readMessagesBesideHeld(
  session: IndexSession,
  filter: MessageFilter,
  page: Page,
  held: HeldMessages,
): Promise<Listed<HeldMessage | ReadMessage>> {
  const { rows, next } = await listMessages(session, filter, page, held);
  const read = await complete(session, rows.filter(isMatched));
  let at = 0;
  return { rows: rows.map((row) => (isMatched(row) ? read[at++]! : row)), next };
}

function listMessages(
  session: IndexSession,
  filter: MessageFilter,
  page: Page,
  held: HeldMessages | null,
): Promise<Listed<HeldMessage | MatchedMessage>> {
  const isKnown = held !== null && session.caches.notePage(queryDigest('messages', filter, page.sort), page);
  const cells = isKnown ? null : new Map<bigint, Cells>();
  const list = new MessageList(session, filter, page.sort, held !== null, cells);
  const shown = new Set<string>();
  return readPage<MessageFound, HeldMessage | MatchedMessage>(
    {
      name: 'messages',
      filter,
      keyParts: 4,
      keyHasNull: true,
      read: async (window) => {
        const found = await list.read(window);
        const before = window.after === null ? null : list.foundBy(window.after);
        // The message that the previous page ended with may be received once more.
        if (before !== null && found[0]?.msg_key === before.msg_key) {
          const message = (await readCells(session, [before], cells)).get(before.tx_id)?.messages.at(before.position);
          if (message != null) shown.add(toHex(message.hash));
        }
        return found;
      },
      check: async (found) => {
        const known = found.map((row) => held?.find(row) ?? null);
        const cellsById = await readCells(
          session,
          found.filter((_, i) => known[i] === null),
          cells,
        );
        return found.map((row, i) => {
          const holds = known[i];
          return holds == null ? messageOf(filter, row, cellsById, shown) : heldIfNew(filter, holds, shown);
        });
      },
      keyOf: (row) => list.keyOf(row),
    },
    page,
  );
}

function isMatched(row: HeldMessage | MatchedMessage): row is MatchedMessage {
  return 'sent_by' in row;
}

/** A held message if it matches the filter. It was held in a list of the same direction. */
function heldIfNew(filter: MessageFilter, held: HeldMessage, shown: Set<string>): HeldMessage | null {
  const key = toHex(held.facts.hash);
  if (shown.has(key) || !meetsPredicate(filter, held.facts)) return null;
  shown.add(key);
  return held;
}

/** A stored transaction and its messages. */
interface Cells {
  readonly id: bigint;
  readonly global_version: number;
  readonly messages: StoredMessages;
}

/** A message that matches, with the stored transactions that it is in. */
type MatchedMessage = Omit<ReadMessage, 'sent_by' | 'received_by'> & {
  readonly sent_by: Cells | null;
  readonly received_by: Cells | null;
};

interface CellsRow {
  readonly id: bigint;
  readonly global_version: number;
  readonly boc: Uint8Array;
}

function cellsOf({ id, global_version, boc }: CellsRow): Cells {
  return { id, global_version, messages: new StoredMessages(boc) };
}

/** @param read what need not be read again */
async function readCells(
  session: IndexSession,
  found: readonly MessageFound[],
  read: ReadonlyMap<bigint, Cells> | null,
): Promise<ReadonlyMap<bigint, Cells>> {
  const ids = new Set<bigint>();
  for (const { tx_id, received } of found) {
    ids.add(tx_id);
    for (let i = 0; i < received.length; i += 2) ids.add(received[i]!);
  }
  const missing = [...ids].filter((id) => read?.has(id) !== true);
  if (missing.length === 0) return read ?? new Map();
  const rows = await session.rows<CellsRow>(
    sql`SELECT t.id, t.global_version, t.boc FROM unnest(${missing}::bigint[]) AS k(id)
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = k.id LIMIT 1) AS t`,
  );
  return new Map([...(read ?? []), ...rows.map((row) => [row.id, cellsOf(row)] as const)]);
}

/** The message of a row if it matches the filter, with its stored transactions. */
function messageOf(
  filter: MessageFilter,
  row: MessageFound,
  cells: ReadonlyMap<bigint, Cells>,
  shown: Set<string>,
): MatchedMessage | null {
  const own = cells.get(row.tx_id);
  const message = own?.messages.at(row.position) ?? null;
  if (own === undefined || message === null || !meetsPredicate(filter, message)) return null;
  const hash = message.hash.slice();
  // An external-in message may be received more than once.
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
    keys: row,
    facts: message,
    sent_by,
    received_by,
    global_version: (sent_by ?? received_by)!.global_version,
    out_index: sent_by === null ? null : row.position - 1,
  };
}

function receiverOf(
  message: StoredMessage,
  { received }: MessageFound,
  cells: ReadonlyMap<bigint, Cells>,
): Cells | null {
  for (let i = 0; i < received.length; i += 2) {
    const receiver = cells.get(received[i]!);
    const its = receiver?.messages.received;
    if (its != null && bytesEqual(its.hash, message.hash)) return receiver!;
  }
  return null;
}

/** Replaces stored transactions by whole cells. */
async function complete(session: IndexSession, rows: readonly MatchedMessage[]): Promise<ReadMessage[]> {
  if (rows.length === 0) return [];

  const stored = new Map<bigint, StoredTransaction>();
  for (const { sent_by, received_by } of rows) {
    for (const side of [sent_by, received_by]) if (side !== null) stored.set(side.id, side.messages.stored);
  }
  const cells = await completeTransactions(session, [...stored.values()]);
  const whole = new Map([...stored.keys()].map((id, i) => [id, cells[i]!]));
  const side = (of: Cells | null) => of && { id: of.id, cell: whole.get(of.id)! };
  return rows.map((row) => ({ ...row, sent_by: side(row.sent_by), received_by: side(row.received_by) }));
}

/** A row of `messages` as far as reads need it. */
type MessageFound = Pick<StoredRowOf<typeof MESSAGES>, (typeof READ_COLUMNS)[number]> & MessageKeys;

/** A row of a page that is read with its cells: a message with its place in the order, or a stored transaction. */
type PageRow = (MessageFound & { readonly place: bigint; readonly id: null }) | (CellsRow & { readonly place: null });

const READ_COLUMNS = ['tx_id', 'msg_key', 'created_lt', 'created_at', 'position'] as const;
const MESSAGE_COLUMNS = raw(READ_COLUMNS.map((name) => `m.${name}`).join(', '));

const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;
const TIMES = [raw('m.created_lt'), raw('m.created_at')] as const;

/** The rows that a statement finds, and the stored transactions that they name, each once. */
function withCells(found: Sql): Sql {
  return sql`WITH found AS MATERIALIZED (${found})
    SELECT m.*, NULL AS id, NULL AS global_version, NULL AS boc FROM found m
    UNION ALL
    SELECT ${raw(READ_COLUMNS.map(() => 'NULL').join(', '))}, NULL, NULL, NULL, t.id, t.global_version, t.boc
    FROM (
      SELECT m.tx_id FROM found m
      UNION
      SELECT r.id FROM found m CROSS JOIN LATERAL unnest(m.received) WITH ORDINALITY AS r(id, n) WHERE r.n % 2 = 1
    ) AS k(id)
    CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = k.id LIMIT 1) AS t`;
}

/** The list of messages that match a filter, by keys. */
class MessageList {
  readonly #session: IndexSession;
  readonly #filter: MessageFilter;
  readonly #sort: 'asc' | 'desc';
  readonly #byTime: boolean;
  readonly #bounds: TimeRange;
  readonly #withHashKeys: boolean;
  readonly #cells: Map<bigint, Cells> | null;
  /** The condition that rows are found by; null: the sort order. */
  #driver: DrivingCondition | null | undefined;

  /**
   * @param withHashKeys of the transactions that rows belong to
   * @param cells gets the stored transactions of the rows that are read; null: they are not read
   */
  constructor(
    session: IndexSession,
    filter: MessageFilter,
    sort: 'asc' | 'desc',
    withHashKeys: boolean,
    cells: Map<bigint, Cells> | null,
  ) {
    this.#session = session;
    this.#filter = filter;
    this.#sort = sort;
    this.#byTime = hasTime(filter);
    this.#bounds = storableTimeRange(filter);
    this.#withHashKeys = withHashKeys;
    this.#cells = cells;
  }

  keyOf({ tx_id, msg_key, created_lt, created_at, position }: MessageFound): OrderKey {
    return [this.#byTime ? created_at : created_lt, msg_key, tx_id, BigInt(position)];
  }

  /** The row of an order key, as far as the key contains it. */
  foundBy([time, msg_key, tx_id, position]: OrderKey): MessageFound | null {
    if (msg_key == null || tx_id == null || position == null) return null;
    const times = { created_lt: this.#byTime ? null : time!, created_at: this.#byTime ? time! : null };
    return { tx_id, msg_key, ...times, position: Number(position), tx_hash_key: null, received: [] };
  }

  async read(window: RowWindow): Promise<MessageFound[]> {
    if (isImpossible(this.#filter)) return [];
    this.#driver ??= await this.#chooseDriver();
    if (this.#byTime) return this.#readByTime(window, this.#driver);
    const offset = await this.#rowsToSkip(window.offset, this.#driver);
    return this.#readByLt({ ...window, offset }, this.#driver);
  }

  /** The rows of the first messages: an external-in message has one for each transaction that received it. */
  async #rowsToSkip(messages: number, driver: DrivingCondition | null): Promise<number> {
    if (messages === 0 || !this.#parts().includes('outside')) return messages;
    for (let rows = messages; ; ) {
      // With the first row that is not skipped, which may be of the last message that is.
      const window = { after: null, offset: 0, count: rows + 1 };
      const [found] = await this.#session.rows<{ repeats: bigint }>(
        sql`SELECT count(*) - count(DISTINCT m.msg_key) AS repeats FROM (
            SELECT m.msg_key, m.created_lt FROM (${join(this.#firstParts(driver, window), ' UNION ALL ')}) AS m
            ORDER BY ${this.#order('created_lt')} LIMIT ${raw(rows + 1)}
          ) AS m WHERE m.created_lt IS NULL`,
        { planned: 'each time' },
      );
      const needed = messages + Number(found!.repeats);
      if (needed === rows) return rows;
      rows = needed;
    }
  }

  /** Messages of contracts, and external-in ones, in the order of the list. */
  #parts(): readonly ('inside' | 'outside')[] {
    const { source, only_externals, exclude_externals } = this.#filter;
    const isOutsideOnly = source === null || only_externals === true;
    const isInsideOnly = exclude_externals === true || hasLt(this.#filter) || source instanceof Object;
    const parts: ('inside' | 'outside')[] = [];
    if (!isOutsideOnly) parts.push('inside');
    if (!isInsideOnly) parts.push('outside');
    return this.#sort === 'desc' ? parts.reverse() : parts;
  }

  /** The first rows of the list, by parts. */
  #firstParts(driver: DrivingCondition | null, window: RowWindow): Sql[] {
    const parts = this.#parts();
    // One index has both parts in their order.
    if (driver === null && parts.length > 1) return [this.#part('all', null, driver, window)];
    const each = { after: null, offset: 0, count: window.count + window.offset };
    return parts.map((part) => this.#part(part, null, driver, each));
  }

  /**
   * External-in messages have no created_lt. They come last, and are read separately: a comparison with created_lt finds none
   * of them.
   */
  async #readByLt(window: RowWindow, driver: DrivingCondition | null): Promise<MessageFound[]> {
    const { after, count } = window;
    if (after === null) return this.#rows(this.#firstParts(driver, window), 'created_lt', window);
    const parts = this.#parts();
    const at = after[0] === null ? 'outside' : 'inside';
    const rows: MessageFound[] = [];
    for (const part of parts.slice(Math.max(0, parts.indexOf(at)))) {
      const rest = { after: null, offset: 0, count: count - rows.length };
      if (rest.count === 0) break;
      rows.push(
        ...(await this.#rows([this.#part(part, part === at ? after : null, driver, rest)], 'created_lt', rest)),
      );
    }
    return rows;
  }

  /** The first rows of a part after an order key, by created_lt. */
  #part(
    part: 'inside' | 'outside' | 'all',
    after: OrderKey | null,
    driver: DrivingCondition | null,
    window: RowWindow,
  ): Sql {
    const conditions = [...this.#others(driver), ...withinTimeRange(this.#bounds, ...TIMES)];
    if (part === 'outside') {
      conditions.push(raw('m.created_lt IS NULL'));
      if (driver !== null) conditions.push(driver.condition.finds);
      if (after !== null) {
        const [, key, tx, position] = after;
        conditions.push(
          sql`(m.msg_key, m.tx_id, m.position) ${this.#behind} (${key}::bigint, ${tx}::bigint, ${position}::smallint)`,
        );
      }
      return this.#select(conditions, 'created_lt', [], window);
    }
    if (part === 'inside') conditions.push(raw('m.created_lt IS NOT NULL'));
    if (after !== null) conditions.push(this.#isBehind('created_lt', after));
    const edge = after === null ? {} : this.#sort === 'desc' ? { end_lt: after[0]! } : { start_lt: after[0]! };
    const found = this.#driven(driver, { ...this.#bounds, ...edge });
    return this.#select([...conditions, ...found.conditions], 'created_lt', found.order, window);
  }

  async #readByTime(window: RowWindow, driver: DrivingCondition | null): Promise<MessageFound[]> {
    const { after, count, offset } = window;
    const edge =
      after === null ? {} : this.#sort === 'desc' ? { end_utime: Number(after[0]) } : { start_utime: Number(after[0]) };
    const behind = after === null ? [] : [this.#isBehind('created_at', after)];
    let bounds: TimeRange = { ...this.#bounds, ...edge };
    const ordered =
      driver !== null && driver.count >= this.#session.thresholds.messages ? driver.condition.ordered : null;
    if (ordered !== null || (driver === null && hasLt(bounds)))
      bounds = await translateTimeRange(this.#session, bounds);
    if (ordered !== null) {
      // The index of the key is by created_lt, which nearly rises with created_at. The first rows by created_lt give a time that
      // the page cannot exceed; all rows that can be before that time are sorted.
      const { conditions, order } = this.#driven(driver, bounds);
      const [edge] = await this.#session.rows<{ created_at: bigint | null; rows: bigint }>(
        sql`SELECT ${raw(this.#sort === 'desc' ? 'min' : 'max')}(m.created_at) AS created_at, count(*) AS rows FROM (
            SELECT m.created_at FROM messages m
            WHERE ${all([...conditions, ...this.#others(driver), ...withinTimeRange(bounds, ...TIMES), ...behind])}
            ORDER BY ${join([...order, sql`m.created_lt ${raw(this.#sort)}`], ', ')} LIMIT ${raw(offset + count)}
          ) AS m`,
        { planned: 'each time' },
      );
      if (edge?.created_at != null && Number(edge.rows) === offset + count) {
        const time = Number(edge.created_at);
        const narrower = this.#sort === 'desc' ? { ...bounds, start_utime: time } : { ...bounds, end_utime: time };
        bounds = await translateTimeRange(this.#session, narrower);
      }
    }
    const found =
      ordered === null ? { conditions: driver === null ? [] : [driver.condition.finds] } : this.#driven(driver, bounds);
    const conditions = [...found.conditions, ...this.#others(driver), ...withinTimeRange(bounds, ...TIMES), ...behind];
    return this.#rows(
      [this.#select(conditions, 'created_at', [], { ...window, offset: 0, count: count + offset })],
      'created_at',
      window,
    );
  }

  /**
   * The rows of a key within bounds of created_lt, and what to sort them by first. A row comparison: with `key = …` the planner
   * assumes an average key and sorts the millions of rows of a frequent one.
   */
  #driven(driver: DrivingCondition | null, { start_lt, end_lt }: TimeRange): { conditions: Sql[]; order: Sql[] } {
    if (driver === null) return { conditions: [], order: [] };
    const { ordered, finds } = driver.condition;
    if (ordered === null) return { conditions: [finds], order: [] };
    const { column, value } = ordered;
    return {
      conditions: [
        sql`(${column}, m.created_lt) >= (${value}, ${start_lt ?? LEAST}::bigint)`,
        sql`(${column}, m.created_lt) <= (${value}, ${end_lt ?? GREATEST}::bigint)`,
      ],
      order: [sql`${column} ${raw(this.#sort)}`],
    };
  }

  get #behind(): Sql {
    return raw(this.#sort === 'desc' ? '<' : '>');
  }

  #isBehind(column: 'created_lt' | 'created_at', [time, key, tx, position]: OrderKey): Sql {
    return sql`m.${raw(column)} ${this.#behind}= ${time}::bigint AND (m.${raw(column)}, m.msg_key, m.tx_id, m.position)
      ${this.#behind} (${time}::bigint, ${key}::bigint, ${tx}::bigint, ${position}::smallint)`;
  }

  #order(column: 'created_lt' | 'created_at', first: readonly Sql[] = []): Sql {
    const dir = this.#sort;
    const order = raw(`m.${column} ${dir}, m.msg_key ${dir}, m.tx_id ${dir}, m.position ${dir}`);
    return join([...first, order], ', ');
  }

  #select(
    conditions: readonly Sql[],
    column: 'created_lt' | 'created_at',
    first: readonly Sql[],
    { offset, count }: RowWindow,
  ): Sql {
    return sql`(SELECT ${MESSAGE_COLUMNS} FROM messages m
      WHERE ${all(conditions)} ORDER BY ${this.#order(column, first)} LIMIT ${raw(offset + count)})`;
  }

  /** The first rows of some parts together, and the transactions that received them. */
  async #rows(
    parts: readonly Sql[],
    column: 'created_lt' | 'created_at',
    { offset, count }: RowWindow,
  ): Promise<MessageFound[]> {
    const manner: PlanningOptions = offset === 0 ? {} : { planned: 'each time' };
    const hashKey = this.#withHashKeys
      ? '(SELECT t.hash_key FROM transactions t WHERE t.id = m.tx_id LIMIT 1)'
      : 'NULL::bigint';
    const place = this.#cells === null ? emptySql : sql`, row_number() OVER (ORDER BY ${this.#order(column)}) AS place`;
    const found = sql`SELECT ${MESSAGE_COLUMNS}, ${raw(hashKey)} AS tx_hash_key,
          ARRAY(
            SELECT unnest(ARRAY[c.id, c.hash_key]) FROM transactions c
            WHERE m.position > 0 AND c.in_msg_key = m.msg_key AND c.id > m.tx_id
          ) AS received${place}
        FROM (
          SELECT * FROM (${join(parts, ' UNION ALL ')}) AS m
          ORDER BY ${this.#order(column)} LIMIT ${raw(count)} OFFSET ${raw(offset)}
        ) AS m ORDER BY ${this.#order(column)}`;
    if (this.#cells === null) return this.#session.rows<MessageFound>(found, manner);
    const rows = await this.#session.rows<PageRow>(withCells(found), manner);
    const messages: Extract<PageRow, MessageFound>[] = [];
    for (const row of rows) {
      if (row.place === null) this.#cells.set(row.id, cellsOf(row));
      else messages.push(row);
    }
    return messages.sort((a, b) => Number(a.place - b.place));
  }

  /** All conditions on keys except the driving one, and the direction. */
  #others(driver: DrivingCondition | null): Sql[] {
    const conditions = keyConditions(this.#filter)
      .filter(({ name }) => name !== driver?.condition.name)
      .map(({ holds }) => holds);
    const { direction } = this.#filter;
    if (this.#filter.exclude_system === true) conditions.push(sql`NOT ${isSystemMessage('m')}`);
    if (direction === 'out') conditions.push(sql`m.position > 0`);
    if (direction === 'in') {
      conditions.push(
        sql`(m.position = 0 OR EXISTS (SELECT FROM transactions c WHERE c.in_msg_key = m.msg_key AND c.id > m.tx_id OFFSET 0))`,
      );
    }
    return conditions;
  }

  async #chooseDriver(): Promise<DrivingCondition | null> {
    const conditions = keyConditions(this.#filter).filter((condition) => !this.#isOrder(condition));
    const [only] = conditions;
    if (only === undefined) return null;
    if (conditions.length === 1 && (!this.#byTime || only.name === 'msg_hash')) return { condition: only, count: 0 };
    return mostSelective(
      this.#session,
      conditions,
      withinTimeRange(this.#bounds, ...TIMES),
      this.#session.thresholds.messages,
    );
  }

  /** Messages without a source have no created_lt, which the order finds. */
  #isOrder({ name }: KeyCondition): boolean {
    return name === 'source' && this.#filter.source === null;
  }
}

/** The filters on a message itself. */
export type MessagePredicate = Pick<MessageFilter, 'msg_hash' | 'body_hash' | 'source' | 'destination' | 'opcode'>;

/** A condition that an index of `messages` can find rows by. */
export interface KeyCondition {
  readonly name: 'msg_hash' | 'body_hash' | 'source' | 'destination' | 'opcode';
  /** In the form that uses the index. */
  readonly finds: Sql;
  /** The column and its value, where the index continues with created_lt. */
  readonly ordered: { readonly column: Sql; readonly value: Sql } | null;
  /** The same in a form that no index serves: to be checked only in rows that are found otherwise. */
  readonly holds: Sql;
}

/** The conditions of a predicate by the keys of the table `m`. */
export function keyConditions(filter: MessagePredicate): KeyCondition[] {
  const { msg_hash, body_hash, source, destination, opcode } = filter;
  const conditions: KeyCondition[] = [];
  if (msg_hash !== undefined) {
    const keys = [...new Set(msg_hash.map(hashKey))];
    // The cast makes it one value instead of a set of rows.
    const list = sql`${opaqueToPlanner(keys, 'bigint[]')}::bigint[]`;
    const finds = sql`(m.msg_key = ANY(${list}) OR m.norm_key = ANY(${list}))`;
    const holds = sql`(m.msg_key + 0 = ANY(${keys}::bigint[]) OR m.norm_key + 0 = ANY(${keys}::bigint[]))`;
    conditions.push({ name: 'msg_hash', finds, holds, ordered: null });
  }
  const add = (name: KeyCondition['name'], column: string, type: string, value: bigint | number | null) => {
    const [plain, hidden] = [raw(`m.${column}`), raw(`m.${column} + 0`)];
    if (value === null) {
      conditions.push({ name, finds: sql`${plain} IS NULL`, holds: sql`${hidden} IS NULL`, ordered: null });
    } else {
      const given = sql`${value}::${raw(type)}`;
      const ordered = { column: plain, value: given };
      conditions.push({ name, finds: sql`${plain} = ${given}`, holds: sql`${hidden} = ${given}`, ordered });
    }
  };
  if (body_hash !== undefined) add('body_hash', 'body_key', 'bigint', hashKey(body_hash));
  if (source !== undefined) add('source', 'source_key', 'bigint', source && accountKey(addressBytes(source)));
  if (destination !== undefined) {
    add('destination', 'destination_key', 'bigint', destination && accountKey(addressBytes(destination)));
  }
  if (opcode !== undefined) add('opcode', 'opcode', 'integer', opcode | 0);
  return conditions;
}

/** Compares a message with the whole values of the filter. */
export function meetsPredicate(filter: MessagePredicate, message: MessageFacts): boolean {
  const { msg_hash, body_hash, source, destination, opcode } = filter;
  if (msg_hash !== undefined) {
    const wanted = new Set(msg_hash.map(toHex));
    if (!message.hashes.some((hash) => wanted.has(toHex(hash)))) return false;
  }
  if (opcode !== undefined && message.opcode !== opcode >>> 0) return false;
  if (source === null ? !message.isExternalIn : source !== undefined && message.source?.equals(source) !== true)
    return false;
  if (
    destination === null
      ? !message.isExternalOut
      : destination !== undefined && message.destination?.equals(destination) !== true
  ) {
    return false;
  }
  return body_hash === undefined || bytesEqual(message.bodyHash, body_hash);
}

/** The condition that rows are found by, and how many it finds: exactly, or at least `most`. */
export interface DrivingCondition {
  readonly condition: KeyCondition;
  readonly count: number;
}

/**
 * The condition that finds the fewest rows. At most `most` are counted: with more, matching rows come soon in any order.
 *
 * @param within further conditions of the rows to count, such as bounds
 */
export async function mostSelective(
  session: IndexSession,
  conditions: readonly KeyCondition[],
  within: readonly Sql[],
  most: number,
): Promise<DrivingCondition> {
  const byHash = conditions.find(({ name }) => name === 'msg_hash');
  if (byHash !== undefined) return { condition: byHash, count: 0 };
  const counts = conditions.map(
    ({ finds }) => sql`(SELECT count(*) FROM (
      SELECT FROM messages m WHERE ${all([finds, ...within])} LIMIT ${raw(most)}
    ) AS c)`,
  );
  const [row] = await session.rows<{ counts: bigint[] }>(sql`SELECT ARRAY[${join(counts, ', ')}] AS counts`);
  const best = row!.counts.reduce((least, count, i, list) => (count < list[least]! ? i : least), 0);
  return { condition: conditions[best]!, count: Number(row!.counts[best]!) };
}

/** Whether the filter contradicts itself, so that no message can match. */
export function isImpossible(filter: MessageFilter): boolean {
  const { source, destination, direction, exclude_externals, only_externals } = filter;
  const isExternalIn = source === null || only_externals === true;
  if (filter.msg_hash?.length === 0) return true;
  // External-in, and sent by a contract, external-out, excluded, or with times that only messages of contracts have.
  if (isExternalIn && (source instanceof Object || destination === null || direction === 'out')) return true;
  if (isExternalIn && (exclude_externals === true || hasTime(filter) || hasLt(filter))) return true;
  return destination === null && direction === 'in';
}
