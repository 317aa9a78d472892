import { RecentMap } from '#services/access/recent-map.js';

/** A rate and what may come at once. */
export interface Rate {
  readonly requests_per_second: number;
  readonly burst: number;
}

/**
 * What a bucket holds over its burst, in requests. Without it a request that comes a little late, because clients are not
 * to the millisecond, would cost its client a part of the next one, and a plan with a burst of 1 would pass 5 % too little.
 */
export const SLACK = 0.25;

/** Times are sums of fractions; a request that is due is not put off by their last digits. */
const ROUNDING_MS = 1e-6;

/**
 * Takes one request out of a bucket. A bucket is one number, the moment when it is full again: it fills at the rate, holds
 * `burst` requests (and {@link SLACK}), and each request moves that moment on by the time that one request takes to fill.
 *
 * @param fullAt the moment when it is full, in milliseconds; `null` for a new bucket, which holds `burst` requests
 * @returns the new moment, or the milliseconds to wait for
 */
export function takeFromBucket(
  fullAt: number | null,
  { requests_per_second, burst }: Rate,
  now: number,
): { readonly fullAt: number } | { readonly waitMs: number } {
  const intervalMs = 1000 / requests_per_second;
  const base = fullAt === null ? now + SLACK * intervalMs : Math.max(fullAt, now);
  const waitMs = base - now - (burst - 1 + SLACK) * intervalMs;
  return waitMs > ROUNDING_MS ? { waitMs } : { fullAt: base + intervalMs };
}

/**
 * Buckets by subject, at most `most` of them. One that is forgotten has passed nothing while `most / 2` others did; it
 * starts again with its burst.
 */
export class TokenBuckets {
  readonly #fullAt: RecentMap<number>;

  constructor(most: number) {
    this.#fullAt = new RecentMap(most);
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes one request; returns the milliseconds to wait for when there is none, else 0. */
  take(subject: string, rate: Rate, now: number): number {
    const taken = takeFromBucket(this.#fullAt.get(subject) ?? null, rate, now);
    if ('waitMs' in taken) return taken.waitMs;
    this.#fullAt.set(subject, taken.fullAt);
    return 0;
  }
}
