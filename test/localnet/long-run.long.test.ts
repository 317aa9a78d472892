import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { type LongRunReport, longRun } from './long-run.js';

let pool: TvmPool;

beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});

afterAll(() => pool.close());

/** Enough blocks, and everything has happened; when it does not, the test says what is missing. */
function isVaried({ blocks, splits, merges, keyBlocks }: LongRunReport): boolean {
  return (blocks >= 300 && splits > 0 && merges > 0 && keyBlocks > 0) || blocks >= 1000;
}

describe('a chain of the local network, with traffic, splits, merges and key blocks', () => {
  // Ten thousand blocks: npm run -s sim -- localnet
  it('is accepted by a validator, block after block', async () => {
    const report = await longRun({ enough: isVaried, seed: 'c', messages: 6 }, pool);
    console.info(
      `${report.blocks} blocks, ${report.transactions} transactions, ${report.splits} splits, ${report.merges} merges, ${report.keyBlocks} key blocks`,
    );
    expect(report.blocks).toBeGreaterThan(200);
    expect(report.transactions).toBeGreaterThan(500);
    expect(report.splits).toBeGreaterThan(0);
    expect(report.merges).toBeGreaterThan(0);
    expect(report.keyBlocks).toBeGreaterThan(0);
    expect(report.deviations).toBe(report.keyBlocks);
  });
});
