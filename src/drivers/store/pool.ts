import pg from 'pg';
import { connectionConfig, OLDEST_MAJOR, type SessionOptions } from '#drivers/store/connection.js';
import { storeErrors } from '#drivers/store/errors.js';
import { connectError, storeError } from '#drivers/store/postgres-error.js';
import type { Logger } from '#kernel/observe/logger.js';

/** Counts of connections, for metrics. */
export interface PoolState {
  readonly open: number;
  readonly idle: number;
  /** How many wait for a connection. */
  readonly waiting: number;
}

/** What a client of node-postgres has that its types do not tell. */
interface Internals {
  /** Of the process that serves this connection. */
  readonly processID: number;
  readonly connection: { readonly stream: { destroy(): void } };
}

/** Connections to one server, given out one at a time, and one more to cancel queries of the others with. */
export class Pool {
  readonly #pool: pg.Pool;
  readonly #canceller: pg.Pool;
  readonly #connections: number;
  readonly #connectTimeoutMs: number;
  #closing: Promise<unknown> | null = null;

  /** @throws store/bad-url */
  constructor(
    url: string,
    options: SessionOptions & { readonly connectTimeoutMs: number },
    connections: number,
    logger: Logger,
  ) {
    this.#connections = connections;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#pool = new pg.Pool({ ...connectionConfig(url, options), max: connections, idleTimeoutMillis: 60_000 });
    const cancel = { name: 'tern cancel', connectTimeoutMs: 5000, statementTimeoutMs: 5000 };
    this.#canceller = new pg.Pool({ ...connectionConfig(url, cancel), max: 1, idleTimeoutMillis: 60_000 });
    for (const pool of [this.#pool, this.#canceller]) {
      pool.on('error', (error) => logger.warn('a database connection was lost', { problem: error.message }));
      // While a connection is given out, its errors are those of its queries.
      pool.on('connect', (client) => client.on('error', () => {}));
    }
  }

  get state(): PoolState {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** Does `work` with a connection. What the database throws comes as an error of ours. */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#acquire();
    try {
      return await work(client);
    } catch (error) {
      throw storeError(error);
    } finally {
      // Whoever comes next must not find himself in a transaction.
      client.release(client.getTransactionStatus() !== 'I');
    }
  }

  /** Stops what runs on a connection; has nothing to stop when it ended meanwhile. Never rejects. */
  async cancel(client: pg.PoolClient): Promise<void> {
    const { processID, connection } = client as pg.PoolClient & Internals;
    try {
      await this.#canceller.query('SELECT pg_cancel_backend($1)', [processID]);
    } catch {
      // It ends by itself, when the server finds that nobody is there.
      connection.stream.destroy();
    }
  }

  /** @throws store/server-too-old */
  async requireVersion(): Promise<void> {
    const { rows } = await this.use((client) =>
      client.query<{ number: number; name: string }>(
        `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name`,
      ),
    );
    const { number, name } = rows[0]!;
    if (Math.floor(number / 10_000) < OLDEST_MAJOR) {
      throw storeErrors['server-too-old']({ version: name, least: OLDEST_MAJOR });
    }
  }

  close(): Promise<unknown> {
    this.#closing ??= this.#pool.end().then(() => this.#canceller.end());
    return this.#closing;
  }

  async #acquire(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
        const [waitedMs, connections] = [this.#connectTimeoutMs, this.#connections];
        throw storeErrors['pool-exhausted']({ waitedMs, connections }, error);
      }
      throw connectError(error);
    }
  }
}
