import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSeqnos, missingRanges, printRanges, withRange } from '#services/indexer/index-progress.js';

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
