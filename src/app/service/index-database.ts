import { continuedTraces, type KnownChange } from '#api/v3/answer-keys.js';
import type { NetworkDatabase } from '#app/config/index-settings.js';
import type { Environment } from '#app/service/environment.js';
import { serviceErrors } from '#app/service/errors.js';
import { isTransient } from '#drivers/store/connection.js';
import { Database, type ReadLimits } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { accountsOfTraces, eventsAfter, type IndexEventFeed } from '#drivers/store/event-log.js';
import { type IndexProgress, type NetworkIdentity, readIndexProgress } from '#drivers/store/index-state.js';
import { type Migration, prepareSchema, readMigrations } from '#drivers/store/migrate.js';
import { type IndexPort, wrapReads } from '#drivers/store/read/index-port.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';

/** Options of an index database. */
export interface IndexDatabaseOptions {
  /** With the incarnation of a local network. */
  readonly network: NetworkIdentity & { readonly incarnation: string | null };
  readonly database: NetworkDatabase | Promise<NetworkDatabase>;
  /** Whether this process writes; if not, the database is not changed. */
  readonly writes: boolean;
  /** Maximum connections for reading. */
  readonly connections: number;
  readonly queryTimeoutMs: number;
}

/** Called with an opened database and its URLs. */
export type UseDatabase = (database: Database, where: NetworkDatabase) => Promise<void>;

/** Pause after a failed attempt; doubled each time. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

/** Timeout for a free or new connection; requests wait for it too. */
const CONNECT_MS = 5_000;

/** Schema problems that another process solves; readers wait for it. */
const NOT_MADE_YET: ReadonlySet<string> = new Set([storeErrors['no-schema'].code, storeErrors['schema-old'].code]);

/** The database of an index, opened immediately or as soon as it is reachable. */
export class IndexDatabase {
  readonly #options: IndexDatabaseOptions;
  readonly #modules: Environment;
  readonly #stop = sharedAbortController();
  #database: Database | null = null;
  #problem: string | null = 'the database is not open yet';
  #opening: Promise<void> = Promise.resolve();

  constructor(options: IndexDatabaseOptions, modules: Environment) {
    this.#options = options;
    this.#modules = modules;
  }

  /** `null` while not open. Lost connections are re-established on demand. */
  get database(): Database | null {
    return this.#database;
  }

  /** Why it is not open; `null` when open. Contains no secrets. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Opens the database and checks or migrates its schema. Retries while it is unreachable. Permanent problems are thrown if
   * found on the first attempt, and logged and retried otherwise.
   *
   * @param use called after opening; the attempt fails if it fails
   * @throws store/*, and errors of `use`
   */
  async start(use: UseDatabase): Promise<void> {
    try {
      const where = await this.#options.database;
      if (this.#stop.signal.aborted) return;
      await this.#open(where, use);
    } catch (error) {
      this.#problem = problemOf(error);
      if (!this.#comesByItself(error)) throw error;
      this.#tell(error);
      this.#opening = this.#tryAgain(use);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#opening;
    await this.#database?.close();
  }

  async #tryAgain(use: UseDatabase): Promise<void> {
    const { signal } = this.#stop;
    for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
      await pause(delayMs, this.#modules.clock, signal);
      if (signal.aborted) return;
      try {
        return await this.#open(await this.#options.database, use);
      } catch (error) {
        this.#noteProblem(error);
      }
    }
  }

  async #open(where: NetworkDatabase, use: UseDatabase): Promise<void> {
    const { url, readUrl } = where;
    const { network, writes, connections, queryTimeoutMs } = this.#options;
    const { clock, logger } = this.#modules;
    const database = await Database.open(
      {
        // Readers only need the replica.
        url: writes ? url : (readUrl ?? url),
        readOnly: !writes,
        ...(readUrl === null ? {} : { readUrl }),
        // A standby cannot announce events.
        eventUrl: url,
        readConnections: connections,
        readTimeoutMs: queryTimeoutMs,
        connectTimeoutMs: CONNECT_MS,
      },
      { clock, logger },
    );
    try {
      const migrations = await readMigrations();
      const onMigration = ({ name }: Migration) => logger.info('migrating the database', { migration: name });
      await database.withWriter((client) => prepareSchema(client, migrations, { network, writes, onMigration }));
      await use(database, where);
    } catch (error) {
      await database.close();
      throw error;
    }
    logger.info('the database is open');
    this.#database = database;
    this.#problem = null;
  }

  #comesByItself(error: unknown): boolean {
    return isTransient(error) || (!this.#options.writes && isTernError(error) && NOT_MADE_YET.has(error.code));
  }

  #noteProblem(error: unknown): void {
    const problem = problemOf(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#tell(error);
  }

  #tell(error: unknown): void {
    const remedy = isTernError(error) ? error.remedy : '';
    const message = 'the index database is unavailable; retrying';
    this.#modules.logger.warn(message, { problem: problemOf(error), remedy });
  }
}

function problemOf(error: unknown): string {
  return isTernError(error) ? error.message : String(error);
}

export interface IndexWatchOptions {
  readonly network: NetworkIdentity;
}

/** What an {@link IndexWatch} tells of a change. */
interface ChangeListener {
  /** Something changed with this version: what the events name, or, null, anything. */
  noteChanges(version: number, changes: readonly KnownChange[] | null): void;
  /** All changes were known at this time of the clock. */
  noteConfirmed(now: number): void;
}

export interface IndexWatchModules {
  /** `null` while it is not open. */
  readonly database: () => Database | null;
  /** Announces what is committed. */
  readonly feed: IndexEventFeed;
  /** Default: none. */
  readonly listener?: ChangeListener;
  /** Called when the content has changed. */
  readonly onChange?: (progress: IndexProgress) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Events that are read after a change, at most; with more of them anything may have changed. */
const MOST_EVENTS = 200;

/** Pause after a read that failed. */
const RETRY_MS = 1_000;

/** Least time between two reads, however fast events come. */
const LEAST_MS = 20;

const QUERY_MS = 5_000;

/** Reads how far the index is whenever something is committed, so that answers can state how fresh they are. */
export class IndexWatch {
  readonly #options: IndexWatchOptions;
  readonly #modules: IndexWatchModules;
  readonly #stop = sharedAbortController();
  #progress: IndexProgress | null = null;
  #problem: string | null = null;
  #version = 0;
  /** The last event of the log that the version includes; null: no event was read. */
  #cursor: bigint | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: IndexWatchOptions, modules: IndexWatchModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /** As it was read last; `null` before the index is created. */
  get progress(): IndexProgress | null {
    return this.#progress;
  }

  /** Why the database could not be read just now; `null` when it could. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Changes with the content of the index; 0 before there is any. */
  get version(): number {
    return this.#version;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, feed, clock } = this.#modules;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { notifications } = feed;
      const current = database();
      if (current !== null) await this.read(current).catch((error) => this.#noteProblem(error));
      if (this.#problem !== null) await pause(RETRY_MS, clock, signal);
      else await feed.next({ notifications, last: this.#progress?.last_event ?? 0n }, signal);
      // Events that come close together are read together.
      await pause(LEAST_MS, clock, signal);
    }
  }

  /** Reads now. @throws store/other-network, and what the database says */
  async read(database: Database): Promise<void> {
    const limits = { signal: this.#stop.signal, timeoutMs: QUERY_MS };
    const { listener, clock } = this.#modules;
    const began = clock.now();
    const progress = await readIndexProgress(database, this.#options.network, limits);
    const before = this.#progress;
    const isOther =
      progress?.last_event !== before?.last_event ||
      progress?.indexedRanges !== before?.indexedRanges ||
      progress?.contract_changes !== before?.contract_changes;
    const changes = isOther && listener !== undefined ? await this.#changes(database, progress, limits) : null;
    if (isOther) {
      this.#version++;
      listener?.noteChanges(this.#version, changes);
    }
    listener?.noteConfirmed(began);
    this.#progress = progress;
    if (isOther && progress !== null) this.#modules.onChange?.(progress);
    if (this.#problem !== null) this.#modules.logger.info('the index is readable again');
    this.#problem = null;
  }

  /** What the events since the last read touched; null: anything, or more than is known. */
  async #changes(
    database: Database,
    progress: IndexProgress | null,
    limits: ReadLimits,
  ): Promise<readonly KnownChange[] | null> {
    const cursor = this.#cursor;
    // When a read fails, the events are not known.
    this.#cursor = null;
    const events =
      cursor === null || progress === null ? [] : (await eventsAfter(database, cursor, MOST_EVENTS, limits)).events;
    const last = events.at(-1)?.id ?? cursor;
    if (last === null || progress === null || last < progress.last_event) {
      this.#cursor = progress?.last_event ?? null;
      return null;
    }
    const known = events.flatMap((event) => {
      const { kind, touched } = event;
      return touched !== null && (kind === 'committed' || kind === 'derived') ? [{ event, touched }] : [];
    });
    const accountsOf = await accountsOfTraces(
      database,
      known.flatMap(({ event }) => continuedTraces(event)),
      limits,
    );
    this.#cursor = last;
    if (known.length < events.length) return null;
    return known.map(({ touched }, i) => ({ touched, continued: i === 0 ? accountsOf : [] }));
  }

  #noteProblem(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const problem = isTernError(error) ? error.message : String(error);
    if (this.#problem === null) this.#modules.logger.warn('the index is unreadable; retrying', { problem });
    this.#problem = problem;
  }
}

/** Store errors that mean that the index is unavailable, as opposed to an invalid request. */
const UNAVAILABLE: ReadonlySet<string> = new Set(
  (
    ['unreachable', 'connection-refused', 'too-many-connections', 'out-of-memory', 'no-rights', 'no-schema'] as const
  ).map((name) => storeErrors[name].code),
);

/**
 * Reads an index whose database may not be open yet, or not reachable any more.
 *
 * @param current the reads, or why there are none
 * @throws service/index-unavailable, and what `read` throws
 */
export async function readInterruptible<T>(
  current: () => IndexPort | string,
  read: (reads: IndexPort) => Promise<T>,
): Promise<T> {
  const reads = current();
  if (typeof reads === 'string') throw serviceErrors['index-unavailable']({ problem: reads });
  try {
    return await read(reads);
  } catch (error) {
    if (!isTernError(error) || !UNAVAILABLE.has(error.code)) throw error;
    throw serviceErrors['index-unavailable']({ problem: error.message }, error);
  }
}

/** As {@link readInterruptible}, for all reads. @throws service/index-unavailable, and as {@link IndexPort} */
export function interruptibleReads(current: () => IndexPort | string): IndexPort {
  return wrapReads((read) => readInterruptible(current, read));
}
