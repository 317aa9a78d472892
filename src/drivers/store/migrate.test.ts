import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeErrors } from '#drivers/store/errors.js';
import { type Migration, migrate, readMigrations, requireSchema, schemaState } from '#drivers/store/migrate.js';
import { sqlSchemaPage } from '#test/docs/sql-schema-page.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await testDatabase('empty');
  client = await database.connect();
});
afterEach(() => database.close());

function step(version: number, sql: string): Migration {
  return { version, name: `000${version}-step.sql`, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

const first = step(1, 'CREATE TABLE one (a integer); CREATE TABLE two (b integer);');
const second = step(2, 'ALTER TABLE one ADD COLUMN c integer;');
const third = step(3, 'CREATE INDEX one_c ON one (c);');
const all = [first, second, third];

/** All that a refused run could have changed. */
async function everything(): Promise<string> {
  return sqlSchemaPage(client);
}

describe('migrations', () => {
  it('run in order, once', async () => {
    const reported: string[] = [];
    expect(await schemaState(client, all)).toMatchObject({ version: 0, pending: all });
    expect(await migrate(client, all, ({ name }) => reported.push(name))).toEqual(all);
    expect(reported).toEqual(all.map(({ name }) => name));
    expect(await schemaState(client, all)).toMatchObject({ version: 3, pending: [] });
    expect(await migrate(client, all)).toEqual([]);
    const { rows } = await client.query('SELECT version, name, checksum FROM schema_migrations ORDER BY version');
    expect(rows).toEqual(all.map(({ version, name, checksum }) => ({ version, name, checksum })));
    await client.query('INSERT INTO one (c) VALUES (1)');
  });

  it('go on where an older Tern has stopped', async () => {
    await migrate(client, [first]);
    expect(await schemaState(client, all)).toMatchObject({ version: 1, pending: [second, third] });
    expect(await migrate(client, all)).toEqual([second, third]);
  });

  it('run once when several begin at the same time', async () => {
    const clients = [client, await database.connect(), await database.connect(), await database.connect()];
    const slow = all.map(({ version, sql }) => step(version, `${sql} SELECT pg_sleep(0.05);`));
    const ran = await Promise.all(clients.map((one) => migrate(one, slow)));
    expect(
      ran
        .flat()
        .map(({ version }) => version)
        .sort(),
    ).toEqual([1, 2, 3]);
  });

  it('leave what ended well when one fails', async () => {
    const bad = step(2, 'CREATE TABLE half (a integer); SELECT 1/0;');
    await expect(migrate(client, [first, bad])).rejects.toThrow(/division by zero/);
    expect(await schemaState(client, all)).toMatchObject({ version: 1, pending: [second, third] });
    expect(await everything()).not.toContain('half');
    expect(await migrate(client, all)).toEqual([second, third]);
  });
});

describe('a database is refused untouched', () => {
  const cases: Record<string, { readonly prepare: () => Promise<unknown>; readonly code: string }> = {
    'when it holds tables of somebody else': {
      prepare: () => client.query('CREATE TABLE wares (price integer); CREATE VIEW cheap AS SELECT * FROM wares'),
      code: storeErrors['schema-foreign'].code,
    },
    'when another tool counts its migrations there': {
      prepare: () => client.query('CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean)'),
      code: storeErrors['schema-foreign'].code,
    },
    'when a newer Tern made it': {
      prepare: () => migrate(client, [...all, step(4, 'CREATE TABLE four (a integer)')]),
      code: storeErrors['schema-newer'].code,
    },
    'when a migration has changed since': {
      prepare: () => migrate(client, [first, step(2, 'ALTER TABLE one ADD COLUMN d integer;')]),
      code: storeErrors['schema-edited'].code,
    },
    'when a migration is missing in its history': {
      prepare: async () => {
        await migrate(client, all);
        await client.query('DELETE FROM schema_migrations WHERE version = 2');
      },
      code: storeErrors['schema-edited'].code,
    },
  };
  for (const [name, { prepare, code }] of Object.entries(cases)) {
    it(name, async () => {
      await prepare();
      const before = await everything();
      for (const work of [migrate, schemaState, requireSchema]) {
        await expect(work(client, all), work.name).rejects.toMatchObject({ code });
      }
      expect(await everything()).toBe(before);
    });
  }

  it('but not for what an extension brings', async () => {
    await client.query('CREATE EXTENSION pg_stat_statements');
    expect(await migrate(client, all)).toEqual(all);
  });

  it('unless it is up to date, where only that will do', async () => {
    await expect(requireSchema(client, all)).rejects.toMatchObject({ code: storeErrors['no-schema'].code });
    await migrate(client, [first]);
    await expect(requireSchema(client, all)).rejects.toMatchObject({
      code: storeErrors['schema-old'].code,
      data: { version: 1, known: 3 },
    });
    await migrate(client, all);
    await requireSchema(client, all);
  });
});

describe('the files of migrations', () => {
  it('make the schema of Tern', async () => {
    const migrations = await readMigrations();
    expect(migrations.length).toBeGreaterThan(0);
    expect(await migrate(client, migrations)).toEqual(migrations);
    await requireSchema(client, migrations);
  });

  it('are numbered without gaps, and the same whatever ends their lines', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tern-migrations-'));
    const url = pathToFileURL(`${folder}/`);
    await writeFile(join(folder, '0001-a.sql'), 'SELECT 1;\nSELECT 2;\n');
    await writeFile(join(folder, 'README.md'), 'no migration');
    const [one] = await readMigrations(url);
    await writeFile(join(folder, '0001-a.sql'), 'SELECT 1;\r\nSELECT 2;\r\n');
    expect(await readMigrations(url)).toEqual([one]);
    await writeFile(join(folder, '0003-c.sql'), 'SELECT 3;');
    await expect(readMigrations(url)).rejects.toMatchObject({ code: storeErrors['migration-file'].code });
    await rm(folder, { recursive: true });
    await expect(readMigrations(url)).rejects.toMatchObject({ code: storeErrors['migration-file'].code });
  });
});
