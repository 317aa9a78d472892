import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionConfig, isTransient } from '#drivers/store/connection.js';
import { Database, type DatabaseOptions } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { startTcpProxy } from '#test/support/tcp-proxy.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let test: TestDatabase;
/** A connection beside those of the database. */
let beside: pg.Client;

beforeAll(async () => {
  test = await testDatabase('empty');
  beside = await test.connect();
  await beside.query('CREATE TABLE numbers (n bigint PRIMARY KEY)');
});
afterAll(() => test.close());

async function withDatabase(
  options: Partial<DatabaseOptions>,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await Database.open({ url: test.url, ...options }, { clock: systemClock });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

/** How many queries of readings run in the server. */
async function running(): Promise<bigint> {
  const { rows } = await beside.query(
    `SELECT count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND application_name = 'tern read'`,
  );
  return rows[0].count;
}

async function waitUntilRunning(count: bigint): Promise<void> {
  while ((await running()) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
}

const forever = { text: 'SELECT pg_sleep(600)' };
const code = (name: keyof typeof storeErrors) => ({ code: storeErrors[name].code });

describe('values', () => {
  it('come in the types of their columns', () =>
    withDatabase({}, async (database) => {
      const text = `SELECT 9223372036854775807::bigint AS a, (2 ^ 120::numeric)::numeric(60) AS b, 1.5 AS c, ARRAY[]::bigint[] AS d,
        ARRAY[-5, 7]::bigint[] AS e, '\\x00ff5c'::bytea AS f, 7::integer AS g, NULL::bigint AS h, true AS i, 'x' AS j`;
      const [row] = await database.query({ name: 'values', text });
      expect({ ...row, f: [...(row!.f as Uint8Array)] }).toEqual({
        ...{ a: 9223372036854775807n, b: 2n ** 120n, c: '1.5', d: [], e: [-5n, 7n], f: [0, 255, 92], g: 7, h: null },
        ...{ i: true, j: 'x' },
      });
    }));

  it('go in as what they are', () =>
    withDatabase({}, async (database) => {
      const text = 'SELECT $1::bigint AS a, $2::bytea AS b, $3::bigint[] AS c, $4::bytea[] AS d';
      const values = [-(2n ** 63n), Uint8Array.of(0, 255), [1n, 2n], [Uint8Array.of(1), Uint8Array.of(92, 34)]];
      const [row] = await database.query({ text, values });
      expect(row).toEqual({
        ...{ a: -(2n ** 63n), b: Buffer.of(0, 255), c: [1n, 2n] },
        d: [Buffer.of(1), Buffer.of(92, 34)],
      });
    }));
});

describe('a reading that is stopped', () => {
  it('by its time leaves nothing that runs', () =>
    withDatabase({ readConnections: 1, readTimeoutMs: 100 }, async (database) => {
      await expect(database.query(forever)).rejects.toMatchObject(code('timeout'));
      await waitUntilRunning(0n);
      await expect(database.query(forever, { timeoutMs: 50 })).rejects.toMatchObject({ data: { afterMs: 50 } });
      // The only connection is whole, and its next query is not hit.
      for (let i = 0; i < 20; i++) expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
      expect(database.pools.read).toEqual({ open: 1, idle: 1, waiting: 0 });
    }));

  it('by its size leaves nothing that runs', () =>
    withDatabase({ readConnections: 1, maxReadBytes: 100_000 }, async (database) => {
      const rows = (count: number) => ({ text: `SELECT repeat('x', 990) AS x FROM generate_series(1, ${count})` });
      await expect(database.query(rows(1_000_000))).rejects.toMatchObject({
        ...code('read-too-large'),
        data: { mostBytes: 100_000 },
      });
      await waitUntilRunning(0n);
      const all = database.read(async (reader) => {
        for (let i = 0; i < 3; i++) await reader.query(rows(60));
      });
      await expect(all).rejects.toMatchObject(code('read-too-large'));
      expect((await database.query(rows(60))).length).toBe(60);
      expect(database.pools.read).toEqual({ open: 1, idle: 1, waiting: 0 });
    }));

  it('by its signal leaves nothing that runs, at whatever moment that comes', () =>
    withDatabase({ readConnections: 2 }, async (database) => {
      for (let delayMs = 0; delayMs < 12; delayMs++) {
        const stop = new AbortController();
        const reading = database.query(forever, { signal: stop.signal });
        const refused = expect(reading, `${delayMs}`).rejects.toMatchObject(code('cancelled'));
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        stop.abort();
        await refused;
      }
      await expect(database.query(forever, { signal: AbortSignal.abort() })).rejects.toMatchObject(code('cancelled'));
      await waitUntilRunning(0n);
    }));

  it('between two queries refuses the next one, and stops all that wait', () =>
    withDatabase({ readConnections: 1 }, async (database) => {
      const stop = new AbortController();
      const reading = database.read(
        async (reader) => {
          await reader.query({ text: 'SELECT 1' });
          const both = Promise.allSettled([reader.query(forever), reader.query(forever)]);
          await waitUntilRunning(1n);
          stop.abort();
          expect(await both).toMatchObject([{ reason: code('cancelled') }, { reason: code('cancelled') }]);
          await reader.query({ text: 'SELECT 1' });
        },
        { signal: stop.signal },
      );
      await expect(reading).rejects.toMatchObject(code('cancelled'));
      await waitUntilRunning(0n);
    }));

  it('is of no concern to others', () =>
    withDatabase({ readConnections: 4 }, async (database) => {
      const stop = new AbortController();
      const stopped = expect(database.query(forever, { signal: stop.signal })).rejects.toMatchObject(code('cancelled'));
      const other = database.query({ text: 'SELECT pg_sleep(0.3), 5 AS five' });
      await waitUntilRunning(2n);
      stop.abort();
      await stopped;
      expect(await other).toMatchObject([{ five: 5 }]);
    }));
});

describe('reading', () => {
  it('cannot write', () =>
    withDatabase({}, async (database) => {
      const insert = { text: 'INSERT INTO numbers VALUES (1)' };
      await expect(database.query(insert)).rejects.toMatchObject(code('read-only'));
      await expect(database.query(insert, { snapshot: true })).rejects.toMatchObject(code('read-only'));
    }));

  it('sees one moment in a snapshot, and the newest outside', () =>
    withDatabase({ readConnections: 1 }, async (database) => {
      for (const snapshot of [true, false]) {
        const counts = await database.read(
          async (reader) => {
            const before = await reader.query({ text: 'SELECT count(*) AS count FROM numbers' });
            await beside.query('INSERT INTO numbers SELECT coalesce(max(n), 0) + 1 FROM numbers');
            return [...before, ...(await reader.query({ text: 'SELECT count(*) AS count FROM numbers' }))];
          },
          { snapshot },
        );
        expect(counts[1]!.count === counts[0]!.count).toBe(snapshot);
      }
      expect(database.pools.read).toMatchObject({ open: 1, idle: 1 });
    }));

  it('says when no connection becomes free', () =>
    withDatabase({ readConnections: 1, connectTimeoutMs: 100 }, async (database) => {
      const stop = new AbortController();
      const first = expect(database.query(forever, { signal: stop.signal })).rejects.toMatchObject(code('cancelled'));
      await expect(database.query({ text: 'SELECT 1' })).rejects.toMatchObject({
        ...code('pool-exhausted'),
        data: { waitedMs: 100, connections: 1 },
      });
      stop.abort();
      await first;
    }));

  it('uses a plan again that was made under a name', () =>
    withDatabase({ readConnections: 1 }, async (database) => {
      const named = { name: 'by-n', text: 'SELECT n FROM numbers WHERE n = $1', values: [1n] };
      for (let i = 0; i < 10; i++) await database.query(named);
      const plans = {
        text: `SELECT generic_plans + custom_plans AS all FROM pg_prepared_statements WHERE name = 'by-n'`,
      };
      expect(await database.query(plans)).toEqual([{ all: 10n }]);
    }));
});

describe('a transaction', () => {
  it('is there after its end, and is undone when its work throws', () =>
    withDatabase({ writeConnections: 1 }, async (database) => {
      const insert = (n: number) =>
        database.transaction((client) => client.query('INSERT INTO numbers VALUES ($1)', [n]));
      await insert(1000);
      await expect(insert(1000)).rejects.toMatchObject({ ...code('query'), data: { state: '23505' } });
      const failing = database.transaction(async (client) => {
        await client.query('INSERT INTO numbers VALUES (1001)');
        throw new RangeError('changed my mind');
      });
      await expect(failing).rejects.toThrow(RangeError);
      const { rows } = await beside.query('SELECT n FROM numbers WHERE n >= 1000');
      expect(rows).toEqual([{ n: 1000n }]);
      expect(database.pools.write).toEqual({ open: 1, idle: 1, waiting: 0 });
    }));

  it('never leaves a connection inside of it', () =>
    withDatabase({ writeConnections: 1 }, async (database) => {
      await database.withWriter((client) => client.query('BEGIN; INSERT INTO numbers VALUES (1002)'));
      await database.transaction((client) => client.query('INSERT INTO numbers VALUES (1003)'));
      const { rows } = await beside.query('SELECT n FROM numbers WHERE n IN (1002, 1003)');
      expect(rows).toEqual([{ n: 1003n }]);
    }));

  it('that loses its connection is unreachable; when it commits, it is not known how it ended', () =>
    withDatabase({}, async (database) => {
      const end = async (client: pg.PoolClient) => {
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
        return () => beside.query('SELECT pg_terminate_backend($1, 5000)', [rows[0].pid]);
      };
      const early = await database
        .transaction(async (client) => {
          await (await end(client))();
          await client.query('SELECT 1');
        })
        .catch((error) => error);
      expect(early).toMatchObject(code('unreachable'));
      const late = await database.transaction(async (client) => (await end(client))()).catch((error) => error);
      expect(late).toMatchObject(code('commit-unknown'));
      expect([early, late].map(isTransient)).toEqual([true, true]);
      await database.transaction((client) => client.query('SELECT 1'));
    }));

  it('that stands in the way of another is a conflict', () =>
    withDatabase({}, async (database) => {
      let reading = 2;
      let goOn = (): void => {};
      const bothHaveRead = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const serial = (n: number) =>
        database.transaction(async (client) => {
          await client.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
          await client.query('SELECT sum(n) FROM numbers');
          if (--reading === 0) goOn();
          await bothHaveRead;
          await client.query('INSERT INTO numbers VALUES ($1)', [n]);
        });
      const ends = await Promise.allSettled([serial(2000), serial(2001)]);
      const [failed] = ends.filter((end) => end.status === 'rejected');
      expect(failed?.reason).toMatchObject(code('conflict'));
      expect(isTransient(failed?.reason)).toBe(true);
    }));
});

describe('a connection that is lost', () => {
  it('is replaced', () =>
    withDatabase({ readConnections: 3 }, async (database) => {
      await Promise.all([1, 2, 3].map(() => database.query({ text: 'SELECT pg_sleep(0.02)' })));
      await beside.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tern read'`,
      );
      const answers = await Promise.allSettled([1, 2, 3, 4].map(() => database.query({ text: 'SELECT 1 AS one' })));
      for (const answer of answers) {
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject(code('unreachable'));
      }
      expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
    }));

  it('is told to who holds a session', () =>
    withDatabase({}, async (database) => {
      const session = await database.session({ name: 'tern leader' });
      const ended = new Promise((resolve) => session.once('end', resolve));
      await beside.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tern leader'`,
      );
      await ended;
    }));
});

describe('opening', () => {
  const open = (options: DatabaseOptions) => Database.open(options, { clock: systemClock });

  it('refuses what is no URL, without telling the password', async () => {
    for (const url of [
      '',
      'mysql://u:secret@h/d',
      'postgresql://u:secret@[bad',
      'postgresql://u:secret@h:99999999/d',
    ]) {
      const error = await open({ url }).catch((error) => error);
      expect(error, url).toMatchObject(code('bad-url'));
      expect(JSON.stringify([error.toPlain(), String(error.cause)]), url).not.toContain('secret');
    }
  });

  it('says who does not answer, and who does not let in', async () => {
    await expect(open({ url: 'postgresql://u@127.0.0.1:1/d' })).rejects.toMatchObject(code('unreachable'));
    const nobody = test.url.replace('tern@', 'nobody_here@');
    await expect(open({ url: nobody })).rejects.toMatchObject(code('connection-refused'));
    const nothing = test.url.replace(/test_\w+/, 'no_such_database');
    await expect(open({ url: nothing })).rejects.toMatchObject(code('connection-refused'));
  });

  it('keeps the settings that stand in the URL', async () => {
    const url = `${test.url}&options=${encodeURIComponent('-c search_path=pg_catalog')}`;
    await withDatabase({ url }, async (database) => {
      const text = `SELECT current_setting('search_path') AS path, current_setting('jit') AS jit`;
      expect(await database.query({ text })).toEqual([{ path: 'pg_catalog', jit: 'off' }]);
    });
  });

  it('reads where the replica is', async () => {
    const replica = await testDatabase('empty');
    await withDatabase({ readUrl: replica.url }, async (database) => {
      const name = { text: 'SELECT current_database() AS name' };
      const written = await database.withWriter((client) => client.query(name));
      const [read] = await database.query(name);
      expect([written.rows[0].name, read!.name].map((text) => test.url.includes(text))).toEqual([true, false]);
    });
    await replica.close();
  });

  it('does without a replica that does not answer, until it does', async () => {
    const away = mkdtempSync(join(tmpdir(), 'tern-replica-'));
    const [, folder] = /\?host=(.+)$/.exec(test.url)!;
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (text: string, data: unknown) => void warnings.push([text, data]) };
    const readUrl = test.url.replace(folder!, encodeURIComponent(away));
    const database = await Database.open({ url: test.url, readUrl }, { clock: systemClock, logger });
    const one = { text: 'SELECT 1 AS one' };
    try {
      expect(warnings).toEqual([
        ['the replica cannot be read yet', { problem: expect.stringMatching(/does not answer/) }],
      ]);
      await expect(database.query(one)).rejects.toMatchObject(code('unreachable'));
      expect((await database.withWriter((client) => client.query(one))).rows).toEqual([{ one: 1 }]);
      const socket = '.s.PGSQL.5432';
      symlinkSync(join(decodeURIComponent(folder!), socket), join(away, socket));
      expect(await database.query(one)).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
      rmSync(away, { recursive: true });
    }
  });

  it('refuses a replica that lets nobody in, or is too old when it is there at last', async () => {
    const readUrl = test.url.replace(/test_\w+/, 'no_such_database');
    await expect(open({ url: test.url, readUrl })).rejects.toMatchObject(code('connection-refused'));
    const server = await oldServer('14.11', 140_011);
    const replica = await startTcpProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    replica.refusing = true;
    await withDatabase({ readUrl: `postgresql://u:p@127.0.0.1:${replica.port}/d` }, async (database) => {
      replica.refusing = false;
      await expect(database.query({ text: 'SELECT 1' })).rejects.toMatchObject(code('server-too-old'));
    });
    await replica.close();
    server.close();
  });

  it('refuses a server that is too old, by name of its version', async () => {
    const server = await oldServer('14.11', 140_011);
    const { port } = server.address() as { port: number };
    await expect(open({ url: `postgresql://u:p@127.0.0.1:${port}/d` })).rejects.toMatchObject({
      ...code('server-too-old'),
      message: 'the database is PostgreSQL 14.11; Tern needs 15 or later',
    });
    server.close();
  });
});

it('a configuration takes the settings out of its URL, and leaves the rest', () => {
  const config = connectionConfig('postgresql://u:p%40ss@h/d?options=-csearch_path%3Dx');
  expect(config).toMatchObject({ connectionString: 'postgresql://u:p%40ss@h/d' });
  expect(config.options).toMatch(/^-csearch_path=x -c .*jit=off/);
});

/** A server that says nothing but its version, as PostgreSQL says it. */
async function oldServer(name: string, number: number): Promise<Server> {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const int2 = (value: number) => Buffer.of(value >> 8, value & 255);
  // Name, table (4), number (2), type (4), size (2), modifier (4), format (2).
  const field = (column: string, oid: number) =>
    Buffer.concat([Buffer.from(`${column}\0`), Buffer.alloc(8), int2(oid), Buffer.alloc(8)]);
  const value = (text: string) => Buffer.concat([Buffer.of(0, 0, 0, text.length), Buffer.from(text)]);
  const ready = message('Z', Buffer.from('I'));
  const answer = Buffer.concat([
    message('T', Buffer.concat([int2(2), field('number', 23), field('name', 25)])),
    message('D', Buffer.concat([int2(2), value(String(number)), value(name)])),
    message('C', Buffer.from('SELECT 1\0')),
    ready,
  ]);
  const serve = (socket: Socket) => {
    let started = false;
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (!started) socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
      else if (data[0] === 'Q'.charCodeAt(0)) socket.write(answer);
      else socket.end();
      started = true;
    });
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
