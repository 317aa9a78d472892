import type pg from 'pg';
import {
  ConnectionPool,
  type ConnectionPoolState,
  isTransient,
  openSession,
  type SessionOptions,
  storeError,
  valueTypes,
} from '#drivers/store/connection.js';
import { storeErrors } from '#drivers/store/errors.js';
import { toHex } from '#kernel/bytes.js';
import { type Clock, pause } from '#kernel/clock.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** A value of a parameter: bytes as they are, everything else as PostgreSQL reads it from text. */
export type SqlValue = (string | number | bigint | boolean | Uint8Array | null | undefined) | readonly SqlValue[];

/**
 * A query. A named one is parsed once per connection, and planned once if a generic plan is as good as one for the very values.
 * The same name must always have the same text.
 */
interface SqlQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/** What is used of a connection of node-postgres; its types declare less. */
interface StatementConnection {
  readonly stream: { cork(): void; uncork(): void };
  /** Texts of the named statements that the server knows, and of those that it was sent and has not answered yet. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(values: { readonly statement: string; readonly values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(portal: null): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

/** A column in a `RowDescription`. */
interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Makes an object of the columns of a `DataRow`. */
type RowReader = (fields: readonly (string | null)[]) => unknown;

/** Readers of rows by their columns: they are as many as the statements in the code. */
const readers = new Map<string, RowReader>();

/** The columns of named statements, which the server describes once for each connection. */
const describedBy = new WeakMap<StatementConnection, Map<string, RowReader>>();

/**
 * A statement of a read, as node-postgres takes it (`Submittable`). In place of `pg.Query`, because most reads are small and
 * done hundreds of times a second: a named statement is described by the server once for each connection and not each time, and
 * rows are made by a compiled function.
 */
class ReadStatement<Row> implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  /** All rows, once the server is ready for the next statement. Rejects with what the server or the connection reports. */
  readonly rows: Promise<Row[]>;
  readonly #values: readonly (string | Buffer | null)[];
  readonly #takes: (bytes: number) => boolean;
  readonly #resolve: (rows: Row[]) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #rows: Row[] = [];
  #reader: RowReader | null = null;
  #described: Map<string, RowReader> | null = null;
  #failed: { readonly reason: unknown } | null = null;

  /** @param takes told of the bytes of each row as it comes, before it is read; false: it is dropped */
  constructor({ name, text, values }: SqlQuery, takes: (bytes: number) => boolean) {
    this.name = name ?? '';
    this.text = text;
    this.#values = (values ?? []).map(parameterOf);
    this.#takes = takes;
    let settle: [(rows: Row[]) => void, (reason: unknown) => void];
    this.rows = new Promise((...both) => {
      settle = both;
    });
    [this.#resolve, this.#reject] = settle!;
  }

  submit(given: pg.Connection): Error | null {
    const connection = given as unknown as StatementConnection;
    const { name, text } = this;
    if (name !== '') this.#described = describedOf(connection);
    this.#reader = this.#described?.get(name) ?? null;
    const known = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
    if (known !== undefined && known !== text)
      return new TypeError(`The statement ${name} has another text on this connection.`);
    connection.stream.cork();
    if (known === undefined) {
      connection.parse({ text, name });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values });
    if (this.#reader === null) connection.describe({ type: 'P' });
    connection.execute(null);
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly Column[] }): void {
    this.#reader = readerOf(fields);
    this.#described?.set(this.name, this.#reader);
  }

  handleDataRow({ length, fields }: { readonly length: number; readonly fields: readonly (string | null)[] }): void {
    if (!this.#takes(length) || this.#failed !== null) return;
    try {
      this.#rows.push(this.#reader!(fields) as Row);
    } catch (reason) {
      this.#failed = { reason };
    }
  }

  handleReadyForQuery(): void {
    if (this.#failed === null) this.#resolve(this.#rows);
    else this.#reject(this.#failed.reason);
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  /** Does not happen: rows are asked for without a bound. */
  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: StatementConnection): void {
    connection.sendCopyFail('a read copies nothing');
  }

  handleCopyData(): void {}
}

function describedOf(connection: StatementConnection): Map<string, RowReader> {
  const known = describedBy.get(connection);
  if (known !== undefined) return known;
  const described = new Map<string, RowReader>();
  describedBy.set(connection, described);
  return described;
}

function readerOf(columns: readonly Column[]): RowReader {
  const key = columns.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join('\n');
  const known = readers.get(key);
  if (known !== undefined) return known;
  const parsers = columns.map(({ dataTypeID }) => valueTypes.getTypeParser(dataTypeID, 'text'));
  const members = columns.map(
    ({ name }, i) => `[${JSON.stringify(name)}]: fields[${i}] === null ? null : parsers[${i}](fields[${i}])`,
  );
  const reader = new Function('parsers', `return (fields) => ({ ${members.join(', ')} });`)(parsers) as RowReader;
  readers.set(key, reader);
  return reader;
}

function parameterOf(value: SqlValue): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Array.isArray(value) ? arrayText(value) : String(value);
}

function arrayText(values: readonly SqlValue[]): string {
  let text = '{';
  for (const [i, value] of values.entries()) {
    if (i > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (value instanceof Uint8Array) text += `"\\\\x${toHex(value)}"`;
    else if (Array.isArray(value)) text += arrayText(value);
    else text += typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : String(value);
  }
  return `${text}}`;
}

export interface DatabaseOptions {
  /** The server for writing, and for reading when there is no replica: `postgresql://…`. */
  readonly url: string;
  /** A replica, for reading. */
  readonly readUrl?: string;
  /** The server that announces events of the index (a standby cannot). Default: that of `url`. */
  readonly eventUrl?: string;
  /** Refuse to write: the pool for writing then only inspects the schema. Default: no. */
  readonly readOnly?: boolean;
  /** Connections for writing at most. Default: 8. */
  readonly writeConnections?: number;
  /** Connections for reading at most. Default: 16. */
  readonly readConnections?: number;
  /** Time limit of one read, all its queries together. Default: 10 s. */
  readonly readTimeoutMs?: number;
  /** Bytes that one read may get, all its queries together, as they are transferred: bytea as hexadecimal digits. Default: 128 MiB. */
  readonly maxReadBytes?: number;
  /** Time limit for a free or a new connection. Default: 10 s. */
  readonly connectTimeoutMs?: number;
}

export interface DatabaseModules {
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** Limits of a read. */
export interface ReadLimits {
  /** Aborting it cancels running queries in the database. */
  readonly signal?: AbortSignal | undefined;
  /** Default: `readTimeoutMs` of the database. */
  readonly timeoutMs?: number | undefined;
  /** All queries see one snapshot. Costs two round trips; a single query has that anyway. */
  readonly snapshot?: boolean;
}

/**
 * The database: a pool of connections for writing and one for reading.
 *
 * Values are transferred as text: node-postgres reads every field as UTF-8 first, so its `binary` mode loses bytes. Our own
 * reading of binary results would save 0.2 ms per 100 transactions, which is little compared with decoding them.
 */
export class Database {
  readonly #options: Required<Omit<DatabaseOptions, 'readUrl'>>;
  readonly #clock: Clock;
  readonly #writers: ConnectionPool;
  readonly #readers: ConnectionPool;
  readonly #logger: Logger;
  /** Whether the version of the replica is still to be checked. */
  #isReplicaUnknown = false;

  private constructor(options: DatabaseOptions, { clock, logger }: DatabaseModules) {
    const { url, readUrl, ...rest } = options;
    this.#options = {
      ...{
        url,
        eventUrl: url,
        readOnly: false,
        writeConnections: 8,
        readConnections: 16,
        readTimeoutMs: 10_000,
        maxReadBytes: 128 * 2 ** 20,
        connectTimeoutMs: 10_000,
      },
      ...rest,
    };
    this.#clock = clock;
    this.#logger = logger ?? silentLogger;
    const { readOnly, writeConnections, readConnections, connectTimeoutMs } = this.#options;
    this.#writers = new ConnectionPool(url, { connectTimeoutMs, readOnly }, writeConnections, this.#logger);
    const session = { name: 'tern read', connectTimeoutMs, readOnly: true };
    this.#readers = new ConnectionPool(readUrl ?? url, session, readConnections, this.#logger);
  }

  /**
   * Opens the database and checks that its servers can be used. An unreachable replica does not prevent writing: reads fail
   * until it answers.
   *
   * @throws store/bad-url, store/unreachable, store/connection-refused, store/server-too-old, store/connection-pooler, store/search-path
   */
  static async open(options: DatabaseOptions, modules: DatabaseModules): Promise<Database> {
    const database = new Database(options, modules);
    try {
      const isReplica = options.readUrl !== undefined && options.readUrl !== options.url;
      await Promise.all([database.#writers.requireUsable(), database.#openReaders(isReplica)]);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** A single read-only query. */
  async query<Row extends pg.QueryResultRow>(query: SqlQuery, limits?: ReadLimits): Promise<Row[]> {
    return this.read((reader) => reader.query<Row>(query), limits);
  }

  /**
   * Reads on one connection. Time limit, size limit and signal hold for all queries; when one ends them, the running query is
   * cancelled in the database and further ones are refused.
   *
   * @throws store/timeout, store/read-too-large, store/cancelled, store/pool-exhausted and others
   */
  async read<T>(work: (reader: DatabaseReader) => Promise<T>, limits: ReadLimits = {}): Promise<T> {
    const { signal, timeoutMs = this.#options.readTimeoutMs, snapshot = false } = limits;
    const reading = new CancellableReading(this.#readers, this.#clock, this.#options.maxReadBytes);
    const onAbort = () => reading.stop(storeErrors.cancelled({ reason: 'the caller does not wait any more' }));
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const onTime = () => reading.stop(storeErrors.timeout({ afterMs: timeoutMs }));
    const stopClock = this.#clock.schedule(timeoutMs, onTime);
    try {
      if (this.#isReplicaUnknown) await this.#requireReplica();
      return await this.#readers.use(async (client) => {
        const reader: DatabaseReader = { query: (query) => reading.query(client, query) };
        if (!snapshot) return await work(reader);
        await reader.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
        const result = await work(reader);
        await reader.query({ text: 'COMMIT' });
        return result;
      });
    } finally {
      stopClock();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Runs `work` in one transaction, which is rolled back when `work` throws.
   *
   * @throws store/commit-unknown when the connection was lost during the commit: the caller has to check what was written
   */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#writers.use(async (client) => {
      await client.query('BEGIN');
      let result: T;
      try {
        result = await work(client);
      } catch (error) {
        // When that fails, the connection is discarded, and the transaction with it.
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
      try {
        await client.query('COMMIT');
      } catch (error) {
        const known = storeError(error);
        if (!isTernError(known, storeErrors.unreachable.code)) throw known;
        throw storeErrors['commit-unknown']({ problem: known.message }, error);
      }
      return result;
    });
  }

  /** Runs `work` on a connection for writing, outside a transaction. */
  async withWriter<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#writers.use(work);
  }

  /**
   * A separate connection to the server for writing, for what lasts as long as a session, such as a lock. The caller ends it;
   * its event `end` reports that it was lost.
   */
  session(options: SessionOptions = {}): Promise<pg.Client> {
    return openSession(this.#options.url, options);
  }

  /** As {@link session}, to the server that announces events of the index. */
  eventSession(options: SessionOptions = {}): Promise<pg.Client> {
    return openSession(this.#options.eventUrl, options);
  }

  get pools(): { readonly write: ConnectionPoolState; readonly read: ConnectionPoolState } {
    return { write: this.#writers.state, read: this.#readers.state };
  }

  async #openReaders(isReplica: boolean): Promise<void> {
    try {
      await this.#readers.requireUsable();
    } catch (error) {
      if (!isReplica || !isTransient(error)) throw error;
      this.#isReplicaUnknown = true;
      const { message: problem } = error as TernError;
      this.#logger.warn('the replica cannot be read yet', { problem });
    }
  }

  async #requireReplica(): Promise<void> {
    await this.#readers.requireUsable();
    this.#isReplicaUnknown = false;
  }

  /** Waits for running work and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#writers.close(), this.#readers.close()]);
  }
}

/** A connection for the duration of a read. */
export interface DatabaseReader {
  /** @throws store/timeout, store/cancelled, store/unreachable and others */
  query<Row extends pg.QueryResultRow>(query: SqlQuery): Promise<Row[]>;
}

/** The queries of one read, on one connection, which can be cancelled together. */
class CancellableReading {
  readonly #pool: ConnectionPool;
  readonly #clock: Clock;
  readonly #mostBytes: number;
  #received = 0;
  #stopped: Error | null = null;
  #running = 0;
  /** Resolves when nothing is left to be cancelled. */
  #cancelling: Promise<void> | null = null;
  #client: pg.PoolClient | null = null;

  /** @param mostBytes of all rows together; more stop it */
  constructor(pool: ConnectionPool, clock: Clock, mostBytes: number) {
    this.#pool = pool;
    this.#clock = clock;
    this.#mostBytes = mostBytes;
  }

  /** Cancels the running query and refuses further ones; all fail with this reason. Only the first reason counts. */
  stop(reason: Error): void {
    this.#stopped ??= reason;
    if (this.#running > 0) this.#cancelling ??= this.#cancel();
  }

  async query<Row extends pg.QueryResultRow>(client: pg.PoolClient, query: SqlQuery): Promise<Row[]> {
    if (this.#stopped !== null) throw this.#stopped;
    this.#client = client;
    this.#running++;
    try {
      const rows = await client.query(new ReadStatement<Row>(query, this.#takes)).rows;
      // Rows that came after that are missing.
      if (this.#stopped !== null) throw this.#stopped;
      return rows;
    } catch (error) {
      throw this.#stopped ?? error;
    } finally {
      this.#running--;
      // The connection is reused by another read, which must not be cancelled instead.
      await this.#cancelling;
    }
  }

  /** Counts a row of so many bytes. Whether it is wanted: not when the read was stopped, or is too large with it. */
  readonly #takes = (bytes: number): boolean => {
    this.#received += bytes;
    if (this.#received > this.#mostBytes) this.stop(storeErrors['read-too-large']({ mostBytes: this.#mostBytes }));
    return this.#stopped === null;
  };

  /** A cancellation that overtakes its query has no effect, so it is repeated. */
  async #cancel(): Promise<void> {
    while (this.#running > 0) {
      await this.#pool.cancel(this.#client!);
      if (this.#running > 0) await pause(20, this.#clock);
    }
  }
}
