import {
  parseTokenEvent,
  type TokenEvent,
  type TokenEventBodies,
  type TokenEventKind,
} from '#domain/tokens/token-messages.js';
import { accountKey, addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Listed, MessageDirection, Page, TimeBounds } from '#drivers/store/read/index-types.js';
import {
  hasLt,
  hasTime,
  type OrderKey,
  type RowWindow,
  readPage,
  storableTimeRange,
  type TimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import { all, type IndexSession, join, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import { completeTransactions } from '#drivers/store/read/transaction-assembly.js';
import { StoredTransaction } from '#drivers/store/stored-transaction.js';
import { isAborted, TOKEN_EVENT_KINDS } from '#drivers/store/write/token-events.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** A row that matches the filter. */
interface MatchedEvent<Kind extends ListedTokenKind> {
  readonly found: TokenEventFound;
  readonly event: IndexedTokenEvent<Kind>;
}

/** A page of the events of a kind. */
export async function readTokenEvents<Kind extends ListedTokenKind>(
  session: IndexSession,
  kind: Kind,
  filter: TokenEventFilter,
  page: Page,
): Promise<Listed<IndexedTokenEvent<Kind>>> {
  const list = new TokenEventList(session, kind, filter, page.sort);
  const { rows, next } = await readPage<TokenEventFound, MatchedEvent<Kind>>(
    {
      name: `tokenEvents ${kind}`,
      filter,
      keyParts: list.keyParts,
      read: (window) => list.read(window),
      check: (found) => matchEvents(session, kind, filter, found),
      keyOf: (row) => list.keyOf(row),
    },
    page,
  );
  return { rows: await withWholeCells(session, rows), next };
}

/** Compares rows that were found by keys with the whole values of the filter. */
async function matchEvents<Kind extends ListedTokenKind>(
  session: IndexSession,
  kind: Kind,
  filter: TokenEventFilter,
  found: readonly TokenEventFound[],
): Promise<(MatchedEvent<Kind> | null)[]> {
  if (found.length === 0) return [];
  const decoded = found.map((row) => {
    const { root } = new StoredTransaction(row.boc);
    const transaction = decodeCell(Transaction, root);
    return { row, root, transaction, account: Address.ofParts(row.workchain, transaction.account_addr) };
  });
  const tokens = await readTokens(
    session,
    kind,
    decoded.map(({ account }) => account),
  );
  return decoded.map(({ row, root, transaction, account }) => {
    const { in_msg } = transaction;
    const event = in_msg === null ? null : parseTokenEvent(in_msg.value);
    const token = tokens.get(account.toRaw());
    // An account without a row is not verified and only shares its key with one that is.
    if (event?.kind !== kind || token === undefined) return null;
    const aborted = isAborted(transaction.description.value);
    if (!meetsTokenFilter(filter, { ...event, account, token }) || (aborted && kind === 'jetton_transfer')) return null;
    const { id, lt, now, trace_id, trace_root } = row;
    const place = { id, kind, hash: root.hash(0).slice(), lt, now: Number(now), aborted, trace_id, trace_root };
    const body = event.body as IndexedTokenEvent<Kind>['body'];
    return { found: row, event: { ...place, account, token, source: event.source, body } };
  });
}

/** The master or collection of each known account, by raw address; null: an item without a collection. */
async function readTokens(
  session: IndexSession,
  kind: ListedTokenKind,
  accounts: readonly Address[],
): Promise<ReadonlyMap<string, Address | null>> {
  const addresses = [...new Map(accounts.map((account) => [account.toRaw(), addressBytes(account)])).values()];
  const given = opaqueToPlanner(addresses, 'bytea[]');
  const rows = await session.rows<{ address: Uint8Array; token: Uint8Array | null }>(
    kind === 'nft_transfer'
      ? sql`SELECT n.address, n.collection AS token FROM unnest(${given}) AS k(address)
          CROSS JOIN LATERAL (SELECT * FROM nft_items n WHERE n.address = k.address LIMIT 1) AS n`
      : sql`SELECT w.address, w.jetton AS token FROM unnest(${given}) AS k(address)
          CROSS JOIN LATERAL (SELECT * FROM jetton_wallets w WHERE w.address = k.address LIMIT 1) AS w`,
  );
  return new Map(
    rows.map(({ address, token }) => [addressOfBytes(address).toRaw(), token === null ? null : addressOfBytes(token)]),
  );
}

/** Payloads may contain a code that is stored apart; then the body is decoded again from the whole transaction. */
async function withWholeCells<Kind extends ListedTokenKind>(
  session: IndexSession,
  rows: readonly MatchedEvent<Kind>[],
): Promise<IndexedTokenEvent<Kind>[]> {
  const partial = rows.filter(({ event }) => payloadsOf(event.body).some((cell) => cell.levelMask !== 0));
  if (partial.length === 0) return rows.map(({ event }) => event);
  const cells = await completeTransactions(
    session,
    partial.map(({ found }) => new StoredTransaction(found.boc)),
  );
  const whole = new Map(partial.map(({ event }, i) => [event.id, cells[i]!]));
  return rows.map(({ event }) => {
    const cell = whole.get(event.id);
    if (cell === undefined) return event;
    const { in_msg } = decodeCell(Transaction, cell);
    return { ...event, body: parseTokenEvent(in_msg!.value)!.body as IndexedTokenEvent<Kind>['body'] };
  });
}

function payloadsOf(body: {
  readonly custom_payload: Cell | null;
  readonly forward_payload?: Cell | null;
}): readonly Cell[] {
  return [body.custom_payload, body.forward_payload ?? null].filter((cell) => cell !== null);
}

/** Kinds of events that are listed. Aborted jetton transfers are not. */
export type ListedTokenKind = Exclude<TokenEventKind, 'jetton_mint'>;

/** Filters are combined with AND; a list matches any of its items, an empty one nothing. `*_utime` and `*_lt` bound the transaction. */
export interface TokenEventFilter extends TimeBounds {
  /** Previous or new owner; of a burn the previous owner. */
  readonly owner?: readonly Address[] | undefined;
  /** With `owner`, of transfers: `in`: the new owner; `out`: the previous owner; absent: either. */
  readonly direction?: MessageDirection | undefined;
  /** The jetton wallet (of the sender) or the item that received the message. */
  readonly account?: readonly Address[] | undefined;
  /** The jetton master, or the collection. */
  readonly token?: Address | undefined;
}

/** A jetton or NFT message to a wallet or item that is or was verified. */
export type IndexedTokenEvent<Kind extends ListedTokenKind = ListedTokenKind> = {
  readonly id: bigint;
  readonly kind: Kind;
  /** Hash of the transaction; the following fields are of it, too. */
  readonly hash: Uint8Array;
  readonly lt: bigint;
  readonly now: number;
  readonly aborted: boolean;
  /** Null while the trace is not known. */
  readonly trace_id: Uint8Array | null;
  readonly trace_root: bigint;
  /** The jetton wallet, or the item. */
  readonly account: Address;
  /** The jetton master, or the collection; null: an item without one. */
  readonly token: Address | null;
  /** The sender of the message. */
  readonly source: Address;
  readonly body: TokenEventBodies[Kind];
};

/** Compares an event with the whole values of a filter. */
function meetsTokenFilter(
  { owner, direction, account, token }: TokenEventFilter,
  event: TokenEvent & { readonly account: Address; readonly token: Address | null },
): boolean {
  const holds = (list: readonly Address[], address: Address | null) =>
    address !== null && list.some((each) => each.equals(address));
  if (account !== undefined && !holds(account, event.account)) return false;
  if (token !== undefined && event.token?.equals(token) !== true) return false;
  if (owner === undefined) return true;
  if (event.kind === 'jetton_burn') return holds(owner, event.source);
  return (direction !== 'in' && holds(owner, event.source)) || (direction !== 'out' && holds(owner, event.destination));
}

/** A row of `token_events`, with its transaction. */
interface TokenEventFound {
  readonly id: bigint;
  readonly lt: bigint;
  readonly now: bigint;
  readonly workchain: number;
  readonly boc: Uint8Array;
  readonly trace_id: Uint8Array | null;
  readonly trace_root: bigint;
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

/** The list of events of a kind that match a filter, by keys. */
class TokenEventList {
  readonly #session: IndexSession;
  readonly #kind: Sql;
  readonly #sort: 'asc' | 'desc';
  readonly #byTime: boolean;
  readonly #bounds: TimeRange;
  readonly #conditions: readonly KeyCondition[];
  /** The condition that rows are found by, and how many it finds as far as counted; null: the sort order. */
  #driver: { readonly condition: KeyCondition; readonly count: number } | null | undefined;

  constructor(session: IndexSession, kind: ListedTokenKind, filter: TokenEventFilter, sort: 'asc' | 'desc') {
    this.#session = session;
    this.#kind = raw(TOKEN_EVENT_KINDS[kind]);
    this.#sort = sort;
    this.#byTime = hasTime(filter);
    this.#bounds = storableTimeRange(filter);
    this.#conditions = keyConditions(kind, filter);
  }

  get keyParts(): number {
    return this.#byTime ? 3 : 2;
  }

  keyOf({ now, lt, id }: TokenEventFound): OrderKey {
    return this.#byTime ? [now, lt, id] : [lt, id];
  }

  async read(window: RowWindow): Promise<TokenEventFound[]> {
    if (this.#conditions.some(({ keys }) => keys.length === 0)) return [];
    this.#driver ??= await this.#chooseDriver();
    const behind = this.#behind(window.after);
    const bounds = this.#boundsBehind(window.after);
    const source = await this.#source(bounds, behind, window);
    const { count, offset } = window;
    const end = raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
    return this.#session.rows<TokenEventFound>(
      sql`SELECT t.id, t.lt, t.now, t.workchain, t.boc, t.trace_root, (SELECT x.trace_id FROM traces x WHERE x.root = t.trace_root) AS trace_id
        FROM (SELECT e.tx_id, e.lt, e.now FROM (${source}) AS e ORDER BY ${this.#order} ${end}) AS e
        CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = e.tx_id LIMIT 1) AS t
        ORDER BY ${this.#order}`,
      offset === 0 ? {} : { planned: 'each time' },
    );
  }

  /** Rows whose first ones are those of the window. */
  async #source(bounds: TimeRange, behind: readonly Sql[], { count, offset }: RowWindow): Promise<Sql> {
    const driver = this.#driver!;
    const first = count + offset;
    if (driver === null) {
      const more = hasTime(bounds) && hasLt(bounds) ? await translateTimeRange(this.#session, bounds) : bounds;
      return sql`SELECT * FROM token_events e WHERE ${all([this.#listed, ...withinTimeRange(more, ...TIMES), ...behind])}
        ORDER BY ${this.#order} LIMIT ${raw(first)}`;
    }
    const { condition } = driver;
    if (!this.#byTime) return this.#driven(condition, bounds, behind, first);
    if (driver.count < this.#session.thresholds.tokenEvents) return this.#driven(condition, bounds, behind, null);
    // The indexes of keys are by lt, which nearly rises with time. The first rows by lt give a time that the page cannot exceed; all
    // rows of the key that can be before that time are sorted.
    const near = await translateTimeRange(this.#session, bounds);
    const [edge] = await this.#session.rows<{ now: bigint | null; rows: bigint }>(
      sql`SELECT ${raw(this.#sort === 'desc' ? 'min' : 'max')}(e.now) AS now, count(*) AS rows
        FROM (${this.#driven(condition, near, behind, first)} ORDER BY e.lt ${raw(this.#sort)} LIMIT ${raw(first)}) AS e`,
      { planned: 'each time' },
    );
    if (edge?.now == null || Number(edge.rows) < first) return this.#driven(condition, near, behind, null);
    const time = Number(edge.now);
    const narrower = this.#sort === 'desc' ? { ...bounds, start_utime: time } : { ...bounds, end_utime: time };
    return this.#driven(condition, await translateTimeRange(this.#session, narrower), behind, null);
  }

  /**
   * The rows of the keys of a condition within bounds, of each key the first `most` by lt. A row comparison: with `key = …` the planner
   * assumes an average key and sorts the millions of rows of a frequent one.
   */
  #driven({ columns, keys }: KeyCondition, bounds: TimeRange, behind: readonly Sql[], most: number | null): Sql {
    const others = this.#conditions.filter(({ columns: [first] }) => first !== columns[0]).map(holds);
    const parts = columns.map((column, i) => {
      const conditions = [
        ...this.#ofKey(column, bounds),
        this.#listed,
        ...others,
        ...withinTimeRange(bounds, ...TIMES),
        ...behind,
      ];
      // Rows that a previous column finds already.
      for (const before of columns.slice(0, i)) conditions.push(sql`e.${raw(before)} + 0 <> ALL(${keys}::bigint[])`);
      const dir = this.#sort;
      const end = raw(
        most === null ? 'OFFSET 0' : `ORDER BY e.${column} ${dir}, e.kind ${dir}, e.lt ${dir}, e.tx_id LIMIT ${most}`,
      );
      return sql`SELECT e.* FROM unnest(${opaqueToPlanner(keys, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (SELECT * FROM token_events e WHERE ${all(conditions)} ${end}) AS e`;
    });
    return sql`SELECT * FROM (${join(parts, ' UNION ALL ')}) AS e`;
  }

  /** The rows of the key `k.key` in a column within bounds of lt, in the form of the index of the column. */
  #ofKey(column: KeyColumn, { start_lt, end_lt }: TimeRange): Sql[] {
    const place = raw(`(e.${column}, e.kind, e.lt)`);
    return [
      sql`${place} >= (k.key, ${this.#kind}::smallint, ${start_lt ?? LEAST}::bigint)`,
      sql`${place} <= (k.key, ${this.#kind}::smallint, ${end_lt ?? GREATEST}::bigint)`,
    ];
  }

  /** The predicate of all indexes for lists. */
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

  /** The bounds, narrowed to the rows after an order key. */
  #boundsBehind(after: OrderKey | null): TimeRange {
    const place = after?.[0];
    if (place == null) return this.#bounds;
    const isFalling = this.#sort === 'desc';
    if (this.#byTime) return { ...this.#bounds, [isFalling ? 'end_utime' : 'start_utime']: Number(place) };
    return { ...this.#bounds, [isFalling ? 'end_lt' : 'start_lt']: place };
  }

  /** The condition that finds the fewest rows. A bounded number is counted: with more, matching rows come soon in any order. */
  async #chooseDriver(): Promise<{ readonly condition: KeyCondition; readonly count: number } | null> {
    const [only, ...others] = this.#conditions;
    if (only === undefined) return null;
    if (others.length === 0 && !this.#byTime) return { condition: only, count: 0 };
    const most = this.#session.thresholds.tokenEvents;
    const bounds = this.#byTime ? await translateTimeRange(this.#session, this.#bounds) : this.#bounds;
    const counts = this.#conditions.map(({ columns, keys }) => {
      const rows = columns.map(
        (column) => sql`(SELECT FROM unnest(${opaqueToPlanner(keys, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
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

/** A condition in a form that no index serves: to be checked only in rows that are found otherwise. */
function holds({ columns, keys }: KeyCondition): Sql {
  const each = columns.map((column) => sql`e.${raw(column)} + 0 = ANY(${keys}::bigint[])`);
  return sql`(${join(each, ' OR ')})`;
}
