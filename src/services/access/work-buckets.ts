import { TwoGenerationMap } from '#services/access/two-generation-map.js';

/** How much work per second, and how much at once after a pause, in work units. */
interface WorkRate {
  readonly work_per_second: number;
  readonly work_burst: number;
}

/** A bucket is in debt for this long at most. */
export const LONGEST_DEBT_MS = 120_000;

/**
 * Budgets of work by subject. A bucket holds `work_burst` units and fills at its rate. A call takes its price when the bucket
 * holds it, or is full: what costs more than a full bucket leaves it in debt. It is one number, the moment when it is full
 * again, as that of requests (see limits.ts).
 */
export class WorkBuckets {
  readonly #fullAt: TwoGenerationMap<number>;

  /** @param most buckets in memory */
  constructor(most: number) {
    this.#fullAt = new TwoGenerationMap(most);
  }

  /** Takes the price of a call; returns the milliseconds to wait for when the bucket does not hold it, else 0. */
  take(subject: string, units: number, rate: WorkRate, now: number): number {
    const { work_per_second, work_burst } = rate;
    const fullAt = Math.max(this.#fullAt.get(subject) ?? now, now);
    const held = work_burst - ((fullAt - now) * work_per_second) / 1000;
    const lacking = Math.min(units, work_burst) - held;
    if (lacking > ROUNDING_UNITS) return (lacking * 1000) / work_per_second;
    this.settle(subject, units, rate, now);
    return 0;
  }

  /** Adds the difference between what was taken and what was done. @param units negative: less was done */
  settle(subject: string, units: number, { work_per_second, work_burst }: WorkRate, now: number): void {
    const fullAt = Math.max(this.#fullAt.get(subject) ?? now, now);
    const latest = now + (work_burst * 1000) / work_per_second + LONGEST_DEBT_MS;
    this.#fullAt.set(subject, Math.min(fullAt + (units * 1000) / work_per_second, latest));
  }
}

/** Tolerance for rounding errors. */
const ROUNDING_UNITS = 1e-6;
