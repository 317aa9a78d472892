import { describe, expect, it } from 'vitest';
import {
  ProgressMeter,
  ProgressOutput,
  progressForm,
  progressJson,
  progressLine,
  totalsLine,
} from '#app/cli/progress.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';
import { FakeClock } from '#test/support/fake-clock.js';

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

describe('the progress of other operations', () => {
  it('has a bar, the rate of the last half minute, and how long it takes', () => {
    let now = 0;
    const meter = new ProgressMeter(() => now);
    const shown = (done: number) => meter.show({ done, total: 12_000, unit: 'masterchain blocks', note: 'comparing' });
    expect(shown(0).line).toBe('[........................] 0.0 %  0 of 12,000 masterchain blocks, comparing');
    for (now = 10_000; now <= 30_000; now += 10_000) shown((now / 1_000) * 100);
    now = 60_000;
    expect(shown(4_500).line).toBe(
      '[#########...............] 37.5 %  4,500 of 12,000 masterchain blocks, 50 per second, 2 min 30 s left, comparing',
    );
    expect(shown(4_500).json).toEqual({
      ...{ done: 4_500, total: 12_000, unit: 'masterchain blocks', per_second: 50, seconds_left: 150 },
      note: 'comparing',
    });
  });

  it('of a share has no unit, and restarts with another part', () => {
    let now = 0;
    const meter = new ProgressMeter(() => now);
    const shown = (done: number) => meter.show({ done, total: 1, unit: null, note: 'verifying' });
    shown(0);
    now = 5_000;
    expect(shown(0.5).line).toBe('[############............] 50.0 %  5.0 s left, verifying');
    now = 6_000;
    expect(shown(0).json.seconds_left).toBeNull();
    expect(meter.show({ done: 0, total: null, unit: null, note: 'opening' }).line).toBe('opening');
  });

  it('is a line that is overwritten, lines, or JSON', () => {
    expect([progressForm(true, true), progressForm(false, true), progressForm(false, false)]).toEqual([
      ...['json', 'terminal', 'plain'],
    ]);
    const json = progressJson(status, 'no space');
    expect(json).toEqual({
      ...{ done: 3_000, total: 12_000, unit: 'masterchain blocks', per_second: 5.25, seconds_left: 1_714.2 },
      note: 'no space',
    });
    for (const [form, expected] of [
      ['terminal', '\r\u001b[Kat work\r\u001b[Kat work\n'],
      ['plain', 'at work\nat work\n'],
      ['json', `${JSON.stringify({ progress: json })}\n`.repeat(2)],
    ] as const) {
      let written = '';
      const clock = new FakeClock();
      const output = new ProgressOutput(
        (text) => {
          written += text;
        },
        form,
        clock,
      );
      output.start(() => ({ line: 'at work', json }));
      clock.advance(2 * clock.next!);
      output.close();
      expect(written).toBe(expected);
    }
  });
});
