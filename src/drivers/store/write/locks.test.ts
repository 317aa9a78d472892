import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { LeaderLock } from '#drivers/store/write/locks.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const PROGRAM = fileURLToPath(new URL('../../../../test/support/leader-process.ts', import.meta.url));
const QUICK = { everyMs: 100, deadAfterMs: 4000 };

let test: TestDatabase;
let database: Database;
let children: ChildProcess[] = [];

beforeEach(async () => {
  test = await testDatabase('empty');
  database = await Database.open({ url: test.url }, { clock: systemClock });
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  await database.close();
  await test.close();
});

function take(options = QUICK, signal = new AbortController().signal): Promise<LeaderLock | null> {
  return LeaderLock.take(database, systemClock, options, signal);
}

async function otherProcess(): Promise<ChildProcess> {
  const child = spawn(execPath, ['--conditions=source', '--import', 'tsx', PROGRAM, test.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = await once(child.stdout!, 'data');
  expect(String(said)).toBe('leads\n');
  return child;
}

/** A way to the database on which nothing comes back any more when it is told so. */
async function silentLine(url: string) {
  const real = new URL(url.replace('@/', '@socket/')).searchParams.get('host')!;
  const folder = await mkdtemp(join(tmpdir(), 'tern-line-'));
  let silent = false;
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(join(real, '.s.PGSQL.5432'));
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.pipe(upstream);
    upstream.on('data', (data) => {
      if (!silent) client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve));
  return {
    url: url.replace(encodeURIComponent(real), encodeURIComponent(folder)),
    silence: () => {
      silent = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('the lock of the leader', () => {
  it('is had by one, and then by the next when it is given back', async () => {
    const first = await take();
    let taken = false;
    const second = take().then((lock) => {
      taken = true;
      return lock;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([first!.lost.aborted, taken]).toEqual([false, false]);
    await first!.release();
    expect(await second).toBeInstanceOf(LeaderLock);
    await (await second)!.release();
  });

  it('passes on when its process is killed, long before TCP would notice it', async () => {
    const child = await otherProcess();
    const waiting = take({ everyMs: 1000, deadAfterMs: 4000 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const killed = Date.now();
    child.kill('SIGKILL');
    const lock = await waiting;
    expect(Date.now() - killed).toBeLessThan(60_000);
    await lock!.release();
  });

  it('reports at once when it is lost with its connection', async () => {
    const lock = await take();
    const client = await test.connect();
    const lost = once(lock!.lost, 'abort');
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tern leader'");
    await lost;
    const next = await take();
    expect(next).toBeInstanceOf(LeaderLock);
    await next!.release();
    await lock!.release();
  });

  it('is lost when the database does not answer any more', async () => {
    const line = await silentLine(test.url);
    const behind = await Database.open({ url: line.url }, { clock: systemClock });
    const lock = await LeaderLock.take(
      behind,
      systemClock,
      { everyMs: 50, deadAfterMs: 400 },
      new AbortController().signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(lock!.lost.aborted).toBe(false);
    const lost = once(lock!.lost, 'abort');
    line.silence();
    await lost;
    await lock!.release();
    line.close();
    await behind.close();
  });

  it('is waited for until nobody wants it any more', async () => {
    const lock = await take();
    const stop = new AbortController();
    const waiting = take(QUICK, stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 200));
    stop.abort();
    expect(await waiting).toBeNull();
    await lock!.release();
    const { rows } = await (await test.connect()).query(
      "SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    expect(rows).toEqual([{ locks: 0 }]);
  });
});
