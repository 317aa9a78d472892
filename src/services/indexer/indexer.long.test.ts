import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IndexerOptions } from '#services/indexer/options.js';
import { differingRows, dumpIndex, type IndexTable } from '#test/support/dump-index.js';
import { FULL } from '#test/support/full-depth.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const FOLDER = join(import.meta.dirname, '../../../vectors/dev-chain');
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
  // Which accounts it asks for besides depends on when it looks at contracts.
  const indexer = await replayedIndexer(chain, database.url, { contracts: false, ...options });
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
  it('ends when there is nothing to fill, also with contracts and actions to be derived', async () => {
    const options = { follow: false, from: HEAD + 1, contracts: true, actions: true };
    const { indexer } = await start(await newDatabase(), options);
    await indexer.run();
    expect(indexer.status.indexedRanges).toEqual([]);
  }, 30_000);

  it('is filled whole from the beginning of the chain', async () => {
    const client = await whole.connect();
    expect(await roundsOf(client)).toBe(`{[1,${HEAD + 1})}`);
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete, (SELECT count(*) FROM orphan_messages) AS orphans,
         (SELECT sum(tx_count) FROM blocks) - (SELECT count(*) FROM transactions) AS missing`,
    );
    expect(rows[0]).toEqual({ incomplete: 0n, orphans: 0n, missing: 0n });
  });

  it('is the same when three threads fill it', async () => {
    const database = await newDatabase();
    const { indexer } = await start(database, { follow: false, workers: 3, batchMcBlocks: 17 });
    await indexer.run();
    expect(indexer.status).toMatchObject({ problem: null, filling: null, incompleteAccounts: 0 });
    await expectSame(whole, database);
  });

  it('is the same when it is followed block by block', async () => {
    const database = await newDatabase();
    const chain = liveReplay(FOLDER, 1);
    const { indexer } = await start(database, {}, chain);
    let head = 1;
    indexer.onWritten(({ range, mode, delayMs }) => {
      expect([mode, typeof delayMs]).toEqual(['follow', 'number']);
      if (range.to < head || head === HEAD) return;
      head = Math.min(head + 1 + (head % (FULL ? 13 : 37)), HEAD);
      chain.ledger.advanceTo(head);
    });
    void indexer.run();
    await expect.poll(() => indexer.status.head?.seqno).toBe(HEAD);
    await expectSame(whole, database);
  });

  it('is the same when gaps are left in it and the newest part is followed meanwhile', async () => {
    const database = await newDatabase();
    for (const [from, to] of [
      [200, 240],
      [61, 90],
    ] as const) {
      const each = await start(database, { follow: false, from, to }, liveReplay(FOLDER, 300));
      await each.indexer.run();
      await each.close();
    }
    const client = await database.connect();
    expect(await roundsOf(client)).toBe('{[61,91),[200,241)}');
    const chain = liveReplay(FOLDER, 300);
    const { indexer } = await start(database, { batchMcBlocks: 30, followWithin: 10 }, chain);
    void indexer.run();
    await expect.poll(() => indexer.status.head?.seqno).toBe(300);
    chain.ledger.advanceTo(340);
    await expect.poll(() => indexer.status.head?.seqno).toBe(340);
    chain.ledger.advanceTo(HEAD);
    await expect.poll(() => roundsOf(client)).toBe(`{[1,${HEAD + 1})}`);
    await expect.poll(() => indexer.status.incompleteAccounts).toBe(0);
    await expectSame(whole, database);
  });

  it('asks for what blocks leave out when it begins in the middle', async () => {
    const database = await newDatabase();
    const { indexer } = await start(database, { follow: false, from: 350 });
    await indexer.run();
    const [client, all] = await Promise.all([database.connect(), whole.connect()]);
    // The first transaction of an account is the first one in the index.
    const rows = "SELECT to_jsonb(t) - 'first_tx' AS row FROM accounts t WHERE mc_seqno >= 350 ORDER BY address";
    const expected = (await all.query(rows)).rows;
    expect(expected.length).toBeGreaterThan(50);
    expect((await client.query(rows)).rows).toEqual(expected);
    expect(Number((await client.query('SELECT FROM orphan_messages')).rowCount)).toBeGreaterThan(0);
  });

  it('is taken over by the indexer that stands by when the connection of the leader is cut', async () => {
    const database = await newDatabase();
    const chain = liveReplay(FOLDER, 10);
    const [first, second] = [await start(database, {}, chain), await start(database, {}, chain)];
    void first.indexer.run();
    await expect.poll(() => first.indexer.status.head?.seqno).toBe(10);
    void second.indexer.run();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect([first.indexer.status.role, second.indexer.status.role]).toEqual(['leader', 'stand-by']);
    const client = await database.connect();
    const killed = await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tern leader' AND datname = current_database() AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)",
    );
    expect(killed.rowCount).toBe(1);
    chain.ledger.advanceTo(20);
    await expect.poll(() => roundsOf(client)).toBe('{[1,21)}');
    const roles = () => [first, second].map(({ indexer }) => indexer.status.role).sort();
    await expect.poll(roles).toEqual(['leader', 'stand-by']);
  });

  it('goes on by itself when all its connections were cut', async () => {
    const database = await newDatabase();
    const chain = liveReplay(FOLDER, 40);
    const { indexer } = await start(database, { followWithin: 5, batchMcBlocks: 10 }, chain);
    void indexer.run();
    const client = await database.connect();
    for (let head = 60; head <= HEAD; head += 40) {
      // It has connected again before the next cut.
      const cut = async () =>
        (
          await client.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
          )
        ).rowCount;
      await expect.poll(cut).toBeGreaterThan(0);
      chain.ledger.advanceTo(head);
    }
    await expect.poll(() => roundsOf(client)).toBe(`{[1,${HEAD + 1})}`);
    await expect.poll(() => indexer.status.incompleteAccounts).toBe(0);
    await expectSame(whole, database);
    expect(indexer.status).toMatchObject({ role: 'leader', problem: null });
  });

  it('drops what is too old, in whole partitions, and does not fill it again', async () => {
    const database = await newDatabase();
    const all = await whole.connect();
    const { rows } = await all.query<{ gen_utime: bigint }>(
      'SELECT gen_utime FROM blocks WHERE workchain = -1 AND seqno = 250',
    );
    await (await start(database, { follow: false })).indexer.run();
    const keepMs = Date.now() - Number(rows[0]!.gen_utime) * 1000;
    const { indexer } = await start(database, { keepMs });
    void indexer.run();
    const client = await database.connect();
    await expect.poll(() => roundsOf(client)).toBe(`{[200,${HEAD + 1})}`);
    const below = await client.query(
      `SELECT (SELECT count(*) FROM blocks WHERE id < 200::bigint << 24) + (SELECT count(*) FROM transactions WHERE id < 200::bigint << 24)
         + (SELECT count(*) FROM open_messages WHERE trace_root < 200::bigint << 24) AS rows, (SELECT count(*) FROM accounts) AS accounts`,
    );
    expect(below.rows[0]).toEqual({
      rows: 0n,
      accounts:
        (await all.query('SELECT FROM accounts')).rowCount &&
        BigInt((await all.query('SELECT FROM accounts')).rowCount!),
    });
    // It reads what it has dropped after the database transaction.
    await expect.poll(() => indexer.status).toMatchObject({ pruned_below: 200, problem: null });
    await indexer.close();
    // A run that ends when nothing is missing adds nothing.
    const again = await start(database, { keepMs, follow: false });
    await again.indexer.run();
    expect(await roundsOf(client)).toBe(`{[200,${HEAD + 1})}`);
    expect(again.indexer.status).toMatchObject({ pruned_below: 200, problem: null });
  });

  it('is refused for another network, other accounts and a database without the schema, and stays as it is', async () => {
    const client = await whole.connect();
    const before = await dumpIndex(client);
    const other = { ...replay.ledger.zerostate, root_hash: new Uint8Array(32) };
    await expect(start(whole, { zerostate: other })).rejects.toMatchObject({ code: 'store/other-network' });
    await expect(start(whole, { accounts: [new Uint8Array(33)] })).rejects.toMatchObject({
      code: 'store/other-selection',
    });
    expect(await dumpIndex(client)).toEqual(before);
    const empty = await testDatabase('empty');
    databases.push(empty);
    await expect(start(empty)).rejects.toMatchObject({ code: 'store/no-schema' });
    const tables = await (await empty.connect()).query(
      "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    );
    expect(tables.rowCount).toBe(0);
  });
});
