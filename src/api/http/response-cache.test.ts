import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOfJson } from '#api/http/endpoint.js';
import { EndpointResult, parametersKey, ResponseCache } from '#api/http/response-cache.js';
import { FakeClock } from '#test/support/fake-clock.js';

const at = (seqno: number) => ({ seqno, changes: undefined, mcSeqno: null });
const result = (text: string) => new EndpointResult(text, [], (json) => json.toUpperCase());

describe('cached results', () => {
  it('about the head hold until it changes or they are old', () => {
    const clock = new FakeClock();
    const cache = new ResponseCache(10_000, 5_000, clock);
    cache.set('a', result('one'), 7);
    expect(cache.get('a', at(7))?.json).toBe('one');
    clock.advance(5_000);
    expect(cache.get('a', at(7))?.renamed).toBe('ONE');
    clock.advance(1);
    expect(cache.get('a', at(7))).toBeUndefined();
    cache.set('a', result('two'), 7);
    expect(cache.get('a', at(8))).toBeUndefined();
    expect(cache.get('a', at(7))).toBeUndefined();
    expect([cache.hits, cache.misses, cache.size]).toEqual([2, 3, 0]);
  });

  it('that are true for ever stay as long as there is room', () => {
    const clock = new FakeClock();
    const cache = new ResponseCache(20_000, 5_000, clock);
    cache.set('a', result('one'), null);
    clock.advance(1e9);
    expect(cache.get('a', at(99))?.json).toBe('one');
    for (let i = 0; i < 100; i++) cache.set(`k${i}`, result('x'.repeat(50)), null);
    expect(cache.get('a', at(99))).toBeUndefined();
    expect(cache.bytes).toBeLessThanOrEqual(20_000);
    cache.set('large', result('x'.repeat(5_001)), null);
    expect(cache.get('large', at(1))).toBeUndefined();
  });

  it('are not kept when the head is not known or the key is long', () => {
    const cache = new ResponseCache(100_000, 5_000, new FakeClock());
    cache.set('a', result('one'), 0);
    cache.set('k'.repeat(5_000), result('one'), null);
    expect(cache.size).toBe(0);
  });
});

describe('cached results whose contents are known', () => {
  /** Versions with which keys changed. */
  const changed = new Map<string, number>();
  const clock = new FakeClock();
  const changes = {
    confirmedAt: clock.now(),
    isUnchanged: (keys: readonly string[], since: number) => keys.every((key) => (changed.get(key) ?? 0) <= since),
  };
  const now = (seqno: number) => ({ seqno, changes, mcSeqno: seqno * 10 });
  const telling = (text: string, keys: readonly string[] | null, tailKeys?: readonly string[]) => {
    const tail = tailKeys === undefined ? null : { from: 2, keys: tailKeys, source: 'of the tail' };
    return new EndpointResult(text, [], (json) => json, 70, 0, { keys, tail });
  };

  it('hold until one of their keys changes', () => {
    const cache = new ResponseCache(10_000, 5_000, clock);
    cache.set('a', telling('one', ['x', 'y']), 7);
    cache.set('b', telling('two', []), 7);
    cache.set('c', telling('three', null), 7);
    expect(cache.get('a', now(8))?.mcSeqno).toBe(80);
    expect(cache.get('b', now(8))?.json).toBe('two');
    expect(cache.get('c', now(8))).toBeUndefined();
    changed.set('y', 9);
    expect(cache.get('a', now(9))).toBeUndefined();
    expect(cache.get('b', now(9))?.json).toBe('two');
    expect(cache.size).toBe(1);
  });

  it('do not hold when their work began before the change, even if it was seen before they were stored', () => {
    const cache = new ResponseCache(10_000, 5_000, clock);
    changed.set('z', 12);
    cache.set('a', telling('old', ['z']), 11);
    expect(cache.get('a', now(12))).toBeUndefined();
    cache.set('a', telling('new', ['z']), 12);
    expect(cache.get('a', now(13))?.json).toBe('new');
  });

  it('give their rows when only accounts of their tail have changed', () => {
    const cache = new ResponseCache(10_000, 5_000, clock);
    changed.set('book', 21);
    cache.set('a', telling('[]{}', ['rows'], ['book']), 20);
    expect(cache.get('a', now(21))).toBeUndefined();
    const rows = cache.withOldTail('a', now(21))!;
    const renewed = rows.withTail('{1}', ['book', 'more'], 210);
    expect(renewed.json).toBe('[]{1}');
    cache.set('a', renewed, 21);
    expect(cache.get('a', now(22))?.json).toBe('[]{1}');
    expect(cache.withOldTail('a', now(22))).toBeUndefined();
    changed.set('more', 23);
    expect(cache.get('a', now(23))).toBeUndefined();
    changed.set('rows', 24);
    expect(cache.withOldTail('a', now(24))).toBeUndefined();
  });

  it('have headers of the head that they are compared with', () => {
    const cache = new ResponseCache(10_000, 5_000, clock);
    const kept = new EndpointResult('one', [['X-Head', '40']], (json) => json, 40, 0, { keys: [], tail: null });
    cache.set('a', kept, 40);
    const keptHeaders = () => [['X-Head', '41']] as const;
    expect(cache.get('a', { ...now(41), keptHeaders })?.headers).toEqual([['X-Head', '41']]);
  });

  it('give their rows also as bytes', () => {
    const tail = { from: 3, keys: [], source: null };
    const bytes = new TextEncoder().encode('Яx{}');
    const result = new EndpointResult(bytes, [], (json) => json, 1, 0, { keys: [], tail });
    expect(Buffer.from(result.withTail('{Я}', [], 2).json as Uint8Array).toString()).toBe('Яx{Я}');
    expect(result.withTail('{}', [], 2).json).toBe(bytes);
  });

  it('do not hold while changes are not known', () => {
    const cache = new ResponseCache(10_000, 5_000, clock);
    cache.set('a', telling('one', []), 30);
    clock.advance(5_001);
    expect(cache.get('a', now(31))).toBeUndefined();
    expect(cache.size).toBe(0);
  });
});

describe('cached results for which there is no room', () => {
  const changes = { confirmedAt: 0, isUnchanged: () => true };
  const head = (seqno: number) => ({ seqno, changes, mcSeqno: seqno });
  const textOf = (number: number): string => `${number} `.repeat(2_000);
  const ofBytes = (number: number, keys: readonly string[] | null) =>
    new EndpointResult(Buffer.from(textOf(number)), [], (json) => json, 1, 0, { keys, tail: null });
  /** Since nobody else reads it, all that is under way is done when the number stands. */
  const settled = async (cache: ResponseCache) => {
    for (let before = -1; before !== cache.compressedBytes; await delay(20)) before = cache.compressedBytes;
  };

  it('are compressed if they may hold for longer than until the next block, and expanded when they are asked for', async () => {
    const cache = new ResponseCache(80_000, 5_000, new FakeClock());
    for (let i = 0; i < 12; i++) {
      cache.set(`forever ${i}`, ofBytes(i, null), null);
      cache.set(`known ${i}`, ofBytes(i, ['x']), 7);
      cache.set(`head ${i}`, ofBytes(i, null), 7);
      await settled(cache);
    }
    expect(cache.compressedBytes).toBeGreaterThan(0);
    const held = (kind: string) =>
      Array.from({ length: 12 }, (_, i) => i).filter((i) => {
        const json = cache.get(`${kind} ${i}`, head(7))?.json;
        if (json !== undefined) expect(textOfJson(json) === textOf(i)).toBe(true);
        expect(cache.bytes).toBeLessThanOrEqual(80_000);
        return json !== undefined;
      });
    expect(held('forever')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(held('known').length).toBeGreaterThan(8);
    expect(held('head').length).toBeLessThan(4);
  });

  it('stay within the bound, and tell the newest text, in any order of uses', async () => {
    const cache = new ResponseCache(60_000, 5_000, new FakeClock());
    const newest = new Map<string, number>();
    for (let i = 0; i < 400; i++) {
      const key = `k${(i * i * 7 + i) % 23}`;
      if (i % 3 === 0) {
        newest.set(key, i);
        cache.set(key, ofBytes(i, ['x']), 7);
      } else {
        const result = cache.get(key, head(7));
        if (i % 5 === 0) await result?.compressed();
        if (result !== undefined) expect(textOfJson(result.json) === textOf(newest.get(key)!)).toBe(true);
      }
      if (i % 7 === 0) await settled(cache);
      expect(cache.bytes).toBeLessThanOrEqual(60_000);
    }
    expect(cache.compressedBytes).toBeGreaterThan(0);
  });

  it('are compressed once for all clients that accept that; not as text, and not when very long', async () => {
    const result = ofBytes(1, null);
    const [first, second] = [result.compressed(), result.compressed()];
    expect(first).toBe(second);
    const bytes = (await first)!;
    expect(gunzipSync(bytes).toString()).toBe(textOf(1));
    expect(result.compressed() === bytes).toBe(true);
    expect(result.textBytes).toBe(bytes.length + textOf(1).length);
    const long = new EndpointResult(Buffer.alloc(600_000), [], (json) => json);
    expect([new EndpointResult('text', [], (json) => json).compressed(), long.compressed()]).toEqual([null, null]);
  });
});

describe('keys of parameters', () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.jsonValue({ maxDepth: 2 }));
  const parameters = fc.dictionary(fc.string({ maxLength: 5 }), value, { maxKeys: 4, noNullPrototype: true });

  it('are equal just for equal parameters', () => {
    const sorted = (raw: object) => JSON.stringify(Object.entries(raw).sort(([a], [b]) => (a < b ? -1 : 1)));
    fc.assert(
      fc.property(parameters, parameters, (a, b) => {
        expect(parametersKey(a, 'body') === parametersKey(b, 'body')).toBe(sorted(a) === sorted(b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('do not depend on the order, but on the source and on the types', () => {
    expect(parametersKey({ a: '1', b: '2' }, 'query')).toBe(parametersKey({ b: '2', a: '1' }, 'query'));
    expect(parametersKey({ a: '1' }, 'query')).not.toBe(parametersKey({ a: '1' }, 'body'));
    expect(parametersKey({ a: '1' }, 'body')).not.toBe(parametersKey({ a: 1 }, 'body'));
    expect(parametersKey({ a: '1;1,b=1,2' }, 'query')).not.toBe(parametersKey({ a: '1', b: '2' }, 'query'));
  });
});
