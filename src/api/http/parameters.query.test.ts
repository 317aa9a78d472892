import { describe, expect, it } from 'vitest';
import { parseQuery } from '#api/http/parameters.js';
import { errorCode } from '#test/support/error-code.js';

const read = (text: string) => ({ ...parseQuery(text) });

describe('a query', () => {
  it('is read into names and texts, a repeated name into a list', () => {
    expect(read('a=1&b=&c&a=2&a=3')).toEqual({ a: ['1', '2', '3'], b: '', c: '' });
    expect(read('')).toEqual({});
    expect(read('&&a=b=c&')).toEqual({ a: 'b=c' });
    expect(read('=x')).toEqual({ '': 'x' });
  });

  it('is percent-decoded as UTF-8, plus is a space', () => {
    expect(read('a=%D1%82+%2B&%61%62=c')).toEqual({ a: 'т +', ab: 'c' });
  });

  it('keeps names of Object.prototype as names', () => {
    const parsed = parseQuery('__proto__=1&constructor=2&toString=3');
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(parsed)).toBeNull();
  });

  it('is refused when its encoding is wrong or it has too many parts', () => {
    for (const text of ['a=%', 'a=%4', 'a=%zz', 'a=%FF', 'a=%C3%28', '%E0%80%80=1', 'a=é', 'a=\u0001']) {
      expect(
        errorCode(() => parseQuery(text)),
        text,
      ).toBe('http/bad-query');
    }
    expect(errorCode(() => parseQuery('a=1&'.repeat(1_001)))).toBe('http/bad-query');
  });
});
