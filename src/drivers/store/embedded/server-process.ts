import { type ChildProcess, spawn } from 'node:child_process';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import type { PostgresProgram, PostgresUser } from '#drivers/store/embedded/postgres-program.js';
import { DATABASE } from '#drivers/store/embedded/server-folder.js';
import { isRunning } from '#kernel/files.js';

/** The port number in the name of the socket. */
const PORT = 5432;

/**
 * Executes the server after starting a watcher that stops it when the pipe on its standard input closes without a line: when the
 * parent process is gone, for whatever reason. `$$` stays the same through `exec`. The watcher must not be a child of the
 * server, which takes an unknown child for a crashed process of its own. The server has a lower priority than this process, whose
 * event loop all requests wait for: many queries at a time must not take the processor from it. It is a session of its own, and
 * Linux may share processors between sessions first: then that of the session counts; see sched(7), autogroup.
 */
const WATCHED_SERVER = `exec 3<&0
( { read -r _ <&3 || kill -INT $$; } </dev/null >/dev/null 2>&1 & )
{ echo 5 > /proc/$$/autogroup; } 2>/dev/null || :
exec nice -n 5 "$@" 3<&- </dev/null`;

/** Parameters of a server process. */
export interface ServerProcess {
  readonly program: PostgresProgram;
  readonly user: PostgresUser | null;
  /** The data directory. */
  readonly cluster: string;
  readonly socketFolder: string;
  readonly settings: ServerSettings;
  /** Descriptor of the open file that the log goes to. */
  readonly log: number;
}

/** Starts a server that ends with this process. It ignores Ctrl-C, so that this process can stop it in order. */
export function spawnServer({ program, user, cluster, socketFolder, settings, log }: ServerProcess): ChildProcess {
  const server = [
    ...[join(program.folder, 'bin', 'postgres'), '-D', cluster, '-k', socketFolder, '-p', String(PORT)],
    ...settingArguments(settings),
  ];
  const child = spawn('/bin/sh', ['-c', WATCHED_SERVER, 'sh', ...server], {
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', log, log],
    detached: true,
  });
  child.stdin?.on('error', () => {});
  // A line makes the watcher end without doing anything.
  void exitOf(child).then(() => child.stdin?.end('\n'));
  return child;
}

/** Resolves when a process has ended, with the reason as text. */
export function exitOf(child: ChildProcess): Promise<string> {
  const inWords = (code: number | null, signal: string | null) => (signal === null ? `exit code ${code}` : `${signal}`);
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(inWords(child.exitCode, child.signalCode));
  }
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(inWords(code, signal)));
    child.once('error', (error) => resolve(error.message));
  });
}

/** Does nothing when the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal);
}

/** Settings of a PostgreSQL server by name, as in postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string | number>>;

const MiB = 2 ** 20;

/** Memory available to this process and its children, in bytes: the limit of the container if there is one. */
export function usableMemory(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Settings of the embedded server, for a machine that runs only Tern: large batches are written, reads are mostly of recent data,
 * and Tern's caches need memory as well. Commits are durable when they are acknowledged.
 *
 * @param memoryBytes see {@link usableMemory}
 */
export function serverSettings(memoryBytes: number): ServerSettings {
  const share = (part: number, least: number, most: number) =>
    `${Math.round(Math.min(most, Math.max(least, (memoryBytes * part) / MiB)))}MB`;
  return {
    // A Unix socket in a private folder: no port conflicts and no password.
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: 64,
    shared_buffers: share(1 / 8, 64, 8192),
    effective_cache_size: share(1 / 2, 256, 65_536),
    maintenance_work_mem: share(1 / 32, 64, 1024),
    work_mem: '16MB',
    // Compiling a query costs more than running any of ours; other cores are for Tern.
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    synchronous_commit: 'on',
    // No replication; rows copied into a table that the same transaction created need no WAL then.
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    // A query over all partitions locks each of them and its indexes.
    max_locks_per_transaction: 512,
    // Errors of statements are returned to the client; logging them could fill the disk.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

/** As arguments of `postgres`. */
function settingArguments(settings: ServerSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Session-level advisory lock in the database `postgres` of the cluster: held by the process that owns the server. */
const OWNER_LOCK = [0x5465726e, 1];

/** A connection to the database `postgres` of the server behind a socket, or the code of the error. */
export async function connectToServer(socketFolder: string): Promise<pg.Client | string> {
  if (socketFolder === '') return 'no socket yet';
  const client = new pg.Client({
    host: socketFolder,
    port: PORT,
    user: DATABASE,
    database: 'postgres',
    application_name: `process ${process.pid}`,
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

/** Takes ownership for the client's session. @returns null, or the present owner when there is one */
export async function takeOwnership(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', OWNER_LOCK);
  return rows[0].taken ? null : ((await ownerOf(client)) ?? 'unknown');
}

/** The owner of the server: `process 123`; `null` for none. */
export async function ownerOf(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2`,
    OWNER_LOCK,
  );
  return rows[0]?.name ?? null;
}
