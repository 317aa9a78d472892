import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { StateImport } from '#services/indexer/import/state-import.js';
import { removeExportedStates, stateFolder, type TestStates, testStates } from '#test/support/exported-states.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const HEAD = RECORDED_NET.to!;
const CONTRACT_TABLES = [...new Set(CONTRACT_INTERFACES.map(({ table }) => table.name))];

let replay: LiveReplay;
let whole: pg.Client;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  replay = liveReplay(RECORDED_NET.folder, HEAD, HEAD);
  whole = new pg.Client(connectionConfig(await sharedIndex(RECORDED_NET)));
  await whole.connect();
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  removeExportedStates();
});

afterAll(async () => {
  await whole.end();
});

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  closers.push(() => database.close());
  return database;
}

async function indexerOf(test: TestDatabase, options: Parameters<typeof replayedIndexer>[2]): Promise<ReplayedIndexer> {
  const indexer = await replayedIndexer(replay, test.url, options);
  closers.push(() => indexer.close());
  return indexer;
}

async function importStates(test: TestDatabase, { files }: Pick<TestStates, 'files'>, signal?: AbortSignal) {
  const database = await Database.open({ url: test.url, writeConnections: 3 }, { clock: systemClock });
  try {
    const { zerostate } = replay.ledger;
    const stateImport = new StateImport(
      { files, folder: stateFolder(), threads: 2, verifyBytes: 64 * 2 ** 20, zerostate, dnsRoots: [] },
      { database, chain: replay.chain, clock: systemClock, logger: silentLogger },
    );
    return await stateImport.run(signal ?? new AbortController().signal);
  } finally {
    await database.close();
  }
}

/** Rows as JSON by address. */
async function rowsOf(
  client: pg.ClientBase,
  table: string,
  where: string,
): Promise<Map<string, Record<string, unknown>>> {
  const { rows } = await client.query<{ row: Record<string, unknown> }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${where} ORDER BY address`,
  );
  return new Map(rows.map(({ row }) => [String(row.address), row]));
}

/**
 * Compares all current states with those of the index from the zerostate on. What a state does not tell is left out: the first transaction
 * of an account, and for a state that is older than the imported one, since when the account has it.
 */
async function expectCurrentStates(test: TestDatabase, seqno: number): Promise<void> {
  const client = await test.connect();
  for (const table of ['accounts', 'contracts', ...CONTRACT_TABLES]) {
    const where =
      { accounts: 'true', contracts: `cardinality(kinds) > 0 OR refused IS NOT NULL` }[table] ?? 'lapsed IS NULL';
    const expected = await rowsOf(whole, table, where);
    const found = await rowsOf(client, table, where);
    const clean = (rows: Map<string, Record<string, unknown>>) =>
      new Map(
        [...rows].flatMap(([address, { id: _, first_tx: __, ...row }]) => {
          const old = Number(row.mc_seqno) <= seqno;
          // An account that was deleted before is not in the state.
          if (old && row.status === 3) return [];
          return [[address, old ? { ...row, mc_seqno: 'before', gen_utime: 'before' } : row]];
        }),
      );
    expect(clean(found), table).toEqual(clean(expected));
  }
}

describe('an index that begins with imported states', () => {
  it.each([
    { seqno: 900, splitDepth: 0 },
    { seqno: 600, splitDepth: 2 },
    { seqno: 300, splitDepth: 4 },
  ])(
    'has all current states at the head: states of block $seqno, split by $splitDepth bits',
    async ({ seqno, splitDepth }) => {
      const test = await newDatabase();
      const states = testStates(replay.ledger, seqno, splitDepth);
      const { indexer } = await indexerOf(test, { from: seqno + 1, follow: false, workers: 1 });
      const report = await importStates(test, states);
      expect(report.block.seqno).toBe(seqno);
      await indexer.run();
      await expectCurrentStates(test, seqno);
    },
  );
});
