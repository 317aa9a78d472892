/**
 * The first masterchain block of the newest range in `X-Tern-Coverage`: `history=1-4,900-1060; state=partial` has 900.
 * @returns null when there is no history
 */
export function firstIndexed(coverage: string): number | null {
  const ranges = /history=([0-9,-]+)/.exec(coverage)?.[1]?.split(',') ?? [];
  const first = Number(ranges.at(-1)?.split('-')[0] ?? Number.NaN);
  return Number.isInteger(first) ? first : null;
}
