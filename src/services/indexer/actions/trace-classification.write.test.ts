import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { firstIdOf } from '#drivers/store/keys.js';
import { endClassificationWaits } from '#drivers/store/write/actions.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { systemClock } from '#kernel/clock.js';
import { type ClassifiedPage, TraceClassification } from '#services/indexer/actions/trace-classification.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const HASH = new Uint8Array(32).fill(1);
const ADDRESS = Uint8Array.of(0, ...HASH);
const ROOT = firstIdOf(5);

/** Sessions that wait for a lock. */
const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let test: TestDatabase;
let database: Database;

beforeEach(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  const identity = { zerostate_root_hash: HASH, zerostate_file_hash: HASH, selection: {} };
  await database.transaction((client) => openIndex(client, identity, 1000));
  await database.withWriter((client) => ensurePartitions(client, { from: 5, to: 5 }, 1000));
});
afterEach(async () => {
  await database.close();
  await test.close();
});

const classification = new TraceClassification({ version: 1, types: [], classify: () => expect.fail() }, new Map());
const TRACE = { root: ROOT, end_lt: 1n, version: 1, external_hash: null, external_hash_norm: null, actions: [] };
const PAGE: ClassifiedPage = {
  traces: [{ ...TRACE, state: 'unclassified' }],
  waits: [{ root: ROOT, address: ADDRESS }],
  past: [],
  transactions: 1,
  failed: [],
  nearMisses: {},
};
const write = () => database.transaction((client) => classification.write(client, PAGE));

it('a trace is written again while detection ends its wait', async () => {
  const client = await test.connect();
  await client.query('INSERT INTO contract_queue (address, last_trans_lt, mc_seqno) VALUES ($1, 1, 1)', [ADDRESS]);
  await write();
  await client.query('BEGIN');
  await lockEvents(client);
  const written = write();
  written.catch(() => {});
  const other = await test.connect();
  await expect.poll(async () => (await other.query(WAITING)).rowCount).toBe(1);
  await client.query('DELETE FROM contract_queue');
  await endClassificationWaits(client, [ADDRESS]);
  await client.query('COMMIT');
  await written;
  // What was detected since is not waited for.
  const { rows } = await other.query('SELECT root FROM classification_queue');
  expect(rows).toEqual([{ root: ROOT }]);
  expect((await other.query('SELECT FROM classification_waits')).rowCount).toBe(0);
});
