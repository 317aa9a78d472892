import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { startTestServer } from '#test/support/database-server.js';
import { FULL } from '#test/support/full-depth.js';
import { type RecordedNetwork, serveRecording } from '#test/support/recorded-network.js';
import { runTern } from '#test/support/tern-process.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';
import { differences, onDatabase } from './index-ground.js';

const away = mkdtempSync(join(tmpdir(), 'tern-refused-'));
const network = join(away, 'recorded.config.json');
const other = join(away, 'other.config.json');
const accounts = join(away, 'accounts.txt');
const served: RecordedNetwork[] = [];
const databases: TestDatabase[] = [];
let index: TestDatabase;

beforeAll(async () => {
  served.push(await serveRecording(vectorPath('recorded-chain'), 8, network));
  served.push(await serveRecording(vectorPath('mainnet-genesis'), 2, other));
  writeFileSync(accounts, `0:${'17'.repeat(32)}\n`);
  index = await testDatabase('empty');
  expect(await runTern(['index', ...ofTern(index.url), '--from', '1', '--to', '4'])).toMatchObject({ status: 0 });
});
afterAll(async () => {
  await index?.close();
  for (const each of served) await each.close();
  rmSync(away, { recursive: true });
});
afterEach(async () => {
  for (const each of databases.splice(0)) await each.close();
});

const ofTern = (url: string, config = network) => [
  ...['--network', config, '--database-url', url, '--data', join(away, 'data'), '--log-level', 'silent'],
];
const serve = ['serve', '--listen', '127.0.0.1:0'];

/** A copy of the index of the first blocks. */
async function newIndex(): Promise<TestDatabase> {
  const made = await testDatabase({ copyOf: index.url });
  databases.push(made);
  return made;
}

/** Temporary tables go with their connections, which end a moment after the process that had them. */
async function untilAlone(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ others: bigint }>(
      `SELECT count(*) AS others FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    if (rows[0]!.others === 0n) return;
    await delay(20);
  }
}

/** Every row of every table, and where in its file and by which transaction it was written; the catalogues likewise. */
async function everything(client: pg.Client): Promise<Record<string, unknown>> {
  await untilAlone(client);
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname <> 'information_schema' AND (schemaname <> 'pg_catalog'
       OR tablename IN ('pg_class', 'pg_attribute', 'pg_index', 'pg_constraint', 'pg_namespace', 'pg_proc', 'pg_type'))
     ORDER BY name`,
  );
  const found: Record<string, unknown> = {};
  for (const { name } of rows) {
    const content = await client.query(
      `SELECT count(*) AS rows, md5(string_agg(t.ctid::text || t.xmin::text || t::text, '' ORDER BY t.ctid)) AS hash
       FROM ${name} t`,
    );
    found[name] = content.rows[0];
  }
  return found;
}

/** Puts an index of no network in place of what is there, as a Tern began it that knew one migration. */
async function beginElsewhere(client: pg.Client): Promise<void> {
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await migrate(client, (await readMigrations()).slice(0, 1));
  await client.query(
    `INSERT INTO index_state (zerostate_root_hash, zerostate_file_hash, partition_rounds, selection) VALUES ('', '', 64, '{}')`,
  );
}

/** What makes a database one that is refused, and what is said about it. */
const REFUSED: readonly [
  what: string,
  make: (client: pg.Client) => Promise<unknown>,
  line: RegExp,
  config?: string,
  more?: readonly string[],
][] = [
  [
    'edited migrations',
    (client) => client.query(`UPDATE schema_migrations SET checksum = 'x'`),
    /store\/schema-edited: /,
  ],
  [
    'a newer version',
    (client) => client.query(`INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'x', 'x')`),
    /store\/schema-newer: /,
  ],
  [
    'a foreign schema',
    (client) => client.query('DROP TABLE schema_migrations; CREATE TABLE customers AS SELECT 1 AS id'),
    /store\/schema-foreign: .*nothing was changed/,
  ],
  ['another network', async () => {}, /store\/other-network: .*nothing was changed/, other],
  ['another network, and an older schema', beginElsewhere, /store\/other-network: .*nothing was changed/],
  ['other accounts', async () => {}, /store\/other-selection: /, network, ['--accounts', accounts]],
];

describe('a database that is not for this Tern', () => {
  it.each(REFUSED)('is refused and stays as it is, row by row: %s', async (what, make, line, config, more = []) => {
    const { url, connect } = await newIndex();
    const client = await connect();
    await make(client);
    const before = await everything(client);
    expect(Object.keys(before).length).toBeGreaterThan(15);
    const commands = [['index'], [...serve, '--role', 'indexer'], serve];
    const at = REFUSED.findIndex(([name]) => name === what) % commands.length;
    for (const command of FULL ? commands : [commands[at]!]) {
      const { status, stdout, stderr } = await runTern([...command, ...ofTern(url, config), ...more]);
      expect({ status, stdout }, command.join(' ')).toEqual({ status: 1, stdout: '' });
      expect(stderr, command.join(' ')).toMatch(line);
    }
    expect(await everything(client)).toEqual(before);
  });
});

const OLDEST = '/usr/lib/postgresql/15';
const hasOldest = existsSync(join(OLDEST, 'bin/postgres'));
if (!hasOldest) console.warn(`${OLDEST} is not there: the oldest PostgreSQL that Tern works with is not tried`);

it.skipIf(!hasOldest)('PostgreSQL 15 holds the same index', async () => {
  const { connect } = await newIndex();
  const { server, close } = await startTestServer(null, OLDEST);
  try {
    expect(server.version).toMatch(/^15\./);
    const url = await server.ensureDatabase('oldest');
    expect(await runTern(['index', ...ofTern(url), '--from', '1', '--to', '4'])).toMatchObject({ status: 0 });
    expect(await onDatabase(url, async (client) => differences(await connect(), client))).toEqual([]);
  } finally {
    await close();
  }
});
