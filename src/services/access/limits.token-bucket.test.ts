import { describe, expect, it } from 'vitest';
import { type Rate, TokenBuckets } from '#services/access/limits.js';
import { defaultBurst } from '#services/access/plans.js';
import { Random } from '#test/fuzz/random.js';

const MINUTE = 60_000;

/** How many requests pass when one comes every `gapMs()`, from `start` on. */
function passesIn(buckets: TokenBuckets, rate: Rate, durationMs: number, gapMs: () => number, start = 0): number {
  let passed = 0;
  for (let now = start; now < start + durationMs; now += gapMs()) {
    if (buckets.take('a', rate, now) === 0) passed++;
  }
  return passed;
}

function rateOf(requests_per_second: number): Rate {
  return { requests_per_second, burst: defaultBurst(requests_per_second) };
}

describe('a minute of overload passes the rate within 2 %', () => {
  it.each([0.05, 0.1, 0.25, 0.5, 1, 1.01, 1.5, 2, 3, 7.3, 10, 25, 100, 333, 1000])(
    'at %d requests per second',
    (rate) => {
      const expected = rate * 60;
      // A tenth of the time that one request takes to fill, and never a divisor of it.
      const gap = Math.min(97.3, 100 / rate + 0.037);
      const passed = passesIn(new TokenBuckets(10), rateOf(rate), MINUTE, () => gap);
      expect(passed).toBeGreaterThanOrEqual(expected * 0.98);
      expect(passed).toBeLessThanOrEqual(expected * 1.02);
    },
  );

  it.each([0.5, 1, 10, 25, 100])('at %d requests per second that come irregularly', (rate) => {
    const chance = new Random('token-bucket');
    const passed = passesIn(new TokenBuckets(10), rateOf(rate), MINUTE, () => (chance.below(400) + 1) / (2 * rate));
    expect(passed).toBeGreaterThanOrEqual(rate * 60 * 0.98);
    expect(passed).toBeLessThanOrEqual(rate * 60 * 1.02);
  });

  it.each([0.5, 1, 10, 100])('and ten minutes after a long rest, too, at %d requests per second', (rate) => {
    const buckets = new TokenBuckets(10);
    expect(buckets.take('a', rateOf(rate), 0)).toBe(0);
    const passed = passesIn(buckets, rateOf(rate), 10 * MINUTE, () => 100 / rate, 90 * MINUTE);
    expect(passed).toBeGreaterThanOrEqual(rate * 600 * 0.98);
    expect(passed).toBeLessThanOrEqual(rate * 600 * 1.02);
  });
});

describe('a bucket', () => {
  const rate = { requests_per_second: 10, burst: 5 };

  it('passes its burst at once, and then says how long to wait', () => {
    const buckets = new TokenBuckets(10);
    const waits = Array.from({ length: 7 }, () => buckets.take('a', rate, 1000));
    expect(waits).toEqual([0, 0, 0, 0, 0, 100, 100]);
    expect(buckets.take('a', rate, 1099)).toBeCloseTo(1);
    expect(buckets.take('a', rate, 1100)).toBe(0);
    expect(buckets.take('a', rate, 1100)).toBeCloseTo(100);
  });

  it('passes everything that keeps to the rate, whatever the fraction', () => {
    for (const requests_per_second of [0.3, 1, 3, 7, 9.9, 333]) {
      const buckets = new TokenBuckets(10);
      const single = { requests_per_second, burst: 1 };
      for (let i = 0; i < 1000; i++) {
        expect(buckets.take('a', single, (i * 1000) / requests_per_second), `${requests_per_second}: ${i}`).toBe(0);
      }
    }
  });

  it('passes no more than its burst after any rest', () => {
    const buckets = new TokenBuckets(10);
    buckets.take('a', rate, 0);
    const passed = Array.from({ length: 20 }, () => buckets.take('a', rate, 1e9)).filter((wait) => wait === 0);
    expect(passed).toHaveLength(5);
  });

  it('is one of its own for each subject', () => {
    const buckets = new TokenBuckets(10);
    const single = { requests_per_second: 1, burst: 1 };
    expect([buckets.take('a', single, 0), buckets.take('b', single, 0)]).toEqual([0, 0]);
    expect(buckets.take('a', single, 0)).toBeGreaterThan(0);
  });
});

describe('many subjects', () => {
  const rate = { requests_per_second: 1, burst: 1 };

  it('stay within the bound, and a busy one among them is held to its rate', () => {
    const buckets = new TokenBuckets(1000);
    let passed = 0;
    for (let i = 0; i < 24_000; i++) {
      const now = i * 2.5;
      buckets.take(`address ${i}`, rate, now);
      if (buckets.take('busy', rate, now) === 0) passed++;
      expect(buckets.size, `after ${i}`).toBeLessThanOrEqual(1000);
    }
    expect(passed).toBe(60);
  });

  it('are found again as long as not too many others came', () => {
    const buckets = new TokenBuckets(1000);
    buckets.take('early', { requests_per_second: 0.001, burst: 1 }, 0);
    for (let i = 0; i < 499; i++) buckets.take(`address ${i}`, rate, 0);
    expect(buckets.take('early', { requests_per_second: 0.001, burst: 1 }, 0)).toBe(1_000_000);
  });
});
