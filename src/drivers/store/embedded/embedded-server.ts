import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type pg from 'pg';
import { openSession, storeError } from '#drivers/store/connection.js';
import {
  embeddedProgram,
  type PostgresProgram,
  type PostgresUser,
  postgresUser,
  programIn,
} from '#drivers/store/embedded/postgres-program.js';
import {
  DATABASE,
  damageIn,
  initialise,
  makeSocketFolder,
  openLog,
  prepareFolder,
  readLog,
  readRunningServer,
  removeClusterDrafts,
  type ServerFolder,
  syncCluster,
} from '#drivers/store/embedded/server-folder.js';
import {
  connectToServer,
  exitOf,
  ownerOf,
  type ServerSettings,
  sendSignal,
  serverSettings,
  spawnServer,
  takeOwnership,
  usableMemory,
} from '#drivers/store/embedded/server-process.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type Clock, pause } from '#kernel/clock.js';
import { isRunning } from '#kernel/files.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import type { TernError } from '#kernel/tern-error.js';

export interface EmbeddedServerOptions {
  /** Folder of the server, such as `DATA/postgres`: holds `cluster` (its data), `run` (its socket) and `server.log`. */
  readonly folder: string;
  /** A PostgreSQL to run instead of the packaged one: a folder that contains `bin`. */
  readonly program?: string;
  /** Overrides of {@link serverSettings}. */
  readonly settings?: ServerSettings;
  /**
   * Whether a new cluster is synced to disk before it is used; `later`: while it is used, so a power failure in its first
   * seconds may corrupt it. `false` is for tests. Default: true.
   */
  readonly sync?: boolean | 'later';
  /**
   * Called, once or more, when the work is with another process: `initdb`, the copy of a template, or the server. A caller that blocks
   * its event loop before, for example by loading modules, delays the start.
   */
  readonly onUnderWay?: () => void;
  /** Where empty clusters are kept that new ones are copied from; see {@link NewCluster}. Default: none. */
  readonly templates?: string;
  /** Whether there is to be a database `tern`; if not, databases are those of `ensureDatabase`. Default: true. */
  readonly hasDatabase?: boolean;
  /** Time limit of the start, including recovery after a crash. Default: 10 minutes. */
  readonly startTimeoutMs?: number;
}

export interface EmbeddedServerModules {
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** A PostgreSQL server that lives as long as this process; restarted when it ends unexpectedly. */
export interface EmbeddedServer {
  /** URL of the database `tern`, if it is to have one; works for the user of this process and for root. */
  readonly url: string;
  /** URL of another database of the server. */
  urlOf(database: string): string;
  /** Creates a database if it does not exist, or gives its name to the prepared one; returns its URL. */
  ensureDatabase(name: string): Promise<string>;
  /**
   * Creates a database in advance, which gets the next name that does not exist. Where that fails there is none, and a start that is
   * killed meanwhile leaves one that the next preparation completes.
   *
   * @param prepare is given the URL; keeps no connection
   */
  prepareDatabase(prepare: (url: string) => Promise<void>): void;
  /** Version of the server, such as `18.4`. */
  readonly version: string;
  /** Process id of the server; `null` while there is none. */
  readonly pid: number | null;
  /** Stops the server. Running queries are aborted; committed data stay. */
  close(): Promise<void>;
}

/** Name of a database that is made before its name is known. */
const PREPARED = 'prepared';

const STARTING_OR_STOPPING = '57P03';
/** SQLSTATE of a connection that is refused because a file of the cluster is missing or damaged. */
const DAMAGED_STATE = /^(58P01|XX001|XX002)$/;
/** A server without an owner for so long was left behind. */
const UNOWNED_MS = 2000;
/** After it a server is stopped without a checkpoint; the next start recovers from the WAL. */
const STOP_TIMEOUT_MS = 60_000;
/** The same after a failed start. */
const FAILED_STOP_TIMEOUT_MS = 5000;
/** A server that is to stop without a checkpoint ends its processes by force after 5 s. */
const FORCED_STOP_TIMEOUT_MS = 15_000;

/**
 * Starts the embedded server; the first start creates an empty database `tern`. A server that a killed process left behind in
 * the folder is stopped first. A refused start changes nothing.
 *
 * @throws store/embedded-*
 */
export async function startEmbeddedServer(
  options: EmbeddedServerOptions,
  modules: EmbeddedServerModules,
): Promise<EmbeddedServer> {
  if (process.platform === 'win32') {
    const problem = 'the embedded database is for Linux and macOS';
    throw storeErrors['embedded-program']({ folder: options.folder, problem });
  }
  const user = await postgresUser(join(options.folder, 'cluster'));
  const folder = await prepareFolder(options.folder, user);
  const program = await findProgram(options, user);
  const logger = modules.logger ?? silentLogger;
  const { sync = true, templates = null, onUnderWay = () => {} } = options;
  const isNew = await initialise(folder, program, user, {
    ...{ sync: sync === true, templates, onUnderWay },
    onProblem: (problem) => logger.warn('the template of new databases was not copied; one is made', { problem }),
  });
  if (isNew) logger.info('created a new database', { folder: folder.folder, version: program.version });
  const server = new Server(options, { clock: modules.clock, logger }, { folder, program, user });
  try {
    await server.start();
  } catch (error) {
    await server.close();
    throw error;
  }
  if (isNew && sync === 'later') {
    void syncCluster(folder.cluster, program, user).then((problem) => {
      if (problem !== null) logger.warn('the new database may not be on the disk yet', { problem });
    });
  }
  return server;
}

async function findProgram(options: EmbeddedServerOptions, user: PostgresUser | null): Promise<PostgresProgram> {
  if (options.program === undefined) return embeddedProgram(user, options.folder);
  const found = await programIn(options.program, user);
  if (typeof found !== 'string') return found;
  throw storeErrors['embedded-program']({ folder: options.program, problem: found });
}

interface Found {
  readonly folder: ServerFolder;
  readonly program: PostgresProgram;
  readonly user: PostgresUser | null;
}

class Server implements EmbeddedServer {
  readonly #options: EmbeddedServerOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #folder: ServerFolder;
  readonly #program: PostgresProgram;
  readonly #user: PostgresUser | null;
  readonly #closing = sharedAbortController();
  #socketFolder = '';
  #child: ChildProcess | null = null;
  #logStart = 0;
  #running: Promise<void> = Promise.resolve();
  /** Whether there is a prepared database. */
  #prepared: Promise<boolean> = Promise.resolve(false);

  constructor(options: EmbeddedServerOptions, { clock, logger }: Required<EmbeddedServerModules>, found: Found) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#folder = found.folder;
    this.#program = found.program;
    this.#user = found.user;
  }

  get url(): string {
    return this.urlOf(DATABASE);
  }

  urlOf(database: string): string {
    return `postgresql://${DATABASE}@/${encodeURIComponent(database)}?host=${encodeURIComponent(this.#socketFolder)}`;
  }

  get version(): string {
    return this.#program.version;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    await this.#stopOrphan();
    this.#socketFolder = await makeSocketFolder(this.#folder, this.#user);
    const owner = await this.#spawn();
    await removeClusterDrafts(this.#folder);
    if (this.#options.hasDatabase ?? true) await createDatabase(owner, DATABASE);
    this.#running = this.#keepRunning();
  }

  async ensureDatabase(name: string): Promise<string> {
    const isPrepared = await this.#prepared;
    this.#prepared = Promise.resolve(false);
    return this.#asAdministrator(async (client) => {
      if (isPrepared && !(await hasDatabase(client, name))) await renameDatabase(client, PREPARED, name);
      else await createDatabase(client, name);
      return this.urlOf(name);
    });
  }

  prepareDatabase(prepare: (url: string) => Promise<void>): void {
    const preparing = async (): Promise<boolean> => {
      await this.#asAdministrator((client) => createDatabase(client, PREPARED));
      await prepare(this.urlOf(PREPARED));
      return true;
    };
    this.#prepared = preparing().catch((error: Error) => {
      if (!this.#closing.signal.aborted) {
        this.#logger.warn('a database could not be prepared', { problem: error.message });
      }
      return false;
    });
  }

  /** @throws store/* */
  async #asAdministrator<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = await openSession(this.urlOf('postgres'));
    try {
      return await work(client);
    } catch (error) {
      throw storeError(error);
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return this.#running;
    this.#closing.abort();
    const child = this.#child;
    // The server makes a checkpoint now; should that take too long, the WAL has everything.
    if (child !== null) await this.#stopChild(child, STOP_TIMEOUT_MS);
    await this.#running;
    if (!this.#socketFolder.startsWith(this.#folder.folder)) {
      await rm(this.#socketFolder, { recursive: true, force: true });
    }
  }

  /** Runs the server and takes ownership of it. */
  async #spawn(): Promise<pg.Client> {
    const { log, start } = await openLog(this.#folder);
    const child = spawnServer({
      program: this.#program,
      user: this.#user,
      cluster: this.#folder.cluster,
      socketFolder: this.#socketFolder,
      settings: { ...serverSettings(usableMemory()), ...this.#options.settings },
      log: log.fd,
    });
    this.#options.onUnderWay?.();
    await log.close();
    const ended = exitOf(child).then(() => {
      if (this.#child === child) this.#child = null;
    });
    this.#child = child;
    this.#logStart = start;
    if (this.#closing.signal.aborted) child.kill('SIGINT');
    try {
      const owner = await this.#awaitReady(child);
      this.#keepOwnership(child, owner);
      return owner;
    } catch (error) {
      // A damaged server may not stop in order.
      await this.#stopChild(child, FAILED_STOP_TIMEOUT_MS);
      await ended;
      throw error;
    }
  }

  /** Stops a server in order; without a checkpoint after `timeoutMs`, and by force when it does not end then either. */
  async #stopChild(child: ChildProcess, timeoutMs: number): Promise<void> {
    const gone = new AbortController();
    const ended = exitOf(child).then(() => gone.abort());
    const steps = [
      ['SIGINT', timeoutMs],
      ['SIGQUIT', FORCED_STOP_TIMEOUT_MS],
    ] as const;
    for (const [signal, waitMs] of steps) {
      child.kill(signal);
      await pause(waitMs, this.#clock, gone.signal);
      if (gone.signal.aborted) return;
    }
    child.kill('SIGKILL');
    await ended;
  }

  async #awaitReady(child: ChildProcess): Promise<pg.Client> {
    const { folder } = this.#folder;
    const end = this.#clock.now() + this.#startTimeoutMs;
    for (let delayMs = 10; this.#clock.now() < end; delayMs = Math.min(250, delayMs * 1.5)) {
      await pause(delayMs, this.#clock);
      if (this.#child !== child) {
        const log = await readLog(this.#folder, this.#logStart);
        // Another process was faster: that error is more precise.
        if (log.includes('lock file "postmaster.pid" already exists')) await this.#stopOrphan();
        const damage = damageIn(log);
        if (damage !== null) throw storeErrors['embedded-damaged']({ folder: this.#folder.cluster, problem: damage });
        throw storeErrors['embedded-start']({ folder, log });
      }
      const owner = await connectToServer(this.#socketFolder);
      if (typeof owner === 'string') {
        if (DAMAGED_STATE.test(owner)) throw await this.#damaged(owner);
        continue;
      }
      const holder = await takeOwnership(owner);
      if (holder === null) return owner;
      await owner.end();
      throw this.#inUse(holder);
    }
    const log = await readLog(this.#folder, this.#logStart);
    throw storeErrors['embedded-start']({ folder, log: `not ready after ${this.#startTimeoutMs} ms; ${log}` });
  }

  async #damaged(state: string): Promise<TernError> {
    const problem = damageIn(await readLog(this.#folder, this.#logStart)) ?? `it refuses connections with ${state}`;
    return storeErrors['embedded-damaged']({ folder: this.#folder.cluster, problem });
  }

  /** Stops a server that runs in the folder and has no owner. */
  async #stopOrphan(): Promise<void> {
    const start = this.#clock.now();
    for (let wasFree = false; ; ) {
      const running = await readRunningServer(this.#folder);
      if (running === null) return;
      this.#options.onUnderWay?.();
      const client = await connectToServer(running.socketFolder);
      if (typeof client === 'string') {
        // The process id may belong to another process by now; PostgreSQL checks that when it starts.
        const deadlineMs = client === STARTING_OR_STOPPING ? this.#startTimeoutMs : 5000;
        if (this.#clock.now() - start > deadlineMs) return;
        await pause(100, this.#clock);
        continue;
      }
      // It may be ending and not answer any more.
      const owner = await ownerOf(client).catch(() => null);
      await client.end().catch(() => {});
      if (owner !== null) throw this.#inUse(owner);
      // One that has just started may be about to get its owner.
      if (wasFree) await this.#stop(running.pid);
      else await pause(UNOWNED_MS, this.#clock);
      wasFree = true;
    }
  }

  async #stop(pid: number): Promise<void> {
    this.#logger.warn('stopping a database server that was left behind', { pid });
    sendSignal(pid, 'SIGINT');
    const end = this.#clock.now() + STOP_TIMEOUT_MS;
    while (isRunning(pid) && this.#clock.now() < end) await pause(50, this.#clock);
    sendSignal(pid, 'SIGQUIT');
  }

  get #startTimeoutMs(): number {
    return this.#options.startTimeoutMs ?? 600_000;
  }

  #inUse(holder: string): TernError {
    return storeErrors['embedded-in-use']({ folder: this.#folder.folder, holder });
  }

  /** After a crash of one of its processes the server closes all connections and continues. */
  #keepOwnership(child: ChildProcess, owner: pg.Client): void {
    owner.once('end', () => void this.#takeOwnershipAgain(child));
  }

  async #takeOwnershipAgain(child: ChildProcess): Promise<void> {
    const isMine = () => this.#child === child && !this.#closing.signal.aborted;
    while (isMine()) {
      await pause(200, this.#clock, this.#closing.signal);
      const next = isMine() ? await connectToServer(this.#socketFolder) : '';
      if (typeof next === 'string') continue;
      if ((await takeOwnership(next).catch(() => '')) === null) return this.#keepOwnership(child, next);
      await next.end().catch(() => {});
    }
  }

  /** Restarts the server when it ends unexpectedly. */
  async #keepRunning(): Promise<void> {
    for (let delayMs = 250; ; delayMs = Math.min(30_000, delayMs * 2)) {
      const child = this.#child;
      if (child !== null) {
        const began = this.#clock.now();
        const end = await exitOf(child);
        if (this.#closing.signal.aborted) return;
        if (this.#clock.now() - began > 60_000) delayMs = 250;
        const log = await readLog(this.#folder, this.#logStart);
        const { message } = storeErrors['embedded-ended']({ folder: this.#folder.folder, end, log });
        this.#logger.warn('the database server ended; it is restarted', { problem: message });
      }
      await pause(delayMs, this.#clock, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      await this.#spawn().catch((error) => {
        this.#logger.warn('the database server cannot be restarted yet', { problem: String(error) });
      });
    }
  }
}

async function hasDatabase(client: pg.Client, name: string): Promise<boolean> {
  return (await client.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount !== 0;
}

async function createDatabase(client: pg.Client, name: string): Promise<void> {
  if (!(await hasDatabase(client, name))) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
}

async function renameDatabase(client: pg.Client, from: string, to: string): Promise<void> {
  await client.query(`ALTER DATABASE ${client.escapeIdentifier(from)} RENAME TO ${client.escapeIdentifier(to)}`);
}
