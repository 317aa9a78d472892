import type { SeqnoRange } from '#drivers/store/write/index-state.js';

/** The parts of a range that none of some others has; rising. */
export function missingRanges(wanted: SeqnoRange, present: readonly SeqnoRange[]): SeqnoRange[] {
  const missing: SeqnoRange[] = [];
  let next = wanted.from;
  for (const { from, to } of present.toSorted((a, b) => a.from - b.from)) {
    if (from > wanted.to) break;
    if (from > next) missing.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= wanted.to) missing.push({ from: next, to: wanted.to });
  return missing;
}

/** Rising ranges, no two of which touch, with one more. */
export function withRange(ranges: readonly SeqnoRange[], { from, to }: SeqnoRange): SeqnoRange[] {
  const apart = ranges.filter((each) => each.to + 1 < from || each.from > to + 1);
  const touched = ranges.filter((each) => !apart.includes(each));
  const joined = {
    from: Math.min(from, ...touched.map((each) => each.from)),
    to: Math.max(to, ...touched.map((each) => each.to)),
  };
  return [...apart, joined].sort((a, b) => a.from - b.from);
}

/** How many seqnos there are in ranges that do not overlap. */
export function countSeqnos(ranges: readonly SeqnoRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** `1-5, 7-8`; `none`. */
export function printRanges(ranges: readonly SeqnoRange[]): string {
  if (ranges.length === 0) return 'none';
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
