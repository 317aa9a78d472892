import type { NetworkDatabase } from '#app/config/databases.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type Migration, readMigrations } from '#drivers/store/migration-files.js';
import type { NetworkIdentity } from '#drivers/store/network-identity.js';
import { isTransient } from '#drivers/store/postgres-error.js';
import { prepareSchema } from '#drivers/store/prepare-schema.js';
import { pause } from '#kernel/async/pause.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** How the database of an index is used. */
export interface IndexDatabaseOptions {
  readonly network: NetworkIdentity;
  readonly database: NetworkDatabase | Promise<NetworkDatabase>;
  /** Whether this process writes; if not, it changes nothing whatever. */
  readonly writes: boolean;
  /** For reading. */
  readonly connections: number;
  readonly queryTimeoutMs: number;
}

/** What is done with a database that has been opened, and where it is. */
export type UseDatabase = (database: Database, where: NetworkDatabase) => Promise<void>;

/** The pause after an attempt that failed; doubled each time. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

/** How long to wait for a free or a new connection: requests wait for it too. */
const CONNECT_MS = 5_000;

/** For somebody else to make or to change: whoever only reads waits for it. */
const NOT_MADE_YET: ReadonlySet<string> = new Set([storeErrors['no-schema'].code, storeErrors['schema-old'].code]);

/** The database of an index: there from the start, or as soon as it answers. */
export class IndexDatabase {
  readonly #options: IndexDatabaseOptions;
  readonly #modules: Surroundings;
  readonly #stop = new AbortController();
  #database: Database | null = null;
  #problem: string | null = 'the database is not open yet';
  #opening: Promise<void> = Promise.resolve();

  constructor(options: IndexDatabaseOptions, modules: Surroundings) {
    this.#options = options;
    this.#modules = modules;
  }

  /** `null` while it is not open. Its connections may be lost all the same; they are made anew when they are needed. */
  get database(): Database | null {
    return this.#database;
  }

  /** Why it is not open, for everybody to read; `null` when it is. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Opens the database and sees that it has the schema. When it does not answer, that is tried again and again; what only a
   * person can change is an error if it is found now, else it is logged and looked at again.
   *
   * @param use is called each time it has been opened; the attempt fails when it does
   * @throws store/*, and what `use` throws
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
        // Whoever only reads needs nothing but the replica.
        url: writes ? url : (readUrl ?? url),
        readOnly: !writes,
        ...(readUrl === null ? {} : { readUrl }),
        readConnections: connections,
        readTimeoutMs: queryTimeoutMs,
        connectTimeoutMs: CONNECT_MS,
      },
      { clock, logger },
    );
    try {
      const migrations = await readMigrations();
      const onMigration = ({ name }: Migration) => logger.info('changing the database', { migration: name });
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
    const message = 'the database of the index cannot be used yet; it is tried again';
    this.#modules.logger.warn(message, { problem: problemOf(error), remedy });
  }
}

function problemOf(error: unknown): string {
  return isTernError(error) ? error.message : String(error);
}
