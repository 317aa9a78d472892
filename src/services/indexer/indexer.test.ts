import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IndexerOptions } from '#services/indexer/indexer-options.js';
import { differingRows, dumpIndex, type IndexTable } from '#test/support/dump-index.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const FOLDER = join(import.meta.dirname, '../../../data/dev-chain');
const HEAD = 380;

let replay: LiveReplay;
let whole: TestDatabase;
const databases: TestDatabase[] = [];
const running: ReplayedIndexer[] = [];

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  databases.push(database);
  return database;
}

async function start(
  database: TestDatabase,
  options: Partial<IndexerOptions> = {},
  chain = replay,
): Promise<ReplayedIndexer> {
  const indexer = await replayedIndexer(chain, database.url, options);
  running.push(indexer);
  return indexer;
}

async function expectSame(first: TestDatabase, second: TestDatabase): Promise<void> {
  const [a, b] = await Promise.all([first.connect(), second.connect()]);
  const [dump, other] = await Promise.all([dumpIndex(a), dumpIndex(b)]);
  for (const table of Object.keys(dump) as IndexTable[]) {
    if (dump[table] !== other[table]) expect(await differingRows(a, b, table), table).toEqual([]);
  }
}

async function roundsOf(client: pg.Client): Promise<string> {
  return (await client.query('SELECT rounds::text FROM index_state')).rows[0].rounds;
}

beforeAll(async () => {
  replay = liveReplay(FOLDER);
  whole = await newDatabase();
  const { indexer } = await start(whole, { follow: false, workers: 1 });
  await indexer.run();
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

afterAll(async () => {
  for (const database of databases) await database.close();
});

describe('an index', () => {
  it('is filled whole from the beginning of the chain', async () => {
    const client = await whole.connect();
    expect(await roundsOf(client)).toBe(`{[1,${HEAD + 1})}`);
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete, (SELECT count(*) FROM orphan_messages) AS orphans,
         (SELECT sum(tx_count) FROM blocks) - (SELECT count(*) FROM transactions) AS missing`,
    );
    expect(rows[0]).toEqual({ incomplete: 0n, orphans: 0n, missing: 0n });
  });

  it.each([2, 3])('is the same when %i threads fill it', async (workers) => {
    const database = await newDatabase();
    const { indexer } = await start(database, { follow: false, workers, batchRounds: 17 });
    await indexer.run();
    expect(indexer.status).toMatchObject({ problem: null, filling: null, incompleteAccounts: 0 });
    await expectSame(whole, database);
  });

  it('is the same when it is followed block by block', async () => {
    const database = await newDatabase();
    const chain = liveReplay(FOLDER, 1);
    const { indexer } = await start(database, {}, chain);
    const delays: number[] = [];
    let head = 1;
    indexer.onWritten(({ delayMs, range }) => {
      delays.push(delayMs!);
      if (range.to < head || head === HEAD) return;
      head = Math.min(head + 1 + (head % 3), HEAD);
      chain.ledger.advanceTo(head);
    });
    const finished = indexer.run();
    await expect
      .poll(() => [indexer.status.head?.seqno, indexer.status.problem], { timeout: 50_000 })
      .toEqual([HEAD, null]);
    await indexer.close();
    await finished;
    await expectSame(whole, database);
    console.log(delays.length, delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.5)], delays.at(-1));
  });
});
