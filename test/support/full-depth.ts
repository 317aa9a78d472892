/**
 * Whether tests leave nothing out. `TERN_FULL=1 npm run test:all` takes hours; without it, tests of whole chains and of great
 * numbers take a part that CI has time for.
 */
export const FULL = process.env.TERN_FULL === '1';

/** Every `stride`-th item from the first on, the same ones in each run; all with TERN_FULL=1. */
export function partOf<T>(items: readonly T[], stride: number): readonly T[] {
  return FULL ? items : items.filter((_, i) => i % stride === 0);
}
