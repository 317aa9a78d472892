import { type Bounds, hasLt, hasTime, storableBounds, translateBounds, within } from '#drivers/store/read/bounds.js';
import type { OrderKey } from '#drivers/store/read/cursor.js';
import type { MessageFilter } from '#drivers/store/read/index-reads.js';
import type { IndexSession, QueryManner } from '#drivers/store/read/index-session.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import {
  type Driver,
  fewest,
  isImpossible,
  type KeyCondition,
  keyConditions,
} from '#drivers/store/read/message-predicate.js';
import { all, join, raw, type Sql, sql } from '#drivers/store/read/sql.js';

/** A row of `messages` as far as reads need it. */
export interface MessageFound {
  readonly tx_id: bigint;
  readonly msg_key: bigint;
  readonly created_lt: bigint | null;
  readonly created_at: bigint | null;
  readonly position: number;
  /** Transactions that received a message with this key. */
  readonly received: readonly bigint[];
}

const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;
const TIMES = [raw('m.created_lt'), raw('m.created_at')] as const;

/** The list of messages that meet a filter, by keys. */
export class MessageList {
  readonly #session: IndexSession;
  readonly #filter: MessageFilter;
  readonly #sort: 'asc' | 'desc';
  readonly #byTime: boolean;
  readonly #bounds: Bounds;
  /** What rows are found by; null: by their order. */
  #driver: Driver | null | undefined;

  constructor(session: IndexSession, filter: MessageFilter, sort: 'asc' | 'desc') {
    this.#session = session;
    this.#filter = filter;
    this.#sort = sort;
    this.#byTime = hasTime(filter);
    this.#bounds = storableBounds(filter);
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
    this.#driver ??= await this.#chooseDriver();
    return this.#byTime ? this.#readByTime(stretch, this.#driver) : this.#readByLt(stretch, this.#driver);
  }

  /**
   * Messages from outside have no created_lt. They are the last ones, and a part of their own: a comparison with created_lt
   * finds none of them.
   */
  async #readByLt(stretch: Stretch, driver: Driver | null): Promise<MessageFound[]> {
    const { source, only_externals, exclude_externals } = this.#filter;
    const { after, count, offset } = stretch;
    const isOutsideOnly = source === null || only_externals === true;
    const isInsideOnly = exclude_externals === true || hasLt(this.#filter) || source instanceof Object;
    const parts: ('inside' | 'outside')[] = [];
    if (!isOutsideOnly) parts.push('inside');
    if (!isInsideOnly) parts.push('outside');
    if (this.#sort === 'desc') parts.reverse();
    if (after === null) {
      // One index has both parts in their order.
      if (driver === null && parts.length > 1)
        return this.#rows([this.#part('all', null, driver, stretch)], 'created_lt', stretch);
      const each = { after, offset: 0, count: count + offset };
      return this.#rows(
        parts.map((part) => this.#part(part, null, driver, each)),
        'created_lt',
        stretch,
      );
    }
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

  /** The first rows of a part behind a key, by created_lt. */
  #part(part: 'inside' | 'outside' | 'all', after: OrderKey | null, driver: Driver | null, stretch: Stretch): Sql {
    const conditions = [...this.#others(driver), ...within(this.#bounds, ...TIMES)];
    if (part === 'outside') {
      conditions.push(raw('m.created_lt IS NULL'));
      if (driver !== null) conditions.push(driver.condition.finds);
      if (after !== null) {
        const [, key, tx, position] = after;
        conditions.push(
          sql`(m.msg_key, m.tx_id, m.position) ${this.#behind} (${key}::bigint, ${tx}::bigint, ${position}::smallint)`,
        );
      }
      return this.#select(conditions, 'created_lt', [], stretch);
    }
    if (part === 'inside') conditions.push(raw('m.created_lt IS NOT NULL'));
    if (after !== null) conditions.push(this.#isBehind('created_lt', after));
    const edge = after === null ? {} : this.#sort === 'desc' ? { end_lt: after[0]! } : { start_lt: after[0]! };
    const found = this.#driven(driver, { ...this.#bounds, ...edge });
    return this.#select([...conditions, ...found.conditions], 'created_lt', found.order, stretch);
  }

  async #readByTime(stretch: Stretch, driver: Driver | null): Promise<MessageFound[]> {
    const { after, count, offset } = stretch;
    const edge =
      after === null ? {} : this.#sort === 'desc' ? { end_utime: Number(after[0]) } : { start_utime: Number(after[0]) };
    const behind = after === null ? [] : [this.#isBehind('created_at', after)];
    let bounds: Bounds = { ...this.#bounds, ...edge };
    const ordered =
      driver !== null && driver.count >= this.#session.thresholds.messages ? driver.condition.ordered : null;
    if (ordered !== null || (driver === null && hasLt(bounds))) bounds = await translateBounds(this.#session, bounds);
    if (ordered !== null) {
      // The index of the key is by created_lt, which rises with created_at nearly. So many rows by created_lt give a time that
      // the page does not go behind; all rows that can be before that time are sorted.
      const { conditions, order } = this.#driven(driver, bounds);
      const [edge] = await this.#session.rows<{ created_at: bigint | null; rows: bigint }>(
        sql`SELECT ${raw(this.#sort === 'desc' ? 'min' : 'max')}(m.created_at) AS created_at, count(*) AS rows FROM (
            SELECT m.created_at FROM messages m
            WHERE ${all([...conditions, ...this.#others(driver), ...within(bounds, ...TIMES), ...behind])}
            ORDER BY ${join([...order, sql`m.created_lt ${raw(this.#sort)}`], ', ')} LIMIT ${raw(offset + count)}
          ) AS m`,
        { planned: 'each time' },
      );
      if (edge?.created_at != null && Number(edge.rows) === offset + count) {
        const time = Number(edge.created_at);
        const narrower = this.#sort === 'desc' ? { ...bounds, start_utime: time } : { ...bounds, end_utime: time };
        bounds = await translateBounds(this.#session, narrower);
      }
    }
    const found =
      ordered === null ? { conditions: driver === null ? [] : [driver.condition.finds] } : this.#driven(driver, bounds);
    const conditions = [...found.conditions, ...this.#others(driver), ...within(bounds, ...TIMES), ...behind];
    return this.#rows(
      [this.#select(conditions, 'created_at', [], { ...stretch, offset: 0, count: count + offset })],
      'created_at',
      stretch,
    );
  }

  /**
   * The rows of a key within bounds of created_lt, and what to sort them by first. Written as a comparison of rows: with
   * `key = …` the planner takes the key for one like the others, and sorts the millions of rows of a frequent one.
   */
  #driven(driver: Driver | null, { start_lt, end_lt }: Bounds): { conditions: Sql[]; order: Sql[] } {
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
    { offset, count }: Stretch,
  ): Sql {
    return sql`(SELECT m.tx_id, m.msg_key, m.created_lt, m.created_at, m.position FROM messages m
      WHERE ${all(conditions)} ORDER BY ${this.#order(column, first)} LIMIT ${raw(offset + count)})`;
  }

  /** The first rows of some parts together, and by whom they were received. */
  #rows(
    parts: readonly Sql[],
    column: 'created_lt' | 'created_at',
    { offset, count }: Stretch,
  ): Promise<MessageFound[]> {
    const manner: QueryManner = offset === 0 ? {} : { planned: 'each time' };
    return this.#session.rows<MessageFound>(
      sql`SELECT m.tx_id, m.msg_key, m.created_lt, m.created_at, m.position,
          ARRAY(SELECT c.id FROM transactions c WHERE m.position > 0 AND c.in_msg_key = m.msg_key AND c.id > m.tx_id) AS received
        FROM (
          SELECT * FROM (${join(parts, ' UNION ALL ')}) AS m
          ORDER BY ${this.#order(column)} LIMIT ${raw(count)} OFFSET ${raw(offset)}
        ) AS m ORDER BY ${this.#order(column)}`,
      manner,
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

  async #chooseDriver(): Promise<Driver | null> {
    const conditions = keyConditions(this.#filter).filter((condition) => !this.#isOrder(condition));
    const [only] = conditions;
    if (only === undefined) return null;
    if (conditions.length === 1 && (!this.#byTime || only.name === 'msg_hash')) return { condition: only, count: 0 };
    return fewest(this.#session, conditions, within(this.#bounds, ...TIMES), this.#session.thresholds.messages);
  }

  /** Without a source is without created_lt, which the order finds. */
  #isOrder({ name }: KeyCondition): boolean {
    return name === 'source' && this.#filter.source === null;
  }
}
