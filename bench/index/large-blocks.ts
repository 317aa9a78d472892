import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import { systemClock } from '#kernel/clock.js';
import { WritePool } from '#services/indexer/write/write-pool.js';
import { bundleOfFile } from '../../test/support/recorded-bundles.js';
import { vectorPath } from '../../test/support/vector-files.js';
import { percentile } from '../latency.js';
import type { ReportTable } from '../report.js';

/** Blocks of the main network that are full; the parts of no chain, as none of them follows another. */
const BLOCKS = ['block-1.boc', 'block-2.boc', 'block-3.boc'];
const TIMES = 60;
const WARM_UP = 15;
const PACE_MS = 400;
const PARTITION_ROUNDS = 200_000;
const TARGET_MS = 200;
const VERSION = 13;

/**
 * Large blocks as bundles of their own, one every 400 ms, written by the thread that follows: from the files being there to the
 * commit. They cannot come from a liteserver, as the blocks around them are not known. The same blocks come again and again
 * with other masterchain seqnos; what a block may leave open only once is taken away in between.
 */
export async function measureLargeBlocks(url: string): Promise<ReportTable> {
  const folder = vectorPath('collection/mainnet-blocks');
  const database = await Database.open({ url }, { clock: systemClock });
  const pool = new WritePool(
    1,
    { url, partition_rounds: PARTITION_ROUNDS, accounts: null },
    { clock: systemClock, globalVersion: async () => VERSION, mcBlockId: async () => null },
  );
  try {
    await database.withWriter(async (client) => migrate(client, await readMigrations()));
    const identity = {
      zerostate_root_hash: new Uint8Array(32),
      zerostate_file_hash: new Uint8Array(32),
      selection: {},
    };
    await database.transaction((client) => openIndex(client, identity, PARTITION_ROUNDS));
    const results = BLOCKS.map((name) => ({ name, transactions: 0, bytes: 0, delays: [] as number[] }));
    const files = BLOCKS.map((name) => Uint8Array.from(readFileSync(`${folder}/${name}`)));
    const { signal } = new AbortController();
    for (let bundle = 0; bundle < TIMES; bundle++) {
      const at = bundle % BLOCKS.length;
      const began = performance.now();
      const bundles = [bundleOfFile(files[at]!, bundle + 1)];
      const order = { exclusive: true, awaitPrevious: async () => {} };
      const report = await pool.write({ bundles: bundles, zerostates: null }, order, signal);
      const took = performance.now() - began;
      const result = results[at]!;
      result.transactions = report.transactions;
      result.bytes = report.bytes;
      if (bundle >= WARM_UP) result.delays.push(took);
      await database.withWriter((client) => client.query('DELETE FROM open_messages; DELETE FROM orphan_messages'));
      await delay(Math.max(0, PACE_MS - (performance.now() - began)));
    }
    return {
      title: `Full blocks of the main network, one each ${PACE_MS} ms: milliseconds from the file being there to the commit (without fetching it)`,
      head: ['file', 'transactions', 'bytes', 'times', 'p50', 'max', 'target'],
      rows: results.map(({ name, transactions, bytes, delays }) => {
        const max = Math.max(...delays);
        return [
          ...[name, String(transactions), String(bytes), String(delays.length)],
          ...[percentile(delays, 0.5).toFixed(1), max.toFixed(1)],
          `${TARGET_MS} ms ${max <= TARGET_MS ? 'met' : 'missed'}`,
        ];
      }),
    };
  } finally {
    await pool.close();
    await database.close();
  }
}
