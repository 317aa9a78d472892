import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EndpointResult, parametersKey, ResponseCache } from '#api/http/endpoint-calls.js';
import { FakeClock } from '#test/support/fake-clock.js';

const result = (text: string) => new EndpointResult(text, [], (json) => json.toUpperCase());

describe('kept results', () => {
  it('about the head hold until it changes or they are old', () => {
    const clock = new FakeClock();
    const cache = new ResponseCache(10_000, 5_000, clock);
    cache.set('a', result('one'), 7);
    expect(cache.get('a', 7)?.json).toBe('one');
    clock.advance(5_000);
    expect(cache.get('a', 7)?.renamed).toBe('ONE');
    clock.advance(1);
    expect(cache.get('a', 7)).toBeUndefined();
    cache.set('a', result('two'), 7);
    expect(cache.get('a', 8)).toBeUndefined();
    expect(cache.get('a', 7)).toBeUndefined();
    expect([cache.hits, cache.misses, cache.size]).toEqual([2, 3, 0]);
  });

  it('that are true for ever stay as long as there is room', () => {
    const clock = new FakeClock();
    const cache = new ResponseCache(1_000, 5_000, clock);
    cache.set('a', result('one'), null);
    clock.advance(1e9);
    expect(cache.get('a', 99)?.json).toBe('one');
    for (let i = 0; i < 100; i++) cache.set(`k${i}`, result('x'.repeat(50)), null);
    expect(cache.get('a', 99)).toBeUndefined();
    expect(cache.bytes).toBeLessThanOrEqual(1_000);
    cache.set('large', result('x'.repeat(501)), null);
    expect(cache.get('large', 1)).toBeUndefined();
  });

  it('are not kept when the head is not known or the key is long', () => {
    const cache = new ResponseCache(100_000, 5_000, new FakeClock());
    cache.set('a', result('one'), 0);
    cache.set('k'.repeat(5_000), result('one'), null);
    expect(cache.size).toBe(0);
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
