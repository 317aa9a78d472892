import pg from 'pg';
import { storeErrors } from '#drivers/store/errors.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** Oldest supported PostgreSQL: multiranges need 14, `MERGE` and ICU as it is used here need 15. */
const OLDEST_MAJOR = 15;

const OID = { bytea: 17, int8: 20, numeric: 1700, int8Array: 1016, byteaArray: 1001 } as const;

/**
 * How values of columns are returned: int8 and numeric as `bigint` (numeric with a fraction as text, which no column of Tern has),
 * arrays of int8 as arrays of `bigint`, bytea as `Uint8Array`, and everything else as node-postgres does by default.
 */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary');
    if (oid === OID.int8) return BigInt;
    if (oid === OID.numeric) return (text: string) => (text.includes('.') || text === 'NaN' ? text : BigInt(text));
    if (oid === OID.int8Array) return parseBigInts;
    return pg.types.getTypeParser(oid, 'text');
  },
} as pg.CustomTypesConfig;

/** Reads `{1,2}`; arrays of Tern have no nulls and one dimension. */
function parseBigInts(text: string): bigint[] {
  return text.length === 2 ? [] : text.slice(1, -1).split(',').map(BigInt);
}

/** Settings of a session. */
export interface SessionOptions {
  /** Name in `pg_stat_activity`. Default: `tern`. */
  readonly name?: string;
  /** The server cancels statements that take longer. Default: no limit. */
  readonly statementTimeoutMs?: number;
  /** Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Refuse to write. */
  readonly readOnly?: boolean;
}

/**
 * What every session needs, whatever `ALTER DATABASE` and `ALTER ROLE` set: how values are written as text, what a transaction sees,
 * and that no limit of an administrator ends a session that holds a lock or listens. With `row_security` off, a policy that hides
 * rows is an error instead of a missing row. `search_path` is not among them, because it chooses the schema of the index.
 */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  row_security: 'off',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  jit: 'off',
};

/**
 * The configuration of a client of node-postgres for a URL: value types as above, settings of the session. All connections of Tern are made with it.
 *
 * @throws store/bad-url
 */
export function connectionConfig(url: string, options: SessionOptions = {}): pg.ClientConfig {
  const { urlWithoutOptions, given } = splitOptions(url);
  const settings = {
    ...SESSION_SETTINGS,
    statement_timeout: String(options.statementTimeoutMs ?? 0),
    default_transaction_read_only: options.readOnly === true ? 'on' : 'off',
  };
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`);
  return {
    connectionString: urlWithoutOptions,
    application_name: options.name ?? 'tern',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    options: [...given, ...ours].join(' '),
    types: valueTypes,
  };
}

/** Takes `options` out of a URL: node-postgres lets them replace all options that are given otherwise. */
function splitOptions(url: string): { readonly urlWithoutOptions: string; readonly given: readonly string[] } {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw storeErrors['bad-url']({ problem: 'it does not begin with postgresql://' });
  let parsed: URL;
  try {
    // A URL with a user and no host addresses a Unix socket; the URL standard does not allow it.
    parsed = new URL(url.replace('@/', '@socket/'));
  } catch {
    // The error of the parser quotes the URL including the password.
    throw storeErrors['bad-url']({ problem: 'it is not well-formed' });
  }
  const given = parsed.searchParams.getAll('options').filter((text) => text !== '');
  parsed.searchParams.delete('options');
  const host = url.includes('@/') ? parsed.href.replace('@socket/', '@/') : parsed.href;
  return { urlWithoutOptions: host, given };
}

/** Counts of connections, for metrics. */
export interface ConnectionPoolState {
  readonly open: number;
  readonly idle: number;
  /** Callers waiting for a connection. */
  readonly waiting: number;
}

/** What is used of the socket of a client. */
interface PgStream {
  destroy(): void;
}

/** Properties of a client of node-postgres that its types do not declare. */
interface PgClientInternals {
  /** Of the server process of this connection. */
  readonly processID: number;
  readonly connection: { readonly stream: PgStream };
}

/** What a session says of itself. */
interface SessionFacts {
  /** Version of the server: 150004, `15.4`. */
  readonly number: number;
  readonly name: string;
  /** Of the server process. A pooler announces another one when the connection begins. */
  readonly pid: number;
  readonly search_path: string;
  /** The first schema of the search path that exists; null: none. */
  readonly schema: string | null;
  /** The schema of the search path that has the tables of Tern; null: none. */
  readonly tern_schema: string | null;
}

const SESSION_QUERY = `SELECT current_setting('server_version_num')::int AS number,
  current_setting('server_version') AS name, pg_backend_pid() AS pid, current_setting('search_path') AS search_path,
  current_schema() AS schema,
  (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('index_state')
     AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_migrations'))) AS tern_schema`;

/** A pool of connections to one server, and one more connection that cancels queries of the others. */
export class ConnectionPool {
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
      pool.on('error', (error) => {
        // A server that is stopped behind the pool may end connections before it has read that they are closed.
        if (this.#closing === null) logger.warn('a database connection was lost', { problem: error.message });
      });
      // While a connection is in use, its errors are reported by its queries.
      pool.on('connect', (client) => client.on('error', () => {}));
    }
  }

  get state(): ConnectionPoolState {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** Runs `work` with a connection. Errors of the database are translated to `store/*`. */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#acquire();
    try {
      return await work(client);
    } catch (error) {
      throw storeError(error);
    } finally {
      // The next user must not get a connection inside a transaction.
      client.release(client.getTransactionStatus() !== 'I');
    }
  }

  /** Cancels the query that runs on a connection, if any. Never rejects. */
  async cancel(client: pg.PoolClient): Promise<void> {
    const { processID, connection } = client as pg.PoolClient & PgClientInternals;
    try {
      await this.#canceller.query('SELECT pg_cancel_backend($1)', [processID]);
    } catch {
      // The query ends when the server notices the closed connection.
      connection.stream.destroy();
    }
  }

  /**
   * Checks that a session of the server can be used.
   *
   * @throws store/server-too-old, store/connection-pooler, store/search-path
   */
  async requireUsable(): Promise<void> {
    const [facts, announced] = await this.use(async (client) => {
      const { rows } = await client.query<SessionFacts>(SESSION_QUERY);
      return [rows[0]!, (client as pg.PoolClient & PgClientInternals).processID] as const;
    });
    const { number, name, pid, search_path, schema, tern_schema } = facts;
    if (Math.floor(number / 10_000) < OLDEST_MAJOR) {
      throw storeErrors['server-too-old']({ version: name, least: OLDEST_MAJOR });
    }
    if (pid !== announced)
      throw storeErrors['connection-pooler']({ problem: 'the session is not that of one server process' });
    if (schema === null) throw storeErrors['search-path']({ search_path, problem: 'names no schema that exists' });
    if (tern_schema !== null && tern_schema !== schema) {
      const problem = `puts the schema ${schema} before ${tern_schema}, which has the tables of Tern`;
      throw storeErrors['search-path']({ search_path, problem });
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

/** Errors whose only detail is the message of the database. */
type PlainErrorName =
  | 'unreachable'
  | 'connection-refused'
  | 'too-many-connections'
  | 'conflict'
  | 'disk-full'
  | 'out-of-memory'
  | 'read-only'
  | 'encoding'
  | 'session-limit'
  | 'damaged'
  | 'no-rights';

/** The error of an SQLSTATE; two or three characters stand for all states with that prefix. */
const ERROR_BY_SQLSTATE: Readonly<Record<string, PlainErrorName>> = {
  '08': 'unreachable',
  '22021': 'encoding',
  '25006': 'read-only',
  '25P': 'session-limit',
  '57P05': 'session-limit',
  '28': 'connection-refused',
  '3D000': 'connection-refused',
  '40': 'conflict',
  '42501': 'no-rights',
  '53100': 'disk-full',
  '53200': 'out-of-memory',
  '53300': 'too-many-connections',
  '55P03': 'conflict',
  '57P': 'unreachable',
  '58': 'damaged',
  XX001: 'damaged',
  XX002: 'damaged',
};

const SQLSTATE_CANCELLED = '57014';

/** Messages of node-postgres, which have no code, for a lost connection. */
const CONNECTION_LOST =
  /^Connection terminated|^timeout expired|connection error and is not queryable|was closed and is not queryable/;

/** Messages of a connection pooler that does not take the settings of a session, or does not know its prepared statements. */
const POOLER = /unsupported startup parameter|prepared statement "[^"]*" (does not exist|already exists)/;

/** Messages of node-postgres when the server refuses the connection. */
const CONNECTION_REFUSED = /^SASL|SSL|certificate/i;

/** After these errors the same work may succeed later without a change. */
const TRANSIENT: ReadonlySet<string> = new Set([
  storeErrors.unreachable.code,
  storeErrors['commit-unknown'].code,
  storeErrors['too-many-connections'].code,
  storeErrors['pool-exhausted'].code,
  storeErrors.conflict.code,
  storeErrors['disk-full'].code,
  storeErrors['out-of-memory'].code,
  storeErrors['index-in-use'].code,
]);

/** Translates an error of the database or the connection to `store/*`; returns any other error as it is. */
export function storeError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return errorOfState(error);
  if (isTernError(error) || !(error instanceof Error)) return error;
  const isLost = CONNECTION_LOST.test(error.message) || ('syscall' in error && 'errno' in error);
  return isLost ? storeErrors.unreachable({ problem: problemOf(error) }, error) : error;
}

/** Opens a connection; the caller ends it. @throws store/unreachable, store/connection-refused */
export async function openSession(url: string, options: SessionOptions = {}): Promise<pg.Client> {
  const client = new pg.Client(connectionConfig(url, options));
  // Without a listener the process would exit; a lost connection is reported by `end`.
  client.on('error', () => {});
  await client.connect().catch((error) => {
    throw connectError(error);
  });
  return client;
}

/** Translates an error of connecting. */
function connectError(error: unknown): TernError {
  const known = storeError(error);
  if (isTernError(known)) return known;
  const problem = problemOf(error);
  return storeErrors[CONNECTION_REFUSED.test(problem) ? 'connection-refused' : 'unreachable']({ problem }, error);
}

/** Whether the same work may succeed when it is retried later. */
export function isTransient(error: unknown): boolean {
  return isTernError(error) && TRANSIENT.has(error.code);
}

function errorOfState(error: pg.DatabaseError): TernError {
  const problem = problemOf(error);
  const state = error.code ?? '';
  // A setting of sessions that PostgreSQL 14 introduced.
  if (/unrecognized configuration parameter "idle_session_timeout"/.test(problem)) {
    return storeErrors['server-too-old']({ version: '13 or earlier', least: OLDEST_MAJOR }, error);
  }
  if (POOLER.test(problem)) return storeErrors['connection-pooler']({ problem }, error);
  if (state === SQLSTATE_CANCELLED) return storeErrors.cancelled({ reason: problem }, error);
  const name = ERROR_BY_SQLSTATE[state] ?? ERROR_BY_SQLSTATE[state.slice(0, 3)] ?? ERROR_BY_SQLSTATE[state.slice(0, 2)];
  return name === undefined ? storeErrors.query({ state, problem }, error) : storeErrors[name]({ problem }, error);
}

function problemOf(error: unknown): string {
  // The error of a host with several addresses, none of which answers, has no message of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(problemOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const detail = error instanceof pg.DatabaseError ? error.detail : undefined;
  return detail === undefined ? error.message : `${error.message} (${detail})`;
}
