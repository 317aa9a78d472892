import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countSeqnos,
  IndexView,
  missingRanges,
  printRanges,
  type WrittenBatch,
  withRange,
} from '#services/indexer/index-progress.js';

const range = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 8 }))
  .map(([from, more]) => ({ from, to: from + more }));

function seqnos(ranges: readonly { readonly from: number; readonly to: number }[]): Set<number> {
  const all = new Set<number>();
  for (const { from, to } of ranges) for (let seqno = from; seqno <= to; seqno++) all.add(seqno);
  return all;
}

describe('ranges of seqnos', () => {
  it('lack what none of them has', () => {
    fc.assert(
      fc.property(range, fc.array(range), (wanted, present) => {
        const has = seqnos(present);
        const lacking = [...seqnos([wanted])].filter((seqno) => !has.has(seqno));
        const missing = missingRanges(wanted, present);
        expect([...seqnos(missing)]).toEqual(lacking);
        expect(countSeqnos(missing)).toBe(lacking.length);
      }),
    );
  });

  it('grow together when they touch', () => {
    fc.assert(
      fc.property(fc.array(range), (added) => {
        let ranges: { readonly from: number; readonly to: number }[] = [];
        for (const each of added) ranges = withRange(ranges, each);
        expect([...seqnos(ranges)]).toEqual([...seqnos(added)].sort((a, b) => a - b));
        for (const [i, each] of ranges.entries()) if (i > 0) expect(each.from).toBeGreaterThan(ranges[i - 1]!.to + 1);
      }),
    );
  });

  it('are printed', () => {
    expect(printRanges([])).toBe('none');
    expect(
      printRanges([
        { from: 1, to: 5 },
        { from: 7, to: 7 },
      ]),
    ).toBe('1-5, 7');
  });
});

describe('the view of an index', () => {
  const empty = { partition_rounds: 1, indexedRanges: [], pruned_below: 0, state_seqno: null };
  const ROW = { partition_rounds: 1, rounds: '{}', pruned_below: 0, state_seqno: null };
  const never = new AbortController().signal;
  const isSettled = (waited: Promise<void>) =>
    Promise.race([waited.then(() => true), new Promise((resolve) => setImmediate(() => resolve(false)))]);

  it('has nothing until the first batch, or an imported state', async () => {
    const view = new IndexView(empty, {} as never);
    const waited = view.untilWritten(never);
    expect(await isSettled(waited)).toBe(false);
    const range = { from: 3, to: 4 };
    view.onWritten({ range, mode: 'fill', delayMs: null, gen_utime: 9 } as unknown as WrittenBatch);
    expect(await isSettled(waited)).toBe(true);
    for (const state of [
      { ...empty, indexedRanges: [range] },
      { ...empty, state_seqno: 7 },
    ]) {
      expect(await isSettled(new IndexView(state, {} as never).untilWritten(never))).toBe(true);
    }
  });

  it('counts orphan messages seldom when that takes long', async () => {
    let [now, orphans] = [0, 0];
    const count = async (text: string) => {
      if (!text.includes('orphan_messages')) return 1n;
      now += 100;
      orphans++;
      return BigInt(orphans);
    };
    const client = {
      query: async (text: unknown) => {
        if (typeof text !== 'string' || !text.includes('count(*)')) return { rows: [{ ...ROW }] };
        return { rows: [{ n: await count(text) }] };
      },
    };
    const work = {
      database: { withWriter: (read: (lent: typeof client) => unknown) => read(client) },
      retries: { run: (read: () => unknown) => read() },
      clock: { now: () => now },
    };
    const view = new IndexView(empty, work as never);
    await view.count(never);
    now += 19_999;
    await view.count(never);
    expect(view.counts).toEqual({ incomplete: 1, orphans: 1 });
    now += 1;
    await view.count(never);
    expect(view.counts).toEqual({ incomplete: 1, orphans: 2 });
  });

  it('is not waited for after an abort', async () => {
    const stop = new AbortController();
    const waited = new IndexView(empty, {} as never).untilWritten(stop.signal);
    stop.abort();
    expect(await isSettled(waited)).toBe(true);
  });
});
