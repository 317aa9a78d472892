import type { Clock } from '#kernel/clock.js';
import type { RateState } from '#services/access/access.js';
import type { Limits } from '#services/access/plans.js';
import { TwoGenerationMap } from '#services/access/two-generation-map.js';
import { WorkBuckets } from '#services/access/work-buckets.js';

/** A request to be counted. */
export interface LimitRequest {
  /** What it is counted by, network included: `owner acme mainnet`, `address 192.0.2.1 mainnet`. */
  readonly subject: string;
  /** Whether the subject is a client address: these are unbounded in number and have no quota. */
  readonly isAddress: boolean;
  readonly limits: Limits;
  /** Milliseconds since it arrived, which is when it counts for the rate. Requests of a subject are taken as they arrived. Default 0. */
  readonly waitedMs?: number;
}

/** Whether the request is within the limits; if not, the exceeded limit and the milliseconds until it would be. */
export type LimitDecision =
  | { readonly passed: true; readonly rate?: RateState }
  | { readonly passed: false; readonly by: 'rate' | 'quota' | 'work'; readonly waitMs: number };

/**
 * The state of that limit of requests of which less is left: of the rate, or of the quota of the day.
 *
 * @param fullInMs when the bucket of the rate is full again
 * @param today requests of the day, and the milliseconds that are left of it
 * @returns null without a limit
 */
export function rateStateOf(
  { requests_per_second, burst, daily_quota }: Limits,
  fullInMs: number,
  today: { readonly used: number; readonly leftMs: number },
): RateState | null {
  const quota: RateState | null =
    daily_quota === null
      ? null
      : {
          limit: daily_quota,
          remaining: Math.max(0, daily_quota - today.used),
          resetMs: today.leftMs,
          windowMs: DAY_MS,
        };
  if (requests_per_second === null) return quota;
  const held = burst + SLACK - (fullInMs * requests_per_second) / 1000;
  const remaining = Math.max(0, Math.min(burst, Math.floor(held + ROUNDING_MS)));
  if (quota !== null && quota.remaining < remaining) return quota;
  return { limit: burst, remaining, resetMs: Math.max(0, fullInMs), windowMs: (burst / requests_per_second) * 1000 };
}

/** Counts requests and work against limits. What is refused is not counted. */
export interface Limiter {
  take(question: LimitRequest): LimitDecision | Promise<LimitDecision>;
  /** Takes the price of a call out of the budget of work. */
  takeWork(question: LimitRequest, units: number): LimitDecision | Promise<LimitDecision>;
  /** Corrects what was taken by what was done. @param units the difference, which may be negative */
  settleWork(question: LimitRequest, units: number): void;
  close(): void;
}

export const PASSED: LimitDecision = { passed: true };

export interface LocalLimiterModules {
  readonly clock: Clock;
  readonly quota: DailyQuota;
}

/** Limits within this process. Addresses have separate buckets, so that a flood of them does not evict those of keys. */
export class LocalLimiter implements Limiter {
  readonly #clock: Clock;
  readonly #quota: DailyQuota;
  readonly #addresses: TokenBuckets;
  readonly #keys: TokenBuckets;
  readonly #addressWork: WorkBuckets;
  readonly #keyWork: WorkBuckets;

  /** @param options `maxAddresses` and `maxKeys`: buckets in memory */
  constructor(options: { readonly maxAddresses: number; readonly maxKeys: number }, modules: LocalLimiterModules) {
    this.#clock = modules.clock;
    this.#quota = modules.quota;
    this.#addresses = new TokenBuckets(options.maxAddresses);
    this.#keys = new TokenBuckets(options.maxKeys);
    this.#addressWork = new WorkBuckets(options.maxAddresses);
    this.#keyWork = new WorkBuckets(options.maxKeys);
  }

  /** Client addresses in memory. */
  get addresses(): number {
    return this.#addresses.size;
  }

  take({ subject, isAddress, limits, waitedMs = 0 }: LimitRequest): LimitDecision {
    const { requests_per_second, burst, daily_quota } = limits;
    if (daily_quota !== null && this.#quota.used(subject) >= daily_quota) {
      return { passed: false, by: 'quota', waitMs: this.#quota.untilNextDayMs };
    }
    let fullInMs = 0;
    if (requests_per_second !== null) {
      const buckets = isAddress ? this.#addresses : this.#keys;
      const now = this.#clock.now();
      const waitMs = buckets.take(subject, { requests_per_second, burst }, now - waitedMs);
      if (waitMs > 0) return { passed: false, by: 'rate', waitMs: Math.max(LEAST_WAIT_MS, waitMs - waitedMs) };
      fullInMs = buckets.fullIn(subject, now);
    }
    if (!isAddress) this.#quota.add(subject);
    if (requests_per_second === null && daily_quota === null) return PASSED;
    const today = { used: this.#quota.used(subject), leftMs: this.#quota.untilNextDayMs };
    return { passed: true, rate: rateStateOf(limits, fullInMs, today)! };
  }

  /** Lowers the bucket of a subject to what is left of its rate in all processes. @param fullInMs when it is full again */
  lower({ subject, isAddress }: LimitRequest, fullInMs: number): void {
    const buckets = isAddress ? this.#addresses : this.#keys;
    buckets.lower(subject, this.#clock.now() + fullInMs);
  }

  takeWork({ subject, isAddress, limits }: LimitRequest, units: number): LimitDecision {
    const { work_per_second, work_burst } = limits;
    if (work_per_second === null) return PASSED;
    const buckets = isAddress ? this.#addressWork : this.#keyWork;
    const waitMs = buckets.take(subject, units, { work_per_second, work_burst }, this.#clock.now());
    return waitMs > 0 ? { passed: false, by: 'work', waitMs } : PASSED;
  }

  settleWork({ subject, isAddress, limits }: LimitRequest, units: number): void {
    const { work_per_second, work_burst } = limits;
    if (work_per_second === null || units === 0) return;
    const buckets = isAddress ? this.#addressWork : this.#keyWork;
    buckets.settle(subject, units, { work_per_second, work_burst }, this.#clock.now());
  }

  close(): void {}
}

/** A rate and a burst. */
export interface Rate {
  readonly requests_per_second: number;
  readonly burst: number;
}

/**
 * Capacity of a bucket above its burst, in requests. Without it the jitter of clients would cost them a part of the next
 * request, and a plan with a burst of 1 would allow 5 % too little.
 */
export const SLACK = 0.25;

/** Until a client may come again that was refused so late that it might already. */
export const LEAST_WAIT_MS = 1;

/** Tolerance for rounding errors: times are sums of fractions. */
const ROUNDING_MS = 1e-6;

/** When a bucket is full again from which a request must wait so long. */
export function fullInMsAt(waitMs: number, { requests_per_second, burst }: Rate): number {
  return waitMs + ((burst - 1 + SLACK) * 1000) / requests_per_second;
}

/**
 * Takes one request out of a bucket. A bucket is one number, the moment when it is full again: it fills at the rate, holds
 * `burst` requests (and {@link SLACK}), and each request moves that moment on by the time that one request takes to fill.
 *
 * @param fullAt the moment when it is full, in milliseconds; `null` for a new bucket, which holds `burst` requests
 * @returns the new moment, or the milliseconds to wait for
 */
function takeFromBucket(
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
 * Buckets by subject, at most `most` of them. An evicted one was unused while `most / 2` others were used; it starts again with
 * its burst.
 */
export class TokenBuckets {
  readonly #fullAt: TwoGenerationMap<number>;

  constructor(most: number) {
    this.#fullAt = new TwoGenerationMap(most);
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

  /** Leaves a bucket that is full no earlier than at `fullAt`. */
  lower(subject: string, fullAt: number): void {
    if (fullAt > (this.#fullAt.get(subject) ?? Number.NEGATIVE_INFINITY)) this.#fullAt.set(subject, fullAt);
  }

  /** Milliseconds until the bucket is full again. */
  fullIn(subject: string, now: number): number {
    return Math.max(0, (this.#fullAt.get(subject) ?? now) - now);
  }
}

const DAY_MS = 86_400_000;

/** The day of a moment, UTC: `2025-01-31`. */
export function dayOf(unixTimeMs: number): string {
  return new Date(unixTimeMs).toISOString().slice(0, 10);
}

/**
 * Requests of today (UTC) by subject. Counts start again with each day; setting the clock back does not reset them. They are in
 * memory; {@link DailyQuota.restore} loads those that were stored.
 */
export class DailyQuota {
  readonly #unixTimeMs: () => number;
  #day: number;
  #counts = new Map<string, number>();

  constructor(modules: { readonly unixTimeMs: () => number }) {
    this.#unixTimeMs = modules.unixTimeMs;
    this.#day = Math.floor(modules.unixTimeMs() / DAY_MS);
  }

  /** The day that is counted: `2025-01-31`. */
  get day(): string {
    this.#turn();
    return dayOf(this.#day * DAY_MS);
  }

  /** Milliseconds until the next day. */
  get untilNextDayMs(): number {
    const now = this.#turn();
    return (this.#day + 1) * DAY_MS - now;
  }

  used(subject: string): number {
    this.#turn();
    return this.#counts.get(subject) ?? 0;
  }

  add(subject: string): void {
    this.#turn();
    this.#counts.set(subject, (this.#counts.get(subject) ?? 0) + 1);
  }

  /** Raises the count of a subject that other processes count, too. */
  raise(subject: string, used: number): void {
    if (used > this.used(subject)) this.#counts.set(subject, used);
  }

  /** Raises the counts to stored ones of `day`; does nothing on another day. */
  restore(day: string, counts: ReadonlyMap<string, number>): void {
    if (day !== this.day) return;
    for (const [subject, used] of counts) this.raise(subject, used);
  }

  #turn(): number {
    const now = this.#unixTimeMs();
    const day = Math.floor(now / DAY_MS);
    if (day > this.#day) {
      this.#day = day;
      this.#counts = new Map();
    }
    return now;
  }
}
