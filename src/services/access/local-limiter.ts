import type { Clock } from '#kernel/clock/clock.js';
import type { DailyQuota } from '#services/access/daily-quota.js';
import { type LimitAnswer, type Limiter, type LimitQuestion, PASSED } from '#services/access/limiter.js';
import { TokenBuckets } from '#services/access/token-bucket.js';

export interface LocalLimiterModules {
  readonly clock: Clock;
  readonly quota: DailyQuota;
}

/** Limits within this process. Addresses have buckets of their own, so that a flood of them does not push out a key. */
export class LocalLimiter implements Limiter {
  readonly #clock: Clock;
  readonly #quota: DailyQuota;
  readonly #addresses: TokenBuckets;
  readonly #keys: TokenBuckets;

  /** @param options `maxAddresses` and `maxKeys`: buckets in memory */
  constructor(options: { readonly maxAddresses: number; readonly maxKeys: number }, modules: LocalLimiterModules) {
    this.#clock = modules.clock;
    this.#quota = modules.quota;
    this.#addresses = new TokenBuckets(options.maxAddresses);
    this.#keys = new TokenBuckets(options.maxKeys);
  }

  /** Client addresses in memory. */
  get addresses(): number {
    return this.#addresses.size;
  }

  take({ subject, isAddress, limits }: LimitQuestion): LimitAnswer {
    const { requests_per_second, burst, daily_quota } = limits;
    if (daily_quota !== null && this.#quota.used(subject) >= daily_quota) {
      return { passed: false, by: 'quota', waitMs: this.#quota.untilNextDayMs };
    }
    if (requests_per_second !== null) {
      const buckets = isAddress ? this.#addresses : this.#keys;
      const waitMs = buckets.take(subject, { requests_per_second, burst }, this.#clock.now());
      if (waitMs > 0) return { passed: false, by: 'rate', waitMs };
    }
    if (!isAddress) this.#quota.add(subject);
    return PASSED;
  }

  close(): void {}
}
