import type pg from 'pg';
import type { ClientBase } from 'pg';
import { storeError } from '#drivers/store/connection.js';
import type { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type Clock, pause } from '#kernel/clock.js';
import { withDeadline } from '#kernel/deadline.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

export interface LeaderLockOptions {
  /** Interval at which a standby tries to take the lock; in milliseconds. */
  readonly everyMs: number;
  /** Interval at which the leader checks that it still holds it; in milliseconds. Default: the same. */
  readonly checkMs?: number;
  /** A connection whose database does not answer for so long is given up; in milliseconds. */
  readonly deadAfterMs: number;
}

/** The database detects within seconds that the leader's machine is gone; the end of its process is detected at once. */
const KEEPALIVES = 'SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 2';

/** Index leadership: of several processes one writes. An advisory lock of the database, held by a connection of its own. */
export class LeaderLock {
  readonly #client: pg.Client;
  readonly #clock: Clock;
  readonly #options: LeaderLockOptions;
  readonly #lost = sharedAbortController();
  readonly #ended = sharedAbortController();
  readonly #beat: Promise<void>;

  private constructor(client: pg.Client, clock: Clock, options: LeaderLockOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
    client.once('end', () => this.#lose());
    this.#beat = this.#watch();
  }

  /**
   * Waits until this process is the leader.
   *
   * @returns null when the signal is aborted first
   * @throws store/unreachable and others when the connection fails: retry
   */
  static async take(
    database: Database,
    clock: Clock,
    options: LeaderLockOptions,
    signal: AbortSignal,
  ): Promise<LeaderLock | null> {
    const client = await database.session({ name: 'tern leader', connectTimeoutMs: options.deadAfterMs });
    try {
      await withConnectionDeadline(client.query(KEEPALIVES), clock, options);
      for (; !signal.aborted; await pause(options.everyMs, clock, signal)) {
        if (await withConnectionDeadline(tryAdvisoryLock(client, 'leader'), clock, options)) {
          return new LeaderLock(client, clock, options);
        }
      }
    } catch (error) {
      dropConnection(client);
      throw storeError(error);
    }
    await client.end().catch(() => {});
    return null;
  }

  /** Aborted as soon as it is not certain any more that this process is the only one that writes. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Gives leadership up. */
  async release(): Promise<void> {
    this.#ended.abort();
    await this.#beat;
    if (!this.#lost.signal.aborted) await advisoryUnlock(this.#client, 'leader').catch(() => {});
    await this.#client.end().catch(() => {});
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    for (;;) {
      await pause(this.#options.checkMs ?? this.#options.everyMs, this.#clock, signal);
      if (signal.aborted || this.#lost.signal.aborted) return;
      try {
        await withConnectionDeadline(this.#client.query('SELECT'), this.#clock, this.#options);
      } catch {
        this.#lose();
        return;
      }
    }
  }

  #lose(): void {
    if (this.#ended.signal.aborted || this.#lost.signal.aborted) return;
    this.#lost.abort();
    dropConnection(this.#client);
  }
}

/** Waits for an answer of the database. @throws store/unreachable when it takes longer than `deadAfterMs` */
export function withConnectionDeadline<T>(
  answer: Promise<T>,
  clock: Clock,
  { deadAfterMs }: Pick<LeaderLockOptions, 'deadAfterMs'>,
): Promise<T> {
  const expired = () => storeErrors.unreachable({ problem: `no answer within ${deadAfterMs} ms` });
  return withDeadline(answer, { until: clock.now() + deadAfterMs, expired, aborted: expired }, clock);
}

/** Ends a connection without waiting for its server. */
export function dropConnection(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** The first key of all advisory locks of the index: "TERN". */
const SPACE = 0x5445524e;

const LOCKS = { leader: 1, partitions: 2, traces: 3, actions: 4 } as const;

/** What only one session may do at a time. */
export type AdvisoryLock = keyof typeof LOCKS;

/** Waits for a lock that is held until the transaction ends. */
export async function advisoryLock(client: ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1, $2)', [SPACE, LOCKS[lock]]);
}

/** The same lock, shared: it waits for, and holds up, only those that take it alone. */
export async function sharedAdvisoryLock(client: ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock_shared($1, $2)', [SPACE, LOCKS[lock]]);
}

/**
 * Waits for transactions that append to the event log, and holds them up until this one ends. A transaction that appends takes this lock
 * before it changes rows, after the lock of `lockTraces` if it takes that: others wait for such rows while they hold this lock.
 */
export async function lockEvents(client: ClientBase): Promise<void> {
  await client.query({ name: 'lock-events', text: 'SELECT FROM index_state FOR NO KEY UPDATE' });
}

/** Takes a lock until the session ends. @returns false when another session holds it */
async function tryAdvisoryLock(client: ClientBase, lock: AdvisoryLock): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
    SPACE,
    LOCKS[lock],
  ]);
  return rows[0]!.taken;
}

/** Takes the lock of the index leader until the transaction ends. @returns false when another process is the leader */
export async function tryLeaderLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
    SPACE,
    LOCKS.leader,
  ]);
  return rows[0]!.taken;
}

/** Releases what {@link tryAdvisoryLock} took. */
async function advisoryUnlock(client: ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('SELECT pg_advisory_unlock($1, $2)', [SPACE, LOCKS[lock]]);
}
