/** Buckets per doubling of time, the first one from so many milliseconds on. */
const PER_DOUBLING = 4;
const FIRST_MS = 0.1;
/** Up to about 100 s. */
const BUCKETS = 80;
/** With so many measurements, all old ones are given half the weight. */
const FULL = 512;

/** How long answers took lately: a histogram whose buckets grow by 19 %, in which old measurements fade. */
export class RoundTrips {
  readonly #counts = new Float32Array(BUCKETS);
  #total = 0;

  /** How many measurements it stands on, faded ones counted in part. */
  get weight(): number {
    return this.#total;
  }

  add(ms: number): void {
    if (this.#total >= FULL) {
      for (let i = 0; i < BUCKETS; i++) this.#counts[i]! /= 2;
      this.#total /= 2;
    }
    const bucket = Math.floor(Math.log2(Math.max(ms, FIRST_MS) / FIRST_MS) * PER_DOUBLING);
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#total += 1;
  }

  /** Upper end of the bucket in which this share of measurements has ended, in milliseconds; null without measurements. */
  quantile(share: number): number | null {
    if (this.#total === 0) return null;
    let left = share * this.#total;
    let bucket = 0;
    while (bucket < BUCKETS - 1) {
      left -= this.#counts[bucket]!;
      if (left <= 0) break;
      bucket++;
    }
    return FIRST_MS * 2 ** ((bucket + 1) / PER_DOUBLING);
  }
}
