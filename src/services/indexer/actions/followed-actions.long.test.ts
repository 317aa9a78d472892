import type pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const CHAIN = vectorPath('collection/recorded-net/chain');
/** Before it there is hardly any activity. */
const FROM = 320;
const TO = 380;

const databases: TestDatabase[] = [];
const running = new Set<ReplayedIndexer>();
afterAll(async () => {
  for (const each of running) await each.close();
  for (const each of databases) await each.close();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  databases.push(database);
  return database;
}

/** Whether all that is indexed is detected and classified. */
async function isSettled(client: pg.ClientBase, last: number): Promise<boolean> {
  const { rows } = await client.query<{ settled: boolean }>(
    `SELECT s.rounds @> $1::int AND NOT EXISTS (SELECT FROM contract_queue) AND NOT EXISTS (SELECT FROM changed_contracts)
       AND NOT EXISTS (SELECT FROM accounts WHERE incomplete)
       AND NOT EXISTS (SELECT FROM classification_queue) AND NOT EXISTS (SELECT FROM classification_waits)
       AND coalesce((SELECT d.rounds @> s.rounds FROM derivations d WHERE d.name = 'actions'), false) AS settled
     FROM index_state s`,
    [last],
  );
  return rows[0]?.settled === true;
}

async function rowsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `SELECT c::text AS row FROM classified_traces c UNION ALL
     SELECT a::text FROM actions a UNION ALL SELECT p::text FROM action_accounts p ORDER BY 1`,
  );
  return rows.map(({ row }) => row);
}

async function filled(): Promise<string[]> {
  const database = await newDatabase();
  const client = await database.connect();
  const indexed = await replayedIndexer(liveReplay(CHAIN, TO, TO), database.url, { from: FROM, follow: false });
  running.add(indexed);
  await indexed.indexer.run();
  await indexed.close();
  running.delete(indexed);
  expect(await isSettled(client, TO)).toBe(true);
  return rowsOf(client);
}

it('actions are the same when the chain is followed, the process ends again and again, and they are derived anew meanwhile', async () => {
  const expected = await filled();
  expect(expected.length).toBeGreaterThan(500);
  const database = await newDatabase();
  const client = await database.connect();
  const replay = liveReplay(CHAIN, FROM + 10);
  let head = FROM + 10;
  for (let run = 0; head < TO; run++) {
    const indexed = await replayedIndexer(replay, database.url, { from: FROM });
    running.add(indexed);
    const ended = indexed.indexer.run();
    for (let block = 0; block < 10 && head < TO; block++) {
      replay.ledger.advanceTo(++head);
      await expect
        .poll(() => indexed.indexer.status.head?.seqno ?? 0, { timeout: 60_000, interval: 20 })
        .toBeGreaterThanOrEqual(head - 1);
    }
    if (run === 2) await client.query(`UPDATE derivations SET rounds = '{}' WHERE name = 'actions'`);
    if (head === TO) await expect.poll(() => isSettled(client, TO), { timeout: 240_000, interval: 100 }).toBe(true);
    await indexed.close();
    running.delete(indexed);
    await ended;
  }
  expect(await rowsOf(client)).toEqual(expected);
}, 600_000);
