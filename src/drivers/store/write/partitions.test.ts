import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { eventsAfter } from '#drivers/store/event-log.js';
import { openIndex } from '#drivers/store/index-state.js';
import { ensurePartitions, pruneBelow } from '#drivers/store/write/partitions.js';
import { wantPastContracts } from '#drivers/store/write/past-contracts.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };

let test: TestDatabase;
let database: Database;

beforeEach(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  await database.transaction((client) => openIndex(client, IDENTITY, 100));
});

afterEach(async () => {
  await database.close();
  await test.close();
});

it('earlier states of contracts are dropped with the traces that need them', async () => {
  const address = Address.ofParts(0, new Uint8Array(32));
  await database.withWriter(async (client) => {
    await wantPastContracts(
      client,
      [50, 198, 199, 200, 300].map((mc_seqno) => ({ address, mc_seqno })),
    );
    expect(await pruneBelow(client, 250)).toBe(200);
    const { rows } = await client.query('SELECT mc_seqno FROM past_contracts ORDER BY 1');
    expect(rows.map(({ mc_seqno }) => mc_seqno)).toEqual([199, 200, 300]);
  });
});

it('partitions are dropped one at a time: those before one that is in use stay dropped', async () => {
  await database.withWriter(async (client) => {
    for (const from of [200, 300, 600]) await ensurePartitions(client, { from, to: from }, 100);
  });
  const reader = await test.connect();
  const state = async () => {
    const { rows } = await reader.query(
      `SELECT pruned_below, array(SELECT relname::text FROM pg_class WHERE relname LIKE 'blocks\\_p%' AND relkind = 'r' ORDER BY 1)
         AS partitions FROM index_state`,
    );
    return rows[0];
  };
  await reader.query('BEGIN');
  await reader.query('SELECT FROM blocks_p3');
  await expect(database.withWriter((client) => pruneBelow(client, 550))).rejects.toMatchObject({
    code: 'store/conflict',
  });
  expect(await state()).toEqual({ pruned_below: 300, partitions: ['blocks_p3', 'blocks_p6'] });
  await reader.query('COMMIT');
  expect(await database.withWriter((client) => pruneBelow(client, 550))).toBe(500);
  expect(await state()).toEqual({ pruned_below: 500, partitions: ['blocks_p6'] });
  const { events } = await eventsAfter(database, 0n, 10);
  const resets = events.filter(({ kind, range }) => kind === 'reset' && range !== null).map(({ range }) => range);
  expect(resets).toEqual([
    { from: 0, to: 299 },
    { from: 300, to: 399 },
    { from: 400, to: 499 },
  ]);
});
