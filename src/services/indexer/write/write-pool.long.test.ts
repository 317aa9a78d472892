import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openIndex } from '#drivers/store/index-state.js';
import { type Clock, systemClock } from '#kernel/clock.js';
import type { BundleBatch } from '#services/indexer/write/batch-writer.js';
import { packBundles, unpackBundles, WritePool } from '#services/indexer/write/write-pool.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { type RecordedBundles, recordedBundles } from '#test/support/recorded-bundles.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const IDENTITY = { zerostate_root_hash: new Uint8Array(32), zerostate_file_hash: new Uint8Array(32), selection: {} };
const IN_TURN = { exclusive: false, awaitPrevious: async () => {} };
const never = new AbortController().signal;

let chain: RecordedBundles;
let test: TestDatabase;

beforeAll(async () => {
  chain = recordedBundles(join(import.meta.dirname, '../../../../vectors/dev-chain'), 120);
  test = await testDatabase();
  await openIndex(await test.connect(), IDENTITY, 1000);
});

afterAll(() => test.close());

function batch(from: number, to: number): BundleBatch {
  return { bundles: chain.bundles.slice(from - 1, to), zerostates: null };
}

function pool(threads: number, clock: Clock = systemClock): WritePool {
  const start = { url: test.url, partition_rounds: 1000, accounts: null };
  const globalVersion = async (key_block: number) => chain.globalVersion(key_block);
  return new WritePool(threads, start, { clock, globalVersion, mcBlockId: async () => null });
}

async function indexed(): Promise<string> {
  return (await (await test.connect()).query('SELECT rounds::text AS rounds FROM index_state')).rows[0].rounds;
}

describe('threads that write', () => {
  it('get masterchain blocks as they are', () => {
    const { bundles: rounds } = batch(100, 110);
    const unpacked = unpackBundles(packBundles(rounds));
    expect(unpacked).toEqual(rounds.map(({ mc_seqno, blocks }) => ({ mc_seqno, blocks })));
  });

  it('write batches at the same time, and report refusals with their errors', async () => {
    const threads = pool(2);
    const reports = await Promise.all([
      threads.write(batch(11, 20), IN_TURN, never),
      threads.write(batch(1, 10), IN_TURN, never),
    ]);
    expect(reports.map(({ range }) => range)).toEqual([
      { from: 11, to: 20 },
      { from: 1, to: 10 },
    ]);
    const made = await (await test.connect()).query(
      'SELECT gen_utime FROM blocks WHERE workchain = -1 AND seqno IN (10, 20) ORDER BY seqno DESC',
    );
    expect(reports.map(({ gen_utime }) => ({ gen_utime: BigInt(gen_utime) }))).toEqual(made.rows);
    const refused = threads.write(batch(15, 25), IN_TURN, never);
    await expect(refused).rejects.toMatchObject({ code: 'store/overlap', data: { from: 15, to: 25 } });
    expect([await indexed(), threads.lost]).toEqual(['{[1,21)}', 0]);
    await threads.close();
  });

  it('finish in turn, and write nothing when the turn does not come', async () => {
    const threads = pool(1);
    const order: string[] = [];
    const turn = async () => {
      order.push(await indexed());
      throw new TypeError('no turn');
    };
    await expect(threads.write(batch(41, 50), { exclusive: false, awaitPrevious: turn }, never)).rejects.toMatchObject({
      code: 'indexer/unexpected',
    });
    expect(order).toEqual(['{[1,21)}']);
    await threads.write(batch(41, 50), IN_TURN, never);
    expect(await indexed()).toBe('{[1,21),[41,51)}');
    await threads.close();
  });

  it('are replaced when they are lost, with nothing written', async () => {
    const threads = pool(1);
    const stop = new AbortController();
    const stuck = threads.write(
      batch(61, 70),
      { exclusive: false, awaitPrevious: () => new Promise(() => {}) },
      stop.signal,
    );
    const lost = expect(stuck).rejects.toMatchObject({ code: 'indexer/thread-lost' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    stop.abort();
    await lost;
    expect([threads.lost, await indexed()]).toEqual([1, '{[1,21),[41,51)}']);
    await threads.write(batch(61, 70), IN_TURN, never);
    expect(await indexed()).toBe('{[1,21),[41,51),[61,71)}');
    await threads.close();
  });

  it('end when they are not used, and are started again', async () => {
    const clock = new FakeClock();
    const threads = pool(1, clock);
    await threads.write(batch(101, 105), IN_TURN, never);
    clock.advance(19_000);
    expect(threads.threads).toBe(1);
    clock.advance(1_000);
    expect(threads.threads).toBe(0);
    await threads.write(batch(106, 110), IN_TURN, never);
    expect([threads.threads, threads.lost]).toEqual([1, 0]);
    await threads.close();
  });
});
