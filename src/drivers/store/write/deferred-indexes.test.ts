import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex, recreateIndex } from '#drivers/store/index-state.js';
import { buildDeferredIndexes, deferIndexes } from '#drivers/store/write/deferred-indexes.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const IDENTITY = { zerostate_root_hash: hash(1), zerostate_file_hash: hash(1), selection: {} };

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await testDatabase();
  database = await Database.open({ url: server.url, writeConnections: 4 }, { clock: systemClock });
  await database.transaction((client) => openIndex(client, IDENTITY, 100));
});

afterEach(async () => {
  await database.close();
  await server.close();
});

async function definitions(): Promise<readonly string[]> {
  const { rows } = await database.withWriter((client) =>
    client.query<{ indexdef: string }>(
      'SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname',
    ),
  );
  return rows.map(({ indexdef }) => indexdef);
}

describe('indexes of an import', () => {
  it('are dropped while there are no accounts, and built again, by several processes at once', async () => {
    const before = await definitions();
    const dropped = await database.transaction(deferIndexes);
    expect(dropped).toBeGreaterThan(20);
    expect((await definitions()).length).toBe(before.length - dropped);
    expect(await definitions()).toContainEqual(expect.stringContaining('accounts_incomplete'));
    // An import that continues has nothing more to drop.
    expect(await database.transaction(deferIndexes)).toBe(0);
    const begun: number[] = [];
    await Promise.all([1, 2].map(() => buildDeferredIndexes(database, (count) => begun.push(count))));
    expect(await definitions()).toEqual(before);
    expect(begun).toContain(dropped);
    await buildDeferredIndexes(database, () => expect.unreachable());
  });

  it('are built after an index was created again in between', async () => {
    const before = await definitions();
    await database.transaction(deferIndexes);
    await database.transaction((client) => recreateIndex(client, IDENTITY, 100));
    await buildDeferredIndexes(database, () => {});
    expect(await definitions()).toEqual(before);
  });

  it('stay where accounts are known', async () => {
    const before = await definitions();
    await database.withWriter((client) =>
      client.query(
        `INSERT INTO accounts (address, state_hash, status, balance, last_trans_lt, last_trans_hash, mc_seqno, gen_utime, incomplete)
         VALUES ($1, $2, 1, 5, 10, $2, 1, 1, false)`,
        [Uint8Array.of(0, ...hash(3)), hash(4)],
      ),
    );
    expect(await database.transaction(deferIndexes)).toBe(0);
    expect(await definitions()).toEqual(before);
  });
});
