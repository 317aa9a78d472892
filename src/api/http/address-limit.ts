import { httpErrors } from '#api/http/errors.js';
import type { Clock } from '#kernel/clock.js';
import { addressBlock } from '#services/access/access.js';
import { TokenBuckets } from '#services/access/limits.js';

/** Addresses in memory. */
const MOST_ADDRESSES = 10_000;

/** Limits requests for pages beside the APIs, for each client address. */
export class AddressLimit {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #buckets = new TokenBuckets(MOST_ADDRESSES);

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** @throws http/rate-limit */
  take(clientAddress: string): void {
    const rate = { requests_per_second: this.#perSecond, burst: this.#perSecond };
    const waitMs = this.#buckets.take(addressBlock(clientAddress), rate, this.#clock.now());
    if (waitMs <= 0) return;
    const limit = `${this.#perSecond} pages per second`;
    throw httpErrors['rate-limit']({ limit, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  }
}
