import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { systemClock } from '#kernel/clock.js';
import { BatchWriter, type BundleBatch } from '#services/indexer/write/batch-writer.js';
import { differingRows, dumpIndex, type IndexTable } from '#test/support/dump-index.js';
import { FULL } from '#test/support/full-depth.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const ZEROSTATE = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };
const IN_TURN = { exclusive: false, awaitPrevious: async () => {} };
const ALONE = { exclusive: true, awaitPrevious: async () => {} };

let chain: RecordedBundles;

beforeAll(() => {
  chain = recordedBundles(join(import.meta.dirname, '../../../../vectors/dev-chain'));
});

const opened: { readonly database: Database; readonly test: TestDatabase }[] = [];
const others: Database[] = [];

afterAll(async () => {
  for (const database of others) await database.close();
  for (const { database, test } of opened) {
    await database.close();
    await test.close();
  }
});

interface Index {
  readonly writer: BatchWriter;
  readonly test: TestDatabase;
}

async function newIndex(accounts: ReadonlySet<bigint> | null = null, partition_rounds = 64): Promise<Index> {
  const test = await testDatabase();
  const database = await Database.open({ url: test.url, writeConnections: 1 }, { clock: systemClock });
  opened.push({ database, test });
  await database.transaction((client) => openIndex(client, ZEROSTATE, partition_rounds));
  return { test, writer: batchWriter(database, accounts, partition_rounds) };
}

/** Another one for an index. */
async function writerOf(
  url: string,
  accounts: ReadonlySet<bigint> | null,
  partition_rounds: number,
): Promise<BatchWriter> {
  const database = await Database.open({ url, writeConnections: 1 }, { clock: systemClock });
  others.push(database);
  return batchWriter(database, accounts, partition_rounds);
}

function batchWriter(database: Database, accounts: ReadonlySet<bigint> | null, partition_rounds: number): BatchWriter {
  const globalVersion = async (key_block: number) => chain.globalVersion(key_block);
  const mcBlockId = async (mc_seqno: number) => chain.bundles[mc_seqno - 1]?.blocks[0]?.id ?? null;
  return new BatchWriter({ partition_rounds, accounts }, { database, clock: systemClock, globalVersion, mcBlockId });
}

function batch(from: number, to: number): BundleBatch {
  const bundles = chain.bundles.slice(from - 1, to);
  if (from > 1) return { bundles: bundles, zerostates: null };
  const zerostates = chain.zerostates.map(({ id, root }) => {
    const { gen_utime } = decodeCell(ShardStateUnsplit, root);
    return { workchain: id.workchain, data: serializeBoc(root), gen_utime };
  });
  return { bundles: bundles, zerostates };
}

/** Cuts 1…to into ranges of some length. */
function cuts(length: number, to = chain.bundles.length): [number, number][] {
  const ranges: [number, number][] = [];
  for (let from = 1; from <= to; from += length) ranges.push([from, Math.min(from + length - 1, to)]);
  return ranges;
}

async function expectSame(a: Index, b: Index, but: readonly IndexTable[] = []): Promise<void> {
  const [first, second] = await Promise.all([a.test.connect(), b.test.connect()]);
  const [dump, other] = await Promise.all([dumpIndex(first), dumpIndex(second)]);
  for (const table of Object.keys(dump) as IndexTable[]) {
    if (but.includes(table) || dump[table] === other[table]) continue;
    expect(await differingRows(first, second, table), table).toEqual([]);
  }
}

/** An order that looks random and is always the same. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const rest = [...items];
  const result: T[] = [];
  let state = seed;
  while (rest.length > 0) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    result.push(rest.splice(state % rest.length, 1)[0]!);
  }
  return result;
}

let sequential: Index;

beforeAll(async () => {
  sequential = await newIndex();
  for (const [from, to] of cuts(25)) await sequential.writer.write(batch(from, to), ALONE);
});

describe('batches of the recorded chain', () => {
  it('are written whole: blocks, transactions, accounts', async () => {
    const client = await sequential.test.connect();
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM blocks) AS blocks, (SELECT count(*) FROM transactions) AS transactions,
         (SELECT sum(tx_count) FROM blocks) AS counted, (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete,
         (SELECT sum(nodes) FROM traces) AS nodes, (SELECT count(*) FROM orphan_messages) AS orphans,
         (SELECT count(*) FROM traces WHERE state = 2) AS broken, rounds::text FROM index_state`,
    );
    const blocks = chain.bundles.reduce((sum, bundle) => sum + bundle.blocks.length, 0);
    const [{ transactions, counted, nodes }] = rows;
    expect(rows[0]).toMatchObject({ blocks: BigInt(blocks), incomplete: 0n, orphans: 0n, broken: 0n });
    expect([counted, nodes]).toEqual([transactions, transactions]);
    expect(rows[0].rounds).toBe(`{[1,${chain.bundles.length + 1})}`);
  });

  it('make the same index one by one, and in large parts that know nothing of each other', async () => {
    const to = FULL ? 120 : 60;
    const one = await newIndex();
    for (const [from, last] of cuts(1, to)) await one.writer.write(batch(from, last), ALONE);
    const many = await newIndex();
    for (const [from, last] of cuts(25, to)) await many.writer.write(batch(from, last), IN_TURN);
    await expectSame(one, many);
  });

  it.each(FULL ? [1, 2, 3] : [1, 2])(
    'make the same index in a random order, but for data that must be asked for (%i)',
    async (seed) => {
      const index = await newIndex();
      for (const [from, to] of shuffled(cuts(19 + seed * 6), seed)) {
        await index.writer.write(batch(from, to), seed === 2 ? ALONE : IN_TURN);
      }
      await expectSame(sequential, index, ['accounts']);
      const client = await index.test.connect();
      const whole = await sequential.test.connect();
      const known = await client.query('SELECT t::text AS row FROM accounts t WHERE NOT incomplete');
      const all = await whole.query('SELECT t::text AS row FROM accounts t');
      const rows = new Set(all.rows.map(({ row }) => row));
      expect(known.rows.filter(({ row }) => !rows.has(row))).toEqual([]);
      expect(known.rowCount).toBeGreaterThan(rows.size * 0.8);
      const states = 'SELECT address, state_hash, data_hash, code_hash FROM accounts ORDER BY address';
      expect((await client.query(states)).rows).toEqual((await whole.query(states)).rows);
    },
  );

  it('are refused when a part of them is there', async () => {
    const index = await newIndex();
    await index.writer.write(batch(11, 30), IN_TURN);
    const before = await dumpIndex(await index.test.connect());
    for (const [from, to] of [
      [1, 11],
      [30, 40],
      [5, 50],
      [20, 20],
    ] as const) {
      await expect(index.writer.write(batch(from, to), IN_TURN)).rejects.toMatchObject({ code: 'store/overlap' });
      await expect(index.writer.write(batch(from, to), ALONE)).rejects.toMatchObject({ code: 'store/overlap' });
    }
    expect(await dumpIndex(await index.test.connect())).toEqual(before);
  });

  it('are written once when two write them at the same time', async () => {
    const index = await newIndex();
    const second = await writerOf(index.test.url, null, 64);
    for (const [from, to] of cuts(20, 100)) {
      const written = await Promise.allSettled([
        index.writer.write(batch(from, to), IN_TURN),
        second.write(batch(from, to), IN_TURN),
      ]);
      expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(written.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'store/overlap' } });
    }
    const alone = await newIndex();
    for (const [from, to] of cuts(20, 100)) await alone.writer.write(batch(from, to), IN_TURN);
    await expectSame(alone, index);
  });

  it('are not written at all when the row of a trace that they continue is lost', async () => {
    const whole = await sequential.test.connect();
    const { rows } = await whole.query<{ from: number; to: number }>(
      `SELECT (root >> 24)::int AS from, mc_seqno_end AS to FROM traces WHERE mc_seqno_end > root >> 24 ORDER BY root LIMIT 1`,
    );
    const { from, to } = rows[0]!;
    const index = await newIndex();
    await index.writer.write(batch(1, from), ALONE);
    const client = await index.test.connect();
    await client.query('DELETE FROM traces WHERE pending_edges > 0');
    const before = await dumpIndex(client);
    await expect(index.writer.write(batch(from + 1, to), ALONE)).rejects.toMatchObject({
      code: 'traces/trace-missing',
    });
    expect(await dumpIndex(client)).toEqual(before);
  });

  it('hold some accounts only, when these are selected', async () => {
    const whole = await sequential.test.connect();
    const { rows: accounts } = await whole.query<{ account_key: bigint }>(
      `SELECT account_key FROM transactions WHERE workchain = 0 GROUP BY account_key ORDER BY count(*) DESC LIMIT 3`,
    );
    const keys = accounts.map(({ account_key }) => account_key);
    const index = await newIndex(new Set(keys));
    for (const [from, to] of shuffled(cuts(60), 9)) await index.writer.write(batch(from, to), IN_TURN);
    const client = await index.test.connect();
    const transactions = `SELECT id, lt, hash_key, state_after, boc FROM transactions WHERE account_key = ANY($1) ORDER BY id`;
    const expected = (await whole.query(transactions, [keys])).rows;
    expect(expected.length).toBeGreaterThan(100);
    expect((await client.query(transactions, [keys])).rows).toEqual(expected);
    const counts = await client.query(
      `SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM accounts) AS accounts,
         (SELECT count(*) FROM blocks) AS blocks, (SELECT sum(nodes) FROM traces) AS nodes,
         (SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.id = m.tx_id)) AS strange,
         (SELECT count(*) FROM accounts a WHERE code_hash IS NOT NULL
            AND NOT EXISTS (SELECT FROM codes c WHERE c.code_hash = a.code_hash)) AS without_code,
         (SELECT count(*) FROM codes) AS codes`,
    );
    const size = BigInt(expected.length);
    expect(counts.rows[0]).toMatchObject({
      transactions: size,
      nodes: size,
      accounts: 3n,
      strange: 0n,
      without_code: 0n,
    });
    expect(Number(counts.rows[0].codes)).toBeLessThan(Number((await whole.query('SELECT FROM codes')).rowCount));
  });
});
