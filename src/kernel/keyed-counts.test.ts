import { describe, expect, it } from 'vitest';
import { KeyedCounts } from '#kernel/keyed-counts.js';

describe('counts by key', () => {
  it('counts what has begun and not ended of each key', () => {
    const counts = new KeyedCounts();
    for (const key of ['a', 'b', 'a']) counts.begin(key);
    counts.end('a');
    counts.end('b');
    expect(['a', 'b', 'c'].map((key) => counts.of(key))).toEqual([1, 0, 0]);
  });

  it('knows a bounded number of keys of which nothing is under way, and forgets no other', () => {
    const counts = new KeyedCounts();
    const open = Array.from({ length: 3_000 }, (_, n) => `open ${n}`);
    for (const key of open) counts.begin(key);
    for (let n = 0; n < 50_000; n++) {
      counts.begin(`short ${n}`);
      counts.end(`short ${n}`);
    }
    expect(counts.known).toBeLessThanOrEqual(2 * (open.length + 1));
    expect(open.every((key) => counts.of(key) === 1)).toBe(true);
  });
});
