import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IndexerOptions } from '#services/indexer/options.js';
import { FULL } from '#test/support/full-depth.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const FOLDER = join(import.meta.dirname, '../../../../vectors/dev-chain');
const HEAD = 380;
/** What is found of contracts. */
const TABLES = [
  ...['jetton_masters', 'jetton_wallets', 'nft_collections', 'nft_items', 'dns_items', 'nft_sales', 'nft_auctions'],
  ...['telemint_items', 'multisigs', 'multisig_orders', 'vesting_contracts', 'nominator_pools', 'dex_pools'],
  ...['contracts', 'contract_references', 'token_events'],
];

let whole: TestDatabase;
const databases: TestDatabase[] = [];
const running: ReplayedIndexer[] = [];

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  databases.push(database);
  return database;
}

async function start(
  { url }: TestDatabase,
  options: Partial<IndexerOptions>,
  chain: LiveReplay = liveReplay(FOLDER),
): Promise<ReplayedIndexer> {
  const indexer = await replayedIndexer(chain, url, options);
  running.push(indexer);
  return indexer;
}

async function rowsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${table} t ORDER BY 1`);
  return rows.map(({ row }) => row);
}

async function expectSame(first: TestDatabase, second: TestDatabase): Promise<void> {
  const [a, b] = await Promise.all([first.connect(), second.connect()]);
  for (const table of TABLES) expect(await rowsOf(b, table), table).toEqual(await rowsOf(a, table));
}

const queuedIn = async (client: pg.Client) =>
  Number(
    (await client.query('SELECT (SELECT count(*) FROM contract_queue) + (SELECT count(*) FROM changed_contracts) AS n'))
      .rows[0].n,
  );

beforeAll(async () => {
  whole = await newDatabase();
  const { indexer } = await start(whole, { follow: false });
  await indexer.run();
  expect(indexer.metrics().contracts).toMatchObject({ queued: 0, postponed: 0 });
});

afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

afterAll(async () => {
  for (const database of databases) await database.close();
});

describe('contracts', () => {
  it('are found in all masterchain blocks', async () => {
    const client = await whole.connect();
    for (const table of ['jetton_masters', 'jetton_wallets', 'contracts', 'contract_references', 'token_events']) {
      expect((await rowsOf(client, table)).length, table).toBeGreaterThan(0);
    }
    expect(await queuedIn(client)).toBe(0);
    const { rows } = await client.query(`SELECT position FROM derivations WHERE name = 'contracts'`);
    expect(rows).toEqual([{ position: null }]);
  });

  it('are the same when each masterchain block is processed as it comes', async () => {
    const database = await newDatabase();
    const chain = liveReplay(FOLDER, 1);
    const { indexer } = await start(database, {}, chain);
    let head = 1;
    indexer.onWritten(({ range }) => {
      if (range.to < head || head === HEAD) return;
      head = Math.min(head + 1 + (head % (FULL ? 7 : 29)), HEAD);
      chain.ledger.advanceTo(head);
    });
    void indexer.run();
    await expect.poll(() => indexer.status.head?.seqno).toBe(HEAD);
    const client = await database.connect();
    await expect.poll(() => queuedIn(client)).toBe(0);
    await expectSame(whole, database);
    const { contracts } = indexer.metrics();
    expect(contracts.delays.newest).toBeGreaterThan(0);
    expect(contracts.detected).toBeGreaterThan(0);
  });

  it('are the same when looking at them was ended again and again', async () => {
    const database = await newDatabase();
    const filled = await start(database, { follow: false, contracts: false });
    await filled.indexer.run();
    const client = await database.connect();
    const all = await queuedIn(client);
    expect(all).toBeGreaterThan(50);
    let left = all;
    for (let ends = 0; ends < 2 && left > 0; ends++) {
      const each = await start(database, { deriveOnly: true });
      void each.indexer.run();
      await expect.poll(() => queuedIn(client), { interval: 1 }).toBeLessThan(left);
      const cut = client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      await Promise.all([cut, each.close()]);
      left = await queuedIn(client);
    }
    const { indexer } = await start(database, { deriveOnly: true });
    await indexer.run();
    expect(await queuedIn(client)).toBe(0);
    await expectSame(whole, database);
  });

  it('whose masters are not indexed are asked for and kept', async () => {
    const database = await newDatabase();
    const { indexer } = await start(database, { follow: false, from: 350 });
    await indexer.run();
    const [client, all] = await Promise.all([database.connect(), whole.connect()]);
    const wallets = `SELECT address, jetton FROM jetton_wallets WHERE mc_seqno >= 350 ORDER BY address`;
    const expected = (await all.query(wallets)).rows;
    expect(expected.length).toBeGreaterThan(0);
    expect((await client.query(wallets)).rows).toEqual(expect.arrayContaining(expected));
    const { rows } = await client.query(
      'SELECT count(*) AS n FROM jetton_wallets w WHERE NOT EXISTS (SELECT FROM jetton_masters m WHERE m.address = w.jetton)',
    );
    expect(rows).toEqual([{ n: 0n }]);
  });
});
