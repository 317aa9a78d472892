import { expect, it } from 'vitest';
import { FillLog } from '#app/service/fill-log.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('writes a line every 30 s while an index is filled, and one at the end', () => {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  const state = { done: 0, total: 1_000 };
  const status = () => {
    const { done, total } = state;
    const rates = { mcBlocksPerSecond: 12.34, transactionsPerSecond: 600.4, secondsLeft: (total - done) / 12.34 };
    const sums = { batches: 1, mcBlocks: 50 + done, blocks: 0, transactions: 0 };
    return { filling: done < total ? { done, total, ...rates } : null, sums } as never;
  };
  const logger = { info: (...line: unknown[]) => void lines.push(line), warn() {} };
  const log = new FillLog(status, { clock, logger });
  log.start();
  for (const done of [333, 1_000, 1_000]) {
    state.done = done;
    clock.advance(30_000);
  }
  expect(lines).toEqual([
    [
      'filling the index',
      {
        ...{ percent: 33.3, masterchain_blocks: 333, of: 1_000, masterchain_blocks_per_second: 12.3 },
        ...{ transactions_per_second: 600, seconds_left: 54 },
      },
    ],
    ['the index is filled', { masterchain_blocks: 1_000, seconds: 60 }],
  ]);
  log.close();
  expect(clock.pending).toBe(0);
});
