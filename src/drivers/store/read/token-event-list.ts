import { TOKEN_KINDS } from '#drivers/store/encode/token-candidate.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { type Bounds, hasLt, hasTime, storableBounds, translateBounds, within } from '#drivers/store/read/bounds.js';
import type { OrderKey } from '#drivers/store/read/cursor.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { Stretch } from '#drivers/store/read/keyset-page.js';
import { all, join, raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import type { ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import type { Address } from '#formats/address/address.js';

/** A row of `token_events`, with its transaction. */
export interface TokenEventFound {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: bigint;
  readonly workchain: number;
  readonly boc: Uint8Array;
  readonly trace_id: Uint8Array | null;
}

type KeyColumn = 'account_key' | 'token_key' | 'source_key' | 'destination_key';

/** A condition on keys: one of these columns has one of these keys. */
interface KeyCondition {
  readonly columns: readonly KeyColumn[];
  readonly keys: readonly bigint[];
}

const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;
const TIMES = [raw('e.lt'), raw('e.now')] as const;

/** The list of events of a kind that meet a filter, by keys. */
export class TokenEventList {
  readonly #session: IndexSession;
  readonly #kind: Sql;
  readonly #sort: 'asc' | 'desc';
  readonly #byTime: boolean;
  readonly #bounds: Bounds;
  readonly #conditions: readonly KeyCondition[];
  /** What rows are found by, and how many it finds as far as was counted; null: by their order. */
  #driver: { readonly condition: KeyCondition; readonly count: number } | null | undefined;

  constructor(session: IndexSession, kind: ListedTokenKind, filter: TokenEventFilter, sort: 'asc' | 'desc') {
    this.#session = session;
    this.#kind = raw(TOKEN_KINDS[kind]);
    this.#sort = sort;
    this.#byTime = hasTime(filter);
    this.#bounds = storableBounds(filter);
    this.#conditions = keyConditions(kind, filter);
  }

  get keyParts(): number {
    return this.#byTime ? 3 : 2;
  }

  keyOf({ now, lt, id }: TokenEventFound): OrderKey {
    return this.#byTime ? [now, lt, id] : [lt, id];
  }

  async read(stretch: Stretch): Promise<TokenEventFound[]> {
    if (this.#conditions.some(({ keys }) => keys.length === 0)) return [];
    this.#driver ??= await this.#chooseDriver();
    const behind = this.#behind(stretch.after);
    const bounds = this.#boundsBehind(stretch.after);
    const source = await this.#source(bounds, behind, stretch);
    const { count, offset } = stretch;
    const end = raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
    return this.#session.rows<TokenEventFound>(
      sql`SELECT t.id, t.lt, t.now, t.workchain, t.boc, (SELECT x.trace_id FROM traces x WHERE x.root = t.trace_root) AS trace_id
        FROM (SELECT e.tx_id, e.lt, e.now FROM (${source}) AS e ORDER BY ${this.#order} ${end}) AS e
        CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = e.tx_id LIMIT 1) AS t
        ORDER BY ${this.#order}`,
      offset === 0 ? {} : { planned: 'each time' },
    );
  }

  /** Rows among which those of the stretch are the first ones. */
  async #source(bounds: Bounds, behind: readonly Sql[], { count, offset }: Stretch): Promise<Sql> {
    const driver = this.#driver!;
    const first = count + offset;
    if (driver === null) {
      const more = hasTime(bounds) && hasLt(bounds) ? await translateBounds(this.#session, bounds) : bounds;
      return sql`SELECT * FROM token_events e WHERE ${all([this.#listed, ...within(more, ...TIMES), ...behind])}
        ORDER BY ${this.#order} LIMIT ${raw(first)}`;
    }
    const { condition } = driver;
    if (!this.#byTime) return this.#driven(condition, bounds, behind, first);
    if (driver.count < this.#session.thresholds.tokenEvents) return this.#driven(condition, bounds, behind, null);
    // The indexes of keys are by lt, which rises with the time nearly. So many rows by lt give a time that the page does not go
    // behind; all rows of the key that can be before that time are sorted.
    const near = await translateBounds(this.#session, bounds);
    const [edge] = await this.#session.rows<{ now: bigint | null; rows: bigint }>(
      sql`SELECT ${raw(this.#sort === 'desc' ? 'min' : 'max')}(e.now) AS now, count(*) AS rows
        FROM (${this.#driven(condition, near, behind, first)} ORDER BY e.lt ${raw(this.#sort)} LIMIT ${raw(first)}) AS e`,
      { planned: 'each time' },
    );
    if (edge?.now == null || Number(edge.rows) < first) return this.#driven(condition, near, behind, null);
    const time = Number(edge.now);
    const narrower = this.#sort === 'desc' ? { ...bounds, start_utime: time } : { ...bounds, end_utime: time };
    return this.#driven(condition, await translateBounds(this.#session, narrower), behind, null);
  }

  /**
   * The rows of the keys of a condition within bounds, of each key the first `most` by lt. Written as a comparison of rows: with
   * `key = …` the planner takes the key for one like the others, and sorts the millions of rows of a frequent one.
   */
  #driven({ columns, keys }: KeyCondition, bounds: Bounds, behind: readonly Sql[], most: number | null): Sql {
    const others = this.#conditions.filter(({ columns: [first] }) => first !== columns[0]).map(holds);
    const parts = columns.map((column, i) => {
      const conditions = [
        ...this.#ofKey(column, bounds),
        this.#listed,
        ...others,
        ...within(bounds, ...TIMES),
        ...behind,
      ];
      // Found by a column before, by this key or another one.
      for (const before of columns.slice(0, i)) conditions.push(sql`e.${raw(before)} + 0 <> ALL(${keys}::bigint[])`);
      const dir = this.#sort;
      const end = raw(
        most === null ? 'OFFSET 0' : `ORDER BY e.${column} ${dir}, e.kind ${dir}, e.lt ${dir}, e.tx_id LIMIT ${most}`,
      );
      return sql`SELECT e.* FROM unnest(${unseen(keys, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (SELECT * FROM token_events e WHERE ${all(conditions)} ${end}) AS e`;
    });
    return sql`SELECT * FROM (${join(parts, ' UNION ALL ')}) AS e`;
  }

  /** The rows of the key `k.key` in a column within bounds of lt, as the column's index has them. */
  #ofKey(column: KeyColumn, { start_lt, end_lt }: Bounds): Sql[] {
    const place = raw(`(e.${column}, e.kind, e.lt)`);
    return [
      sql`${place} >= (k.key, ${this.#kind}::smallint, ${start_lt ?? LEAST}::bigint)`,
      sql`${place} <= (k.key, ${this.#kind}::smallint, ${end_lt ?? GREATEST}::bigint)`,
    ];
  }

  /** What all indexes of lists have in common. */
  get #listed(): Sql {
    return sql`e.kind = ${this.#kind} AND e.kind IN (1, 2, 4) AND e.confirmed`;
  }

  get #order(): Sql {
    const dir = this.#sort;
    return raw(this.#byTime ? `e.now ${dir}, e.lt ${dir}, e.tx_id` : `e.lt ${dir}, e.tx_id`);
  }

  #behind(after: OrderKey | null): Sql[] {
    if (after === null) return [];
    const compare = raw(this.#sort === 'desc' ? '<' : '>');
    if (this.#byTime) {
      const [now, lt, id] = after;
      return [
        sql`(e.now, e.lt) ${compare}= (${now}::bigint, ${lt}::bigint)`,
        sql`((e.now, e.lt) ${compare} (${now}::bigint, ${lt}::bigint) OR e.tx_id > ${id}::bigint)`,
      ];
    }
    const [lt, id] = after;
    return [sql`e.lt ${compare}= ${lt}::bigint`, sql`(e.lt ${compare} ${lt}::bigint OR e.tx_id > ${id}::bigint)`];
  }

  /** The bounds, and where the order goes on behind a row. */
  #boundsBehind(after: OrderKey | null): Bounds {
    const place = after?.[0];
    if (place == null) return this.#bounds;
    const isFalling = this.#sort === 'desc';
    if (this.#byTime) return { ...this.#bounds, [isFalling ? 'end_utime' : 'start_utime']: Number(place) };
    return { ...this.#bounds, [isFalling ? 'end_lt' : 'start_lt']: place };
  }

  /** The condition that finds the fewest rows. Only so many are counted: behind that, rows come soon in any order. */
  async #chooseDriver(): Promise<{ readonly condition: KeyCondition; readonly count: number } | null> {
    const [only, ...others] = this.#conditions;
    if (only === undefined) return null;
    if (others.length === 0 && !this.#byTime) return { condition: only, count: 0 };
    const most = this.#session.thresholds.tokenEvents;
    const bounds = this.#byTime ? await translateBounds(this.#session, this.#bounds) : this.#bounds;
    const counts = this.#conditions.map(({ columns, keys }) => {
      const rows = columns.map(
        (column) => sql`(SELECT FROM unnest(${unseen(keys, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
          SELECT FROM token_events e WHERE ${all([...this.#ofKey(column, bounds), this.#listed])} LIMIT ${raw(most)}
        ) AS e LIMIT ${raw(most)})`,
      );
      return sql`(SELECT count(*) FROM (${join(rows, ' UNION ALL ')}) AS c)`;
    });
    const [row] = await this.#session.rows<{ counts: bigint[] }>(sql`SELECT ARRAY[${join(counts, ', ')}] AS counts`);
    const best = row!.counts.reduce((least, count, i, list) => (count < list[least]! ? i : least), 0);
    return { condition: this.#conditions[best]!, count: Number(row!.counts[best]!) };
  }
}

/** The conditions of a filter by keys. */
function keyConditions(kind: ListedTokenKind, { owner, direction, account, token }: TokenEventFilter): KeyCondition[] {
  const conditions: KeyCondition[] = [];
  const add = (columns: readonly KeyColumn[], addresses: readonly Address[] | undefined) => {
    if (addresses === undefined) return;
    const keys = [...new Set(addresses.map((address) => accountKey(addressBytes(address))))];
    conditions.push({ columns, keys });
  };
  add(['account_key'], account);
  const side = kind === 'jetton_burn' ? 'out' : direction;
  add(side === 'in' ? ['destination_key'] : side === 'out' ? ['source_key'] : ['source_key', 'destination_key'], owner);
  add(['token_key'], token && [token]);
  return conditions;
}

/** A condition in a form that no index serves: it is to be looked at only in rows found otherwise. */
function holds({ columns, keys }: KeyCondition): Sql {
  const each = columns.map((column) => sql`e.${raw(column)} + 0 = ANY(${keys}::bigint[])`);
  return sql`(${join(each, ' OR ')})`;
}
