import { describe, expect, it } from 'vitest';
import { WorkBuckets } from '#services/access/work-buckets.js';

const rate = { work_per_second: 100, work_burst: 1_000 };

describe('a budget of work', () => {
  it('holds its burst, and fills at its rate', () => {
    const buckets = new WorkBuckets(10);
    expect(buckets.take('a', 600, rate, 0)).toBe(0);
    expect(buckets.take('a', 600, rate, 0)).toBe(2_000);
    expect(buckets.take('a', 600, rate, 1_999)).toBeCloseTo(1);
    expect(buckets.take('a', 600, rate, 2_000)).toBe(0);
    expect(buckets.take('b', 1_000, rate, 2_000)).toBe(0);
  });

  it('passes work in the long run at its rate, whatever the prices are', () => {
    const buckets = new WorkBuckets(10);
    let passed = 0;
    const prices = [1, 700, 30, 2_500, 5];
    for (let now = 0, i = 0; now < 600_000; now += 10, i++) {
      const price = prices[i % prices.length]!;
      if (buckets.take('a', price, rate, now) === 0) passed += price;
    }
    expect(passed).toBeGreaterThan(0.98 * 60_000);
    expect(passed).toBeLessThan(1.02 * 60_000 + 1_000 + 2_500);
  });

  it('passes what costs more than all of it only when it is full, and is in debt afterwards', () => {
    const buckets = new WorkBuckets(10);
    expect(buckets.take('a', 1, rate, 0)).toBe(0);
    expect(buckets.take('a', 5_000, rate, 0)).toBeCloseTo(10);
    expect(buckets.take('a', 5_000, rate, 10)).toBe(0);
    expect(buckets.take('a', 1, rate, 10)).toBeCloseTo(40_010);
  });

  it('is corrected by what was done', () => {
    const buckets = new WorkBuckets(10);
    buckets.take('a', 1_000, rate, 0);
    buckets.settle('a', -900, rate, 0);
    expect(buckets.take('a', 900, rate, 0)).toBe(0);
    buckets.settle('a', 400, rate, 0);
    expect(buckets.take('a', 1, rate, 0)).toBeCloseTo(4_010);
    buckets.settle('a', -1e6, rate, 0);
    expect(buckets.take('a', 1_000, rate, 0)).toBe(0);
    expect(buckets.take('a', 1, rate, 0)).toBeGreaterThan(0);
  });

  it('is never in debt for more than two minutes', () => {
    const buckets = new WorkBuckets(10);
    buckets.settle('a', 1e9, rate, 0);
    expect(buckets.take('a', 1, rate, 0)).toBeCloseTo(120_010);
    const slow = { work_per_second: 0.001, work_burst: 30 };
    expect(buckets.take('b', 20, slow, 0)).toBe(0);
    expect(buckets.take('b', 20, slow, 0)).toBeCloseTo(10_000_000);
  });
});
