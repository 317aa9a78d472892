import { describe, expect, it } from 'vitest';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

describe('a bounded store', () => {
  it('lets go of what was not used for longest', () => {
    const store = new LruByBytes<number>(1_000);
    for (let i = 0; i < 4; i++) store.set(`${i}`, i, 203);
    expect([store.size, store.evicted]).toEqual([3, 1]);
    expect(store.get('0')).toBeUndefined();
    expect(store.get('1')).toBe(1);
    store.set('4', 4, 203);
    expect([1, 2, 3, 4].map((i) => store.get(`${i}`))).toEqual([1, undefined, 3, 4]);
  });

  it('keeps what is used again and again, also among many', () => {
    const store = new LruByBytes<number>(100 * 200);
    const often = Array.from({ length: 10 }, (_, i) => `often ${i}`);
    for (const key of often) store.set(key, 0, 100);
    for (let i = 0; i < 2_000; i++) {
      store.set(`once ${i}`, i, 100);
      expect(store.get(often[i % often.length]!)).toBe(0);
    }
    expect(store.size).toBeLessThanOrEqual(100);
    expect(store.evicted).toBeGreaterThan(1_900);
  });

  it('never takes more than allowed, whatever comes', () => {
    const store = new LruByBytes<number>(5_000);
    for (let i = 0; i < 500; i++) {
      store.set(`${(i * 7) % 50}`, i, (i * 131) % 1_500);
      expect(store.bytes).toBeLessThanOrEqual(5_000);
    }
    expect(store.size).toBeGreaterThan(2);
  });

  it('does not keep what is too large, nor a size that is none; and replaces', () => {
    const store = new LruByBytes<string>(1_000);
    store.set('a', 'small', 10);
    store.set('b', 'large', 5_000);
    store.set('c', 'odd', Number.NaN);
    expect([store.get('a'), store.get('b'), store.get('c')]).toEqual(['small', undefined, undefined]);
    store.set('a', 'other', 20);
    expect([store.get('a'), store.size]).toEqual(['other', 1]);
    store.delete('a');
    expect([store.bytes, store.size]).toEqual([0, 0]);
    store.set('a', 'again', 20);
    store.clear();
    expect([store.bytes, store.get('a')]).toEqual([0, undefined]);
  });
});
