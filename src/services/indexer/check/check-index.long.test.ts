import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { type CheckIndexOptions, type CheckIndexReport, checkIndex } from '#services/indexer/check/check-index.js';
import { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { type LiveReplay, liveReplay, type ReplayedIndexer, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const FOLDER = join(import.meta.dirname, '../../../../vectors/dev-chain');

let replay: LiveReplay;
let test: TestDatabase;
let index: ReplayedIndexer;
let client: pg.Client;

beforeAll(async () => {
  replay = liveReplay(FOLDER, 330);
  test = await testDatabase();
  index = await replayedIndexer(replay, test.url, { follow: false, from: 20 });
  await index.indexer.run();
  client = await test.connect();
});

afterAll(async () => {
  await index.close();
  await test.close();
});

function check(options: Partial<CheckIndexOptions> = {}): Promise<CheckIndexReport> {
  const { chain, ledger } = replay;
  const modules = { chain, clock: systemClock, logger: silentLogger, database: index.database };
  const bundles = new BundleSource({}, modules);
  return checkIndex({ zerostate: ledger.zerostate, ...options }, { ...modules, bundles }, new AbortController().signal);
}

/** What is found of a change, which is taken back. */
async function found(sql: string, options: Partial<CheckIndexOptions> = {}): Promise<CheckIndexReport> {
  const copies = [
    'blocks',
    'transactions',
    'messages',
    'traces',
    'trace_accounts',
    'accounts',
    'codes',
    'open_messages',
  ];
  for (const table of copies) await client.query(`CREATE TEMP TABLE copy_${table} AS SELECT * FROM ${table}`);
  try {
    const { rowCount } = await client.query(sql);
    expect(rowCount).toBeGreaterThan(0);
    return await check(options);
  } finally {
    for (const table of copies) {
      await client.query(
        `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM copy_${table}; DROP TABLE copy_${table}`,
      );
    }
  }
}

describe('a comparison of the index with the chain', () => {
  it('finds nothing in an index that is as it should be', async () => {
    const report = await check();
    expect(report).toMatchObject({
      range: { from: 20, to: 330 },
      mcBlocks: 311,
      differences: {},
      details: [],
      missing: [],
    });
    const { rows } = await client.query(
      'SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM traces) AS traces, (SELECT count(*) FROM blocks) AS blocks',
    );
    const { transactions, traces, blocks } = report;
    expect({ transactions, traces, blocks }).toEqual({
      transactions: Number(rows[0].transactions),
      traces: Number(rows[0].traces),
      blocks: Number(rows[0].blocks),
    });
  });

  it('looks at a sample that is spread over the range', async () => {
    expect(await check({ sample: 10 })).toMatchObject({ mcBlocks: 10, differences: {} });
    expect(await check({ from: 100, to: 130, sample: 100 })).toMatchObject({ mcBlocks: 31, differences: {} });
  });

  it('reports what is missing, and refuses ranges of which nothing is there', async () => {
    expect(await check({ from: 10, to: 25 })).toMatchObject({
      mcBlocks: 6,
      missing: [{ from: 10, to: 19 }],
      differences: {},
    });
    await expect(check({ from: 1, to: 5 })).rejects.toMatchObject({ code: 'indexer/check-range' });
  });

  it.each([
    ['block', 'UPDATE blocks SET gen_utime = gen_utime + 1 WHERE seqno = 320 AND workchain = 0', 'gen_utime'],
    ['block', 'DELETE FROM blocks WHERE seqno = 320 AND workchain = -1', null],
    ['transaction', 'UPDATE transactions SET now = now + 1 WHERE id IN (SELECT max(id) FROM transactions)', 'now'],
    [
      'transaction',
      'UPDATE transactions SET state_after = NULL WHERE id IN (SELECT max(id) FROM transactions)',
      'state_after',
    ],
    ['message', 'UPDATE messages SET opcode = 7 WHERE tx_id IN (SELECT max(tx_id) FROM messages)', 'opcode'],
    ['message', 'DELETE FROM messages WHERE tx_id IN (SELECT max(tx_id) FROM messages)', null],
    ['account', 'UPDATE accounts SET balance = balance + 1', 'balance'],
    ['account', 'UPDATE accounts SET first_tx = NULL', 'first_tx'],
    [
      'account',
      'UPDATE accounts SET data_boc = (SELECT boc FROM codes LIMIT 1) WHERE data_boc IS NOT NULL',
      'data_boc',
    ],
    ['code', 'DELETE FROM codes', 'boc'],
    ['trace', 'UPDATE traces SET nodes = nodes + 1 WHERE root IN (SELECT max(root) FROM traces)', 'nodes'],
    ['trace', 'DELETE FROM trace_accounts WHERE root IN (SELECT max(root) FROM traces)', null],
    ['trace', 'UPDATE transactions SET trace_root = id WHERE trace_root <> id', null],
  ])('finds a wrong %s (%s)', async (kind, sql, column) => {
    const { details, differences } = await found(sql, { from: 312 });
    expect(differences[kind as keyof typeof differences]).toBeGreaterThan(0);
    if (column !== null) expect(details).toContainEqual(expect.objectContaining({ kind, column }));
    expect(details.length).toBeLessThanOrEqual(20);
  });
});
