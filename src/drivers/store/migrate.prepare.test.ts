import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeErrors } from '#drivers/store/errors.js';
import { type Migration, migrate, prepareSchema, readMigrations, schemaState } from '#drivers/store/migrate.js';
import { sqlSchemaPage } from '#test/docs/sql-schema-page.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const network = { root_hash: new Uint8Array(32).fill(1), file_hash: new Uint8Array(32).fill(2) };
const code = (name: keyof typeof storeErrors) => ({ code: storeErrors[name].code });

let database: TestDatabase;
let client: pg.Client;
let migrations: readonly Migration[];

beforeEach(async () => {
  database = await testDatabase('empty');
  client = await database.connect();
  migrations = await readMigrations();
});
afterEach(() => database.close());

/** The schema as the first Tern made it, and an index of `network` in it. */
async function oldIndex(): Promise<void> {
  await migrate(client, migrations.slice(0, 1));
  await client.query(
    `INSERT INTO index_state (zerostate_root_hash, zerostate_file_hash, partition_rounds, selection) VALUES ($1, $2, 64, '{}')`,
    [network.root_hash, network.file_hash],
  );
}

describe('a schema', () => {
  it('is made in an empty database by whoever writes', async () => {
    await expect(prepareSchema(client, migrations, { network, writes: false })).rejects.toMatchObject(
      code('no-schema'),
    );
    const reported: string[] = [];
    await prepareSchema(client, migrations, { network, writes: true, onMigration: ({ name }) => reported.push(name) });
    expect(reported).toEqual(migrations.map(({ name }) => name));
    await prepareSchema(client, migrations, { network, writes: false });
  });

  it('is brought up to date where the index is of the network', async () => {
    await oldIndex();
    await expect(prepareSchema(client, migrations, { network, writes: false })).rejects.toMatchObject(
      code('schema-old'),
    );
    await prepareSchema(client, migrations, { network, writes: true });
    expect(await schemaState(client, migrations)).toMatchObject({ version: migrations.length });
  });

  it.each(['root_hash', 'file_hash'] as const)('of another network (%s) stays as it is', async (field) => {
    await oldIndex();
    const before = await sqlSchemaPage(client);
    const other = { ...network, [field]: new Uint8Array(32).fill(3) };
    for (const writes of [true, false]) {
      await expect(prepareSchema(client, migrations, { network: other, writes })).rejects.toMatchObject({
        ...code('other-network'),
        data: { field: `zerostate_${field}`, expected: '03'.repeat(32) },
      });
    }
    expect(await sqlSchemaPage(client)).toBe(before);
  });
});
