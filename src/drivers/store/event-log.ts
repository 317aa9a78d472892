import type pg from 'pg';
import type { ClientBase } from 'pg';
import type { Database, ReadLimits } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { dropConnection, withConnectionDeadline } from '#drivers/store/write/locks.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController, sharedSignalOf } from '#kernel/shared-abort.js';

/**
 * What happened to the index:
 *
 * - `committed`: one masterchain block extended the index at its head. The seqnos of these events only rise.
 * - `backfilled`: a range of masterchain blocks was written in any other order; one event for each batch.
 * - `derived`: rows of contracts, of token metadata or of actions changed.
 * - `reset`: what was known of the range does not hold any more. The index was created or pruned, or events between the cursor
 *   and this one are not retained.
 */
type IndexEventKind = 'committed' | 'backfilled' | 'derived' | 'reset';

/** Keys of what an event concerns, as the columns of these names have them (see `migrations/0001-index.sql`). */
export interface TouchedKeys {
  /**
   * `account_key` of each account with a transaction or with changed contract rows, and of those that are the source of a received
   * message which no indexed transaction sent, once.
   */
  readonly accounts: readonly bigint[];
  /** `hash_key` of the transactions, in the order of their ids. */
  readonly transactions: readonly bigint[];
  /** `msg_key` of each message that was sent or received, once; of external-in messages also the key of the normalized hash. */
  readonly messages: readonly bigint[];
  /** Roots of the traces that began, went on or were merged. */
  readonly traces: readonly bigint[];
  /**
   * `account_key` of each jetton master and NFT collection with new or changed confirmed token events, and of those that changed rows
   * of jetton wallets and NFT items name, or named before, once.
   */
  readonly tokens: readonly bigint[];
  /** `account_key` of each destination of a message that is not among `accounts`, once. */
  readonly receivers: readonly bigint[];
  /**
   * `account_key` of each account that new or confirmed token events name as owner, and that changed contract rows name, or named
   * before, as owner or admin, once.
   */
  readonly owners: readonly bigint[];
}

/** An entry of the event log. */
export interface IndexEvent {
  /** 1, 2, 3, … in the order of commits, without gaps. The id of the last event that was handled is a reader's cursor. */
  readonly id: bigint;
  readonly kind: IndexEventKind;
  /** Masterchain seqnos, both included; null: none in particular. */
  readonly range: { readonly from: number; readonly to: number } | null;
  /** Null: anything in the range, or, without a range, anything of this kind. */
  readonly touched: TouchedKeys | null;
}

/** The next events, and where the log ends. */
export interface IndexEventPage {
  readonly events: readonly IndexEvent[];
  /** The id of the newest event of the log; 0 for an empty one. */
  readonly last: bigint;
}

/** What a masterchain block touched. */
export interface TouchedMcBlock {
  readonly mc_seqno: number;
  readonly touched: TouchedKeys;
}

const KINDS: readonly IndexEventKind[] = ['committed', 'backfilled', 'derived', 'reset'];
/** Nothing is touched. */
export const NO_KEYS: TouchedKeys = {
  accounts: [],
  transactions: [],
  messages: [],
  traces: [],
  tokens: [],
  receivers: [],
  owners: [],
};

/** In the order of the column `touched`. Events of older versions end before the last one. */
const LISTS = ['accounts', 'transactions', 'messages', 'traces', 'tokens', 'receivers', 'owners'] as const;
/** Of the first version. */
const LEAST_LISTS = 5;

const CHANNEL = 'tern_index';

/** So many events are retained, and at most {@link PRUNED_TOGETHER} more: at 2.5 masterchain blocks per second about two hours. */
export const EVENTS_RETAINED = 20_000;
const PRUNED_TOGETHER = 256;

// Writing

/** The number in the column `index_events.kind`. */
function eventKindCode(kind: IndexEventKind): number {
  return KINDS.indexOf(kind) + 1;
}

/**
 * Appends events and announces them when the transaction commits. The transaction has raised `index_state.last_event` to the
 * id of the last of them.
 */
export async function appendEvents(client: ClientBase, events: readonly IndexEvent[]): Promise<void> {
  const last = events.at(-1)!.id;
  const first = events[0]!.id;
  const isPruned = (first - 1n) / BigInt(PRUNED_TOGETHER) !== last / BigInt(PRUNED_TOGETHER);
  await client.query({
    name: 'append-index-events',
    text: `WITH pruned AS (DELETE FROM index_events WHERE id <= $6),
           added AS (
             INSERT INTO index_events (id, kind, mc_seqno_from, mc_seqno_to, touched)
             SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::integer[], $4::integer[], $5::bytea[])
           )
           SELECT pg_notify('${CHANNEL}', $7)`,
    values: [
      events.map(({ id }) => id),
      events.map(({ kind }) => eventKindCode(kind)),
      events.map(({ range }) => range?.from ?? null),
      events.map(({ range }) => range?.to ?? null),
      events.map(({ touched }) => touched && encodeTouched(touched)),
      isPruned ? last - BigInt(EVENTS_RETAINED) : 0n,
      String(last),
    ],
  });
}

/**
 * Records in the transaction that changes them that rows of contracts, token metadata or actions changed, so that answers made
 * before do not hold any more. Other transactions that record an event wait until this one ends.
 *
 * @param accounts keys of the contracts, or of the participants of actions; null: any
 * @param others roots of the traces whose actions changed; keys of the owners and tokens of contracts and of token events
 */
export async function recordContractChange(
  client: ClientBase,
  accounts: readonly bigint[] | null,
  others: Partial<Pick<TouchedKeys, 'traces' | 'owners' | 'tokens'>> = {},
): Promise<void> {
  const { rows } = await client.query<{ last_event: bigint }>({
    name: 'record-contract-change',
    text: `UPDATE index_state SET contract_changes = contract_changes + 1, last_event = last_event + 1 RETURNING last_event`,
  });
  const touched = accounts && { ...NO_KEYS, accounts, ...others };
  for (const { last_event: id } of rows) await appendEvents(client, [{ id, kind: 'derived', range: null, touched }]);
}

/** Gathers the keys of a masterchain block from its rows. */
export function touchedKeys(rows: {
  readonly transactions: readonly {
    readonly account_key: bigint;
    readonly hash_key: bigint;
    readonly in_msg_key: bigint | null;
    readonly trace_root: bigint;
  }[];
  readonly messages: readonly {
    readonly msg_key: bigint;
    readonly norm_key: bigint | null;
    readonly destination_key: bigint | null;
  }[];
  readonly traces: Iterable<bigint>;
  /** `account_key` of the sources of received messages that no indexed transaction sent. */
  readonly senders: Iterable<bigint>;
  readonly tokens: Iterable<bigint>;
  readonly owners: Iterable<bigint>;
}): TouchedKeys {
  const accounts = new Set(rows.senders);
  const messages = new Set<bigint>();
  const traces = new Set(rows.traces);
  const receivers = new Set<bigint>();
  for (const { account_key, in_msg_key, trace_root } of rows.transactions) {
    accounts.add(account_key);
    if (in_msg_key !== null) messages.add(in_msg_key);
    traces.add(trace_root);
  }
  for (const { msg_key, norm_key, destination_key } of rows.messages) {
    messages.add(msg_key);
    if (norm_key !== null) messages.add(norm_key);
    if (destination_key !== null && !accounts.has(destination_key)) receivers.add(destination_key);
  }
  return {
    accounts: [...accounts],
    transactions: rows.transactions.map(({ hash_key }) => hash_key),
    messages: [...messages],
    traces: [...traces],
    tokens: [...new Set(rows.tokens)],
    receivers: [...receivers],
    owners: [...new Set(rows.owners)],
  };
}

/** The column `touched`: as `migrations/0003-index-events.sql` says, and since then two more lists: `account_key` of receivers and owners. */
export function encodeTouched(touched: TouchedKeys): Uint8Array {
  let keys = 0;
  for (const list of LISTS) keys += touched[list].length;
  const bytes = new Uint8Array(keys * 8 + LISTS.length * 5);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const name of LISTS) {
    const list = touched[name];
    let count = list.length;
    for (; count > 127; count >>>= 7) bytes[at++] = (count & 127) | 128;
    bytes[at++] = count;
    for (const key of list) {
      view.setBigInt64(at, key);
      at += 8;
    }
  }
  return bytes.subarray(0, at);
}

/** The opposite of {@link encodeTouched}; null: an older version wrote less than is known today. @throws store/stored-value */
export function decodeTouched(bytes: Uint8Array): TouchedKeys | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const lists: Partial<Record<(typeof LISTS)[number], bigint[]>> = {};
  let at = 0;
  const wrong = () =>
    storeErrors['stored-value']({ column: 'index_events.touched', problem: `ends before byte ${at}` });
  for (const [i, name] of LISTS.entries()) {
    if (i >= LEAST_LISTS && at === bytes.length) return null;
    let count = 0;
    for (let shift = 0, byte = 128; byte > 127; shift += 7) {
      if (at >= bytes.length || shift > 28) throw wrong();
      byte = bytes[at++]!;
      count |= (byte & 127) << shift;
    }
    if (count < 0 || at + count * 8 > bytes.length) throw wrong();
    lists[name] = Array.from({ length: count }, (_, i) => view.getBigInt64(at + i * 8));
    at += count * 8;
  }
  return lists as TouchedKeys;
}

// Reading

interface EventRow {
  readonly last_event: bigint;
  readonly id: bigint | null;
  readonly kind: number;
  readonly mc_seqno_from: number | null;
  readonly mc_seqno_to: number | null;
  readonly touched: Uint8Array | null;
}

/**
 * The events after a cursor, in their order. When events after the cursor are not retained any more, or the cursor belongs to
 * another index, there is one event `reset` with the id of the newest one: all that is derived from events has to be read again.
 *
 * @param cursor the id of the last event that was handled; 0: from the first
 */
export async function eventsAfter(
  database: Database,
  cursor: bigint,
  limit: number,
  limits?: ReadLimits,
): Promise<IndexEventPage> {
  const rows = await database.query<EventRow & pg.QueryResultRow>(
    {
      name: 'index-events-after',
      text: `SELECT s.last_event, e.id, e.kind, e.mc_seqno_from, e.mc_seqno_to, e.touched FROM index_state s
             LEFT JOIN LATERAL (SELECT * FROM index_events WHERE id > $1 ORDER BY id LIMIT $2) e ON true ORDER BY e.id`,
      values: [cursor, limit],
    },
    limits,
  );
  const last = rows[0]?.last_event ?? 0n;
  const events = rows.flatMap(({ id, ...row }) => (id === null ? [] : [eventOf(id, row)]));
  const isContinued = cursor === last ? events.length === 0 : events[0]?.id === cursor + 1n;
  if (isContinued || rows.length === 0) return { events, last };
  return { events: [{ id: last, kind: 'reset', range: null, touched: null }], last };
}

function eventOf(id: bigint, { kind, mc_seqno_from, mc_seqno_to, touched }: Omit<EventRow, 'id'>): IndexEvent {
  return {
    id,
    kind: KINDS[kind - 1] ?? 'reset',
    range: mc_seqno_from === null || mc_seqno_to === null ? null : { from: mc_seqno_from, to: mc_seqno_to },
    touched: touched === null ? null : decodeTouched(touched),
  };
}

/** `account_key` of each account with a transaction in one of some traces, once. @param roots of the traces */
export async function accountsOfTraces(
  database: Database,
  roots: readonly bigint[],
  limits: ReadLimits,
): Promise<readonly bigint[]> {
  if (roots.length === 0) return [];
  const rows = await database.query<{ account_key: bigint }>(
    {
      name: 'accounts-of-traces',
      text: `SELECT DISTINCT t.account_key FROM unnest($1::bigint[]) AS k(root)
             CROSS JOIN LATERAL (SELECT t.account_key FROM transactions t WHERE t.trace_root = k.root OFFSET 0) AS t`,
      values: [[...new Set(roots)]],
    },
    limits,
  );
  return rows.map(({ account_key }) => account_key);
}

export interface IndexEventFeedOptions {
  /** While it listens, it reads without a notification so often, should one be lost. Default: 15 s. */
  readonly fallbackMs?: number;
  /** While it cannot listen (a standby without its primary), it reads so often. Default: 200 ms. */
  readonly pollMs?: number;
}

export interface IndexEventFeedModules {
  /** `null` while there is none. */
  readonly database: () => Database | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is awaited besides a notification. */
export interface AwaitedEvent {
  /** {@link IndexEventFeed.notifications} before the index was read. */
  readonly notifications: number;
  /** The newest event that was found then. */
  readonly last: bigint;
}

/** A standby usually applies within moments what its primary has announced; it is asked so often, and later less often. */
const REPLAY_MS = 20;
const REPLAY_SOON_MS = 1000;
/** Before a lost connection is replaced. */
const RECONNECT_MS = 250;
/** The listening connection is checked so often. */
const CHECK_MS = 3000;
/** A database that does not answer the listening connection for so long has lost it. */
const DEAD_AFTER_MS = 5000;

/**
 * The event log of an index, as it grows: one listening connection for a process, however many subscriptions it has. A lost
 * connection is replaced; what was committed meanwhile is read from the log.
 */
export class IndexEventFeed {
  readonly #fallbackMs: number;
  readonly #pollMs: number;
  readonly #modules: IndexEventFeedModules;
  readonly #stop = sharedAbortController();
  readonly #waiting = new Set<() => void>();
  #notifications = 0;
  /** The newest event that was announced on this connection, and when. */
  #announced = 0n;
  #announcedAt = 0;
  #isListening = false;
  #hasFailed = false;
  #running: Promise<void> = Promise.resolve();

  constructor({ fallbackMs = 15_000, pollMs = 200 }: IndexEventFeedOptions, modules: IndexEventFeedModules) {
    this.#fallbackMs = fallbackMs;
    this.#pollMs = pollMs;
    this.#modules = modules;
  }

  /** Counts wake-ups; see {@link next}. */
  get notifications(): number {
    return this.#notifications;
  }

  /** Whether the database announces events to this process. */
  get isListening(): boolean {
    return this.#isListening;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#running;
  }

  /** Has all subscriptions read now. */
  wake(): void {
    this.#notifications++;
    for (const resolve of this.#waiting) resolve();
  }

  /**
   * Waits until something may have been committed since the index was read: an event is announced, the fallback time has passed,
   * the feed is closed or the signal is given.
   */
  async next({ notifications, last }: AwaitedEvent, signal: AbortSignal): Promise<void> {
    if (notifications !== this.#notifications || signal.aborted || this.#stop.signal.aborted) return;
    const { clock } = this.#modules;
    let waitMs = this.#isListening ? this.#fallbackMs : this.#pollMs;
    // A standby has not applied yet what its primary has announced.
    if (this.#announced > last) waitMs = clock.now() - this.#announcedAt < REPLAY_SOON_MS ? REPLAY_MS : this.#pollMs;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        cancel();
        resolve();
      };
      const cancel = clock.schedule(waitMs, done);
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /**
   * Yields the events after a cursor in their order, none twice and none left out, as they come; ends with the signal or the
   * feed. While the database cannot be read, it waits.
   *
   * @param cursor the id of the last event that was handled; `now`: events that are committed from now on
   * @param limit events at once, at most
   */
  async *subscribe(
    cursor: bigint | 'now',
    signal: AbortSignal,
    limit = 100,
  ): AsyncGenerator<readonly IndexEvent[], void> {
    let at = cursor === 'now' ? null : cursor;
    while (!signal.aborted && !this.#stop.signal.aborted) {
      const { notifications } = this;
      const page = await this.#read(at, limit, signal);
      if (page !== null && at === null) at = page.last;
      else if (page !== null && page.events.length > 0) {
        at = page.events.at(-1)!.id;
        yield page.events;
        continue;
      }
      await this.next({ notifications, last: page?.last ?? 0n }, signal);
    }
  }

  /** @param cursor null: nothing but where the log ends. @returns null while the database cannot be read */
  async #read(cursor: bigint | null, limit: number, signal: AbortSignal): Promise<IndexEventPage | null> {
    const database = this.#modules.database();
    if (database === null) return null;
    try {
      if (cursor !== null) return await eventsAfter(database, cursor, limit, { signal });
      const [row] = await database.query<{ last_event: bigint }>(
        { text: 'SELECT last_event FROM index_state' },
        { signal },
      );
      return row === undefined ? null : { events: [], last: row.last_event };
    } catch (error) {
      if (!signal.aborted) this.#logFailure(error);
      await pause(this.#pollMs, this.#modules.clock, signal);
      return null;
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const database = this.#modules.database();
      if (database !== null) await this.#listen(database).catch((error) => this.#logFailure(error));
      this.#isListening = false;
      await pause(RECONNECT_MS, this.#modules.clock, signal);
    }
  }

  /** Listens until the connection is lost. */
  async #listen(database: Database): Promise<void> {
    const { clock, logger } = this.#modules;
    const deadline = { deadAfterMs: DEAD_AFTER_MS };
    const client = await database.eventSession({ name: 'tern events', connectTimeoutMs: DEAD_AFTER_MS });
    const ended = new AbortController();
    client.once('end', () => ended.abort());
    client.on('notification', ({ payload }) => {
      this.#announced = BigInt(/^\d{1,18}$/.exec(payload ?? '')?.[0] ?? 0);
      this.#announcedAt = clock.now();
      this.wake();
    });
    try {
      await withConnectionDeadline(client.query(`LISTEN ${CHANNEL}`), clock, deadline);
      this.#announced = 0n;
      this.#isListening = true;
      if (this.#hasFailed) logger.info('the events of the index are announced again');
      this.#hasFailed = false;
      // What was committed while nobody listened.
      this.wake();
      const signal = sharedSignalOf([this.#stop.signal, ended.signal]);
      for (;;) {
        await pause(CHECK_MS, clock, signal);
        if (signal.aborted) return;
        await withConnectionDeadline(client.query('SELECT'), clock, deadline);
      }
    } finally {
      dropConnection(client);
    }
  }

  #logFailure(error: unknown): void {
    if (this.#hasFailed || this.#stop.signal.aborted) return;
    this.#hasFailed = true;
    const problem = error instanceof Error ? error.message : String(error);
    this.#modules.logger.warn('the database does not announce events of the index; it is asked for them instead', {
      problem,
    });
  }
}
