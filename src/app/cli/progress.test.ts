import { describe, expect, it } from 'vitest';
import { progressLine, totalsLine } from '#app/cli/progress.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';

const status: IndexerStatus = {
  role: 'leader',
  indexedRanges: [],
  pruned_below: 0,
  head: null,
  delayMs: null,
  filling: {
    total: 12_000,
    done: 3_000,
    mcBlocksPerSecond: 5.25,
    transactionsPerSecond: 8_000.4,
    secondsLeft: 1_714.2,
  },
  sums: { batches: 1, mcBlocks: 3_000, blocks: 6_000, transactions: 1e6, bytes: 1, buildSeconds: 1, writeSeconds: 1 },
  retries: 0,
  incompleteAccounts: null,
  orphanMessages: null,
  problem: null,
  contradiction: null,
};
const left = (secondsLeft: number) => progressLine({ ...status, filling: { ...status.filling!, secondsLeft } }, null);

describe('the progress of a backfill', () => {
  it('reports how much is done, how fast, and how long it takes', () => {
    expect(progressLine(status, null)).toBe(
      '[######..................] 25.0 %  3,000 of 12,000 masterchain blocks, 5.3 blocks/s, 8,000 tx/s, 28 min 34 s left',
    );
    const ends = [9.96, 59.6, 3_600, 172_800].map((seconds) => /, ([^,]+) left$/.exec(left(seconds))![1]);
    expect(ends).toEqual(['10.0 s', '1 min 0 s', '1 h 0 min', '2 d 0 h']);
  });

  it('reports what is in the way', () => {
    expect(progressLine(status, 'no space')).toMatch(/left {2}waiting: no space$/);
    expect(progressLine({ ...status, role: 'stand-by' }, null)).toBe('waiting: another process is the index leader');
    expect(progressLine({ ...status, role: 'stand-by' }, 'it is gone')).toBe('waiting: it is gone');
    expect(progressLine({ ...status, filling: null }, null)).toBe('3,000 masterchain blocks written');
  });

  it('ends with sums', () => {
    expect(totalsLine(status, 65)).toBe(
      'wrote 3,000 masterchain blocks with 6,000 blocks and 1,000,000 transactions in 1 min 5 s (46 blocks/s, 15,385 tx/s)',
    );
  });
});
