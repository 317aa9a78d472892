import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connectionConfig, storeError } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { IndexEventFeed } from '#drivers/store/event-log.js';
import { migrate, readMigrations, requireSchema } from '#drivers/store/migrate.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { dumpIndex } from '#test/support/dump-index.js';
import { liveReplay, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const databases: TestDatabase[] = [];
const opened: Database[] = [];
const proxies: Server[] = [];

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  for (const proxy of proxies.splice(0)) proxy.close();
});

afterAll(async () => {
  for (const database of databases) await database.close();
});

async function newDatabase(content: 'schema' | 'empty' = 'empty'): Promise<TestDatabase> {
  const database = await testDatabase(content);
  databases.push(database);
  return database;
}

async function alter(database: TestDatabase, ...settings: readonly string[]): Promise<void> {
  const client = await database.connect();
  // As an administrator has them who does not know of Tern.
  await client.query('SET default_transaction_read_only = off');
  const { rows } = await client.query('SELECT current_database() AS name');
  for (const setting of settings) await client.query(`ALTER DATABASE ${rows[0].name} SET ${setting}`);
  await client.end();
}

async function open(url: string): Promise<Database> {
  const database = await Database.open({ url }, { clock: systemClock });
  opened.push(database);
  return database;
}

/** What an administrator may set for a database, and what would break without settings of the session. */
const SETTINGS = [
  'standard_conforming_strings = off',
  'transform_null_equals = on',
  'array_nulls = off',
  'client_encoding = LATIN1',
  'bytea_output = escape',
  "DateStyle = 'SQL, DMY'",
  'IntervalStyle = sql_standard',
  "TimeZone = 'Asia/Kathmandu'",
  'extra_float_digits = -15',
  'statement_timeout = 1',
  'lock_timeout = 1',
  'idle_in_transaction_session_timeout = 1',
  'idle_session_timeout = 50',
  'default_transaction_read_only = on',
  'default_transaction_isolation = serializable',
  'default_transaction_deferrable = on',
  'row_security = off',
] as const;

/** Migrates, indexes and reads. */
async function useAll(database: TestDatabase): Promise<unknown> {
  const store = await open(database.url);
  const migrations = await readMigrations();
  await store.withWriter((client) => migrate(client, migrations));
  await store.withWriter((client) => requireSchema(client, migrations));
  const replay = liveReplay(vectorPath('dev-chain'), 12, 12);
  const { indexer, close } = await replayedIndexer(replay, database.url, { follow: false, contracts: false });
  await indexer.run();
  await close();
  const [read] = await store.query({
    text: `SELECT '\\xff00'::bytea AS bytes, 'a\\b' AS text, 'ä€😀' AS wide, to_char(to_timestamp(0), 'HH24') AS hour, 0.1::float8 + 0.2 AS sum,
             interval '1 day 2 hours' AS span, NULL::int = NULL AS nothing, ARRAY(SELECT unnest('{NULL,a}'::text[])) AS list,
             current_setting('transaction_isolation') AS isolation`,
  });
  const client = await database.connect();
  return { read, dump: await dumpIndex(client) };
}

describe('sessions in a database with other settings', () => {
  it('migrate, index and read as in any other database', async () => {
    const plain = await useAll(await newDatabase());
    const altered = await newDatabase();
    await alter(altered, ...SETTINGS);
    expect(await useAll(altered)).toEqual(plain);
  });

  it.each(SETTINGS)('are not affected by %s', async (setting) => {
    const database = await newDatabase();
    const name = setting.split(' ')[0]!;
    const before = await (await open(database.url)).query({ text: `SHOW ${name}` });
    await alter(database, setting);
    const store = await open(database.url);
    expect(await store.query({ text: `SHOW ${name}` })).toEqual(before);
    const session = await store.session({ name: 'test' });
    if (name !== 'default_transaction_read_only') expect((await session.query(`SHOW ${name}`)).rows).toEqual(before);
    await session.end();
  });

  it('keep listening and keep a lock although idle sessions are ended', async () => {
    const database = await newDatabase('schema');
    await alter(database, 'idle_session_timeout = 30');
    const store = await open(database.url);
    const feed = new IndexEventFeed({}, { database: () => store, clock: systemClock, logger: silentLogger });
    feed.start();
    await expect.poll(() => feed.isListening).toBe(true);
    const session = await store.session();
    let ended = false;
    session.once('end', () => {
      ended = true;
    });
    await store.query({ text: 'SELECT pg_sleep(0.2)' });
    expect([ended, feed.isListening]).toEqual([false, true]);
    await session.end();
    await feed.close();
  });
});

describe('an odd search_path', () => {
  it('that names no schema is refused with its name', async () => {
    const database = await newDatabase();
    await alter(database, 'search_path = nowhere');
    const error = await Database.open({ url: database.url }, { clock: systemClock }).catch((e) => e);
    expect(error).toMatchObject({ code: 'store/search-path', class: 'caller' });
    expect(error.message).toContain('nowhere, names no schema that exists');
    await open(`${database.url}&options=${encodeURIComponent('-c search_path=public')}`);
  });

  it('that hides the tables of Tern behind another schema is refused', async () => {
    const database = await newDatabase('schema');
    const client = await database.connect();
    await client.query('CREATE SCHEMA newer');
    await alter(database, 'search_path = newer, public');
    const error = await Database.open({ url: database.url }, { clock: systemClock }).catch((e) => e);
    expect(error).toMatchObject({ code: 'store/search-path' });
    expect(error.message).toContain('before public');
  });

  it('that names a schema of its own for Tern is used', async () => {
    const database = await newDatabase();
    await (await database.connect()).query('CREATE SCHEMA own');
    await alter(database, 'search_path = own');
    await useAll(database);
    const { rows } = await (await database.connect()).query(`SELECT to_regclass('own.index_state')::text AS found`);
    expect(rows[0].found).toBe('index_state');
  });
});

/** A connection pooler in what matters here: it announces another process than the one that serves the session. */
async function poolerBefore(url: string): Promise<string> {
  const folder = new URL(url.replace('@/', '@socket/')).searchParams.get('host')!;
  const server = createServer((socket) => relay(socket, connect(join(folder, '.s.PGSQL.5432'))));
  proxies.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const { username, password, pathname } = new URL(url.replace('@/', '@socket/'));
  return `postgresql://${username}${password === '' ? '' : `:${password}`}@127.0.0.1:${port}${pathname}`;
}

function relay(client: Socket, server: Socket): void {
  client.pipe(server);
  let isKnown = false;
  server.on('data', (bytes: Buffer) => {
    const key = isKnown ? -1 : bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
    if (key >= 0) {
      isKnown = true;
      bytes.writeInt32BE(bytes.readInt32BE(key + 5) ^ 1, key + 5);
    }
    client.write(bytes);
  });
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}

describe('a connection pooler', () => {
  it('is refused with what it lacks', async () => {
    const { url } = await newDatabase('schema');
    const error = await Database.open({ url: await poolerBefore(url) }, { clock: systemClock }).catch((e) => e);
    expect(error).toMatchObject({ code: 'store/connection-pooler', class: 'caller' });
    expect(error.remedy).toContain('PostgreSQL itself');
  });

  it('is named when it does not take the settings of sessions, or loses prepared statements', () => {
    for (const [message, code] of [
      ['unsupported startup parameter: options', '08P01'],
      ['unsupported startup parameter in options: standard_conforming_strings', '08P01'],
      ['prepared statement "index-progress" does not exist', '26000'],
    ] as const) {
      const error = Object.assign(new pg.DatabaseError(message, 1, 'error'), { code });
      expect(storeError(error)).toMatchObject({ code: 'store/connection-pooler' });
    }
  });
});

it('settings of the URL stay beside those of Tern', () => {
  const { options } = connectionConfig('postgresql://u@h/d?options=-c%20search_path%3Dtern');
  expect(options).toContain('-c search_path=tern');
  expect(options).toContain('-c default_transaction_isolation=read\\ committed');
});
