import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectionConfig } from '#drivers/store/connection.js';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from '#drivers/store/embedded/embedded-server.js';
import { closedFolder, embeddedProgram, postgresUser, programIn } from '#drivers/store/embedded/postgres-program.js';
import { serverSettings } from '#drivers/store/embedded/server-process.js';
import { storeErrors } from '#drivers/store/errors.js';
import { systemClock } from '#kernel/clock.js';
import { isRunning } from '#kernel/files.js';
import { type LogFields, type Logger, silentLogger } from '#kernel/logger.js';

const isRoot = process.getuid?.() === 0;
const code = (name: keyof typeof storeErrors) => ({ code: storeErrors[name].code });

/** One folder with a cluster for most of the tests: each leaves it without a server. */
let base: string;
let folder: string;
const open: (() => unknown)[] = [];

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tern-embedded-'));
  await chmod(base, 0o755);
  folder = join(base, 'postgres');
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
afterAll(async () => {
  // A test that failed may have left a server without anybody who watches it.
  for (const pid of processesOf(base)) process.kill(pid, 'SIGKILL');
  await rm(base, { recursive: true, force: true });
});

async function start(
  options: Partial<EmbeddedServerOptions> = {},
  logger: Logger = silentLogger,
): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ folder, sync: false, ...options }, { clock: systemClock, logger });
  open.push(() => server.close());
  return server;
}

async function query(url: string, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client(connectionConfig(url));
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

interface Holder {
  readonly child: ChildProcess;
  readonly said: { readonly url?: string; readonly pid?: number; readonly code?: string };
}

/** Another process with a server in the folder. */
async function holder(at = folder): Promise<Holder> {
  const program = join(import.meta.dirname, '../../../../test/support/embedded-holder.ts');
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', program, at], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout!, 'data');
  open.push(() => child.kill('SIGKILL'));
  return { child, said: JSON.parse(String(said)) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Processes whose command line names the folder: servers and those that watch them. */
function processesOf(at: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args=']).toString().split('\n');
  return lines.filter((line) => line.includes(`-D ${at}/`)).map((line) => Number.parseInt(line, 10));
}

describe('an embedded server', () => {
  it('keeps what was written, and leaves no process when it is closed', async () => {
    const first = await start();
    expect(Number.parseInt(first.version, 10)).toBe(18);
    await query(first.url, 'CREATE TABLE kept (a integer); INSERT INTO kept VALUES (5)');
    const [settings] = await query(
      first.url,
      `SELECT current_setting('listen_addresses') AS addresses, current_setting('synchronous_commit') AS commits,
         current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding, current_setting('jit') AS jit,
         (SELECT datcollate FROM pg_database WHERE datname = 'tern') AS collation`,
    );
    expect(settings).toEqual({
      ...{ addresses: '', commits: 'on', fsync: 'on', encoding: 'UTF8', jit: 'off', collation: 'C' },
    });
    await first.close();
    await first.close();
    // The shell that watches the server ends once it is told that the server has ended.
    await expect.poll(() => processesOf(folder)).toEqual([]);
    const second = await start();
    expect(await query(second.url, 'SELECT a FROM kept')).toEqual([{ a: 5 }]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await readdir(folder)).sort()).toEqual(['cluster', 'run', 'server.log']);
    if (isRoot) expect((await stat(join(folder, 'cluster'))).uid).not.toBe(0);
  });

  it('makes other databases, each once, whatever they are called', async () => {
    const server = await start();
    const name = 'Dev "1"';
    const url = await server.ensureDatabase(name);
    await query(url, 'CREATE TABLE kept (a integer)');
    expect(await server.ensureDatabase(name)).toBe(url);
    expect(await query(url, 'SELECT current_database() AS name, count(*) FROM kept')).toEqual([{ name, count: 0n }]);
  });

  it('gives a database that was prepared the next name that is new, and makes one where that failed', async () => {
    const logged: unknown[] = [];
    const logger = { info() {}, warn: (_: string, fields?: LogFields) => void logged.push(fields?.problem) };
    const server = await start({ folder: join(base, 'prepared'), hasDatabase: false }, logger);
    const tables = async (url: string) =>
      (await query(url, "SELECT relname FROM pg_class WHERE relname LIKE 'made_%' ORDER BY 1")).map(
        (row) => row.relname,
      );
    server.prepareDatabase(async (url) => void (await query(url, 'CREATE TABLE made_early (a integer)')));
    const first = await server.ensureDatabase('first');
    expect(await tables(first)).toEqual(['made_early']);
    expect(await tables(await server.ensureDatabase('second'))).toEqual([]);

    server.prepareDatabase(async (url) => {
      await query(url, 'CREATE TABLE made_half (a integer)');
      throw new Error('no more tables');
    });
    expect(await tables(await server.ensureDatabase('third'))).toEqual([]);
    expect(logged).toEqual(['no more tables']);
    // What was left is completed by the next one; a name that is there already stays what it is.
    server.prepareDatabase(async (url) => void (await query(url, 'CREATE TABLE made_late (a integer)')));
    expect(await server.ensureDatabase('first')).toBe(first);
    expect(await tables(first)).toEqual(['made_early']);
    await expect(query(server.url, 'SELECT 1')).rejects.toThrow('database "tern" does not exist');
  });

  it('is refused to a second Tern, in the same process or another', async () => {
    const server = await start();
    const holds = `process ${process.pid}`;
    const second = await start().catch((error) => error);
    expect(second).toMatchObject({ ...code('embedded-in-use'), data: { holder: holds } });
    expect((await holder()).said).toEqual(code('embedded-in-use'));
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('ends when its Tern is killed', async () => {
    const { child, said } = await holder();
    await query(said.url!, 'CREATE TABLE killed AS SELECT 7 AS a');
    expect(isRunning(said.pid!)).toBe(true);
    child.kill('SIGKILL');
    await until(() => processesOf(folder).length === 0);
    const server = await start();
    expect(await query(server.url, 'SELECT a FROM killed')).toEqual([{ a: 7 }]);
  });

  it('can be started at once after its Tern was killed', async () => {
    const { child, said } = await holder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const server = await start();
    expect(server.pid).not.toBe(said.pid);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('that outlived its Tern is stopped first', async () => {
    const { child, said } = await holder();
    // Whoever watches is killed as well.
    for (const pid of processesOf(folder)) if (pid !== said.pid && isWatching(pid)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isRunning(said.pid!)).toBe(true);
    const server = await start();
    expect(isRunning(said.pid!)).toBe(false);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('ends in order when its Tern is told to', async () => {
    const { child } = await holder();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    // The one that watches the server sees its end a moment later.
    await expect.poll(() => processesOf(folder)).toEqual([]);
    expect(await readFile(join(folder, 'server.log'), 'utf8')).toMatch(/database system is shut down\n$/);
  });

  it('is started again when it ends by itself, with the same URL', async () => {
    const server = await start();
    await query(server.url, 'CREATE TABLE crashed AS SELECT 9 AS a');
    const { pid } = server;
    process.kill(pid!, 'SIGKILL');
    await until(() => server.pid !== null && server.pid !== pid);
    let rows: pg.QueryResultRow[] = [];
    while (rows.length === 0) rows = await query(server.url, 'SELECT a FROM crashed').catch(() => []);
    expect(rows).toEqual([{ a: 9 }]);
    await expect(start()).rejects.toMatchObject(code('embedded-in-use'));
  });

  it('stays the property of its Tern when one of its processes crashes', async () => {
    const server = await start();
    const [backend] = await query(server.url, 'SELECT pg_backend_pid() AS pid');
    expect(backend!.pid).toBeGreaterThan(0);
    const client = new pg.Client(connectionConfig(server.url));
    const ended = new Promise((resolve) => client.once('error', resolve));
    await client.connect();
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0].pid, 'SIGKILL');
    await ended;
    let owners: pg.QueryResultRow[] = [];
    const sql = `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND granted`;
    while (owners[0]?.count !== 1n) owners = await query(server.urlOf('postgres'), sql).catch(() => []);
    await expect(start()).rejects.toMatchObject(code('embedded-in-use'));
  });

  it('is not there when closing meets a start', async () => {
    const server = await start();
    process.kill(server.pid!, 'SIGKILL');
    await until(() => server.pid === null);
    await new Promise((resolve) => setTimeout(resolve, 260));
    await server.close();
    await expect.poll(() => processesOf(folder)).toEqual([]);
  });
});

/** Whether a process is the shell that watches, not a server. */
function isWatching(pid: number): boolean {
  return (
    execFileSync('ps', ['-o', 'comm=', '-p', String(pid)])
      .toString()
      .trim() === 'sh'
  );
}

describe('a folder', () => {
  it('of another major version is refused untouched', async () => {
    const other = join(base, 'other');
    await mkdir(join(other, 'cluster'), { recursive: true });
    await writeFile(join(other, 'cluster', 'PG_VERSION'), '16\n');
    await expect(start({ folder: other })).rejects.toMatchObject({ ...code('embedded-version'), data: { found: 16 } });
    expect(await readdir(join(other, 'cluster'))).toEqual(['PG_VERSION']);
    await rm(other, { recursive: true });
  });

  it('with a file in its place is refused', async () => {
    const file = join(base, 'file');
    await writeFile(file, 'x');
    await expect(start({ folder: join(file, 'postgres') })).rejects.toMatchObject(code('embedded-folder'));
  });

  it('may have a path too long for a socket', async () => {
    const long = join(base, 'x'.repeat(60), 'y'.repeat(60));
    const server = await start({ folder: long });
    expect(server.url).not.toContain(encodeURIComponent(long));
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const socket = decodeURIComponent(new URL(server.url.replace('@/', '@h/')).searchParams.get('host')!);
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
    await server.close();
    expect(existsSync(socket)).toBe(false);
    await rm(long, { recursive: true });
  });

  it('with what a killed start left is good', async () => {
    const fresh = join(base, 'fresh');
    await mkdir(join(fresh, 'cluster-aBcDeF'), { recursive: true });
    await writeFile(join(fresh, 'cluster-aBcDeF', 'PG_VERSION'), '18\n');
    await start({ folder: fresh });
    expect((await readdir(fresh)).sort()).toEqual(['cluster', 'run', 'server.log']);
  });

  it('is used by one of two that start at once', async () => {
    const shared = join(base, 'shared');
    const starts = await Promise.allSettled([start({ folder: shared }), start({ folder: shared })]);
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = starts.find((end) => end.status === 'rejected');
    expect(refused?.reason).toMatchObject(code('embedded-in-use'));
  });

  if (!isRoot) console.warn('not root: the tests about the user of the server are skipped');

  it.runIf(isRoot)('that the user of the server may not enter is refused, by name', async () => {
    const closed = join(base, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await expect(start({ folder: join(closed, 'data', 'postgres') })).rejects.toMatchObject({
      ...code('embedded-folder'),
      message: expect.stringContaining(`may not enter ${closed}`),
    });
    const user = (await postgresUser(folder))!;
    expect(await closedFolder(join(closed, 'data'), user)).toBe(closed);
    await chmod(closed, 0o711);
    expect(await closedFolder(join(closed, 'data'), user)).toBe(null);
  });
});

/** The package as npm unpacks it: links are named in pg-symlinks.json, and not made. */
async function copyWithoutLinks(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() });
  await cp(join(from, '..', 'package.json'), join(to, '..', 'package.json'));
}

describe('the program', () => {
  it('is reported when it does not run', async () => {
    await expect(start({ program: join(base, 'nowhere') })).rejects.toMatchObject(code('embedded-program'));
  });

  it('gets the links that its installation may not have made', async () => {
    const user = await postgresUser(folder);
    const found = await embeddedProgram(user, base);
    await copyWithoutLinks(found.folder, join(base, 'bare', 'native'));
    expect(await programIn(join(base, 'bare', 'native'), user)).toMatch(/shared librar/);
    expect(await embeddedProgram(user, base, join(base, 'bare', 'native'))).toMatchObject({ version: found.version });
    expect(await programIn(join(base, 'bare', 'native'), user)).toMatchObject({ version: found.version });
  });

  it.runIf(isRoot)('is copied once when its user cannot reach it', async () => {
    const user = (await postgresUser(folder))!;
    const found = await embeddedProgram(user, base);
    const hidden = join(base, 'hidden', 'native');
    await copyWithoutLinks(found.folder, hidden);
    await chmod(join(base, 'hidden'), 0o700);
    const copied = await embeddedProgram(user, base, hidden);
    expect(copied.folder).toMatch(/program-18/);
    expect(copied.version).toBe(found.version);
    const server = await start({ folder: join(base, 'copied'), program: copied.folder });
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const { mtimeMs } = await stat(copied.folder);
    expect(await embeddedProgram(user, base, hidden)).toEqual(copied);
    expect((await stat(copied.folder)).mtimeMs).toBe(mtimeMs);
  });

  const oldest = '/usr/lib/postgresql/15';
  if (!existsSync(oldest)) console.warn(`${oldest} is not there: the test that needs PostgreSQL 15 is skipped`);

  it.runIf(existsSync(oldest))('may be PostgreSQL 15, whose folder the packaged one refuses', async () => {
    const at = join(base, 'fifteen');
    const server = await start({ folder: at, program: oldest });
    expect(server.version).toMatch(/^15\./);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.close();
    await expect(start({ folder: at })).rejects.toMatchObject({ ...code('embedded-version'), data: { found: 15 } });
  });
});

it('memory is shared out by the size of the machine, within bounds', () => {
  const of = (bytes: number) => {
    const { shared_buffers, effective_cache_size, maintenance_work_mem } = serverSettings(bytes);
    return [shared_buffers, effective_cache_size, maintenance_work_mem];
  };
  expect(of(2 ** 28)).toEqual(['64MB', '256MB', '64MB']);
  expect(of(2 ** 34)).toEqual(['2048MB', '8192MB', '512MB']);
  expect(of(2 ** 40)).toEqual(['8192MB', '65536MB', '1024MB']);
});

describe('a template of clusters', () => {
  it('is kept from the first cluster, and others are copied from it', async () => {
    const templates = join(base, 'templates');
    const first = await start({ folder: join(base, 'templated'), templates });
    const kept = async () => (await readdir(templates)).filter((name) => /^cluster-[\d.]+-\w+$/.test(name));
    await expect.poll(kept, { timeout: 60_000 }).toHaveLength(1);
    const [name] = await kept();
    await writeFile(join(templates, name!, 'marked'), '');

    const problems: unknown[] = [];
    const logger = { info() {}, warn: (_: string, fields?: LogFields) => void problems.push(fields?.problem) };
    // A folder of its own: another test has a cluster in `copied`.
    const second = await start({ folder: join(base, 'from-template'), templates, sync: true }, logger);
    expect(problems).toEqual([]);
    expect(existsSync(join(base, 'from-template/cluster/marked'))).toBe(true);
    expect((await stat(join(base, 'from-template/cluster'))).mode & 0o777).toBe(0o700);
    for (const { url } of [first, second]) expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('that is half of one, or cannot be kept, does no harm', async () => {
    const templates = join(base, 'half');
    await mkdir(templates);
    const file = join(base, 'no-folder');
    await writeFile(file, '');
    const server = await start({ folder: join(base, 'without'), templates: file });
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const [major] = server.version.split('.');
    // Without PG_VERSION it is none.
    await mkdir(join(templates, `cluster-${server.version}-${process.arch}`));
    const other = await start({ folder: join(base, 'half-copied'), templates });
    expect(await query(other.url, 'SHOW server_version')).toEqual([
      { server_version: expect.stringMatching(`^${major}`) },
    ]);
  });
});
