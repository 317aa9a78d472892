import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { compileParameters, type ParameterSource } from '#api/http/parameters.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { fakeEndpoints } from '#test/support/fake-http-api.js';

const [everything, head] = fakeEndpoints;
const reader = compileParameters(everything as AnyEndpoint<never>);
const read = (raw: object, source: ParameterSource = 'query') =>
  reader.read({ ...raw }, source) as unknown as Record<string, unknown>;
const refusal = (raw: object, source: ParameterSource = 'query') => errorOf(() => read({ even: '', ...raw }, source));

describe('parameters of a query', () => {
  it('are turned into what the schema says', () => {
    expect(
      read({
        even: 'abcd',
        seqno: '+7',
        lt: '-3',
        flag: 'No',
        ratio: '1.5e1',
        kind: 'b',
        list: ['1', '2'],
        method: '5',
      }),
    ).toEqual({
      even: 4,
      seqno: 7,
      lt: -3n,
      flag: false,
      ratio: 15,
      kind: 'b',
      list: [1, 2],
      method: '5',
      limit: 10,
    });
    expect(read({ even: '', list: '3', texts: 'ab', maybe: '5' })).toMatchObject({ list: [3], texts: [2], maybe: 5 });
    for (const text of ['y', 'YES', 't', 'true', 'On', '1'])
      expect(read({ even: '', flag: text, seqno: '1' }).flag, text).toBe(true);
    for (const text of ['n', 'no', 'F', 'false', 'off', '0'])
      expect(read({ even: '', flag: text }).flag, text).toBe(false);
  });

  it('are refused by name', () => {
    const cases: [object, RegExp][] = [
      [{ seqno: '' }, /^parameter seqno: "" is not a whole number/],
      [{ seqno: '1.0' }, /^parameter seqno: /],
      [{ seqno: '0x10' }, /^parameter seqno: /],
      [{ seqno: ' 1' }, /^parameter seqno: /],
      [{ seqno: '2147483648' }, /^parameter seqno: .*2147483647/],
      [{ seqno: '9'.repeat(50) }, /^parameter seqno: /],
      [{ seqno: ['1', '2'] }, /^parameter seqno: it is given 2 times/],
      [{ flag: 'maybe' }, /^parameter flag: "maybe" is neither/],
      [{ flag: ['1', '1'] }, /^parameter flag: it is given 2 times/],
      [{ ratio: 'Infinity' }, /^parameter ratio: /],
      [{ kind: 'c' }, /^parameter kind: /],
      [{ list: ['1', 'x'] }, /^parameter list: "x" is not/],
      [{ list: ['1', '2', '3', '4'] }, /^parameter list: /],
      [{ texts: ['ab', 'a'] }, /^parameter texts: at 1: "a" is odd/],
      [{ lt: 'abc' }, /^parameter lt: "abc" cannot be decoded/],
      [{ even: 'a' }, /^parameter even: "a" is odd/],
      [{ tree: 'x' }, /^parameter tree: /],
      [{ flag: 'y' }, /^parameter seqno: flag needs it/],
    ];
    for (const [raw, message] of cases) {
      const error = refusal(raw);
      expect(error.code, JSON.stringify(raw)).toBe('http/bad-parameter');
      expect(error.message, JSON.stringify(raw)).toMatch(message);
    }
    expect(errorOf(() => read({})).message).toBe('parameter even: it is required');
    expect(errorOf(() => read({})).code).toBe('http/missing-parameter');
  });
});

describe('parameters of a body', () => {
  it('have their JSON types; numbers may be texts, 64-bit ones numbers', () => {
    expect(
      read(
        { even: 'ab', seqno: '7', lt: 12, flag: true, list: [1, '2'], method: 5, tree: { value: 1 }, limit: null },
        'body',
      ),
    ).toEqual({ even: 2, seqno: 7, lt: 12n, flag: true, list: [1, 2], method: 5, tree: { value: 1 }, limit: 10 });
    expect(read({ even: '', lt: 2 ** 63 }, 'body').lt).toBe(2n ** 63n);
    expect(read({ even: '', maybe: null, anything: { a: [1] } }, 'body')).toEqual({
      even: 0,
      limit: 10,
      anything: { a: [1] },
    });
  });

  it('are refused by name', () => {
    for (const raw of [
      { seqno: 1.5 },
      { seqno: true },
      { seqno: {} },
      { seqno: [1] },
      { lt: 1.5 },
      { lt: 1e300 },
      { lt: [] },
      { flag: 'true' },
      { flag: 1 },
      { list: 5 },
      { list: '5' },
      { method: [] },
      { tree: { value: 1, more: 2 } },
      { tree: { value: 1, children: [{ value: 'x' }] } },
    ]) {
      const error = refusal(raw, 'body');
      expect(error.code, JSON.stringify(raw)).toBe('http/bad-parameter');
      expect(error.message, JSON.stringify(raw)).toContain(`parameter ${Object.keys(raw)[0]}: `);
    }
    expect(errorOf(() => read({ even: null }, 'body')).message).toBe('parameter even: it is required');
    expect(errorOf(() => read({ even: 5 }, 'body')).message).toMatch(/^parameter even: /);
  });
});

it('unknown parameters are refused by name, also those of Object.prototype', () => {
  for (const name of ['Even', 'constructor', '__proto__', 'toString', '', 'x'.repeat(1_000)]) {
    const raw = JSON.parse(`{"even":"",${JSON.stringify(name)}:"1"}`) as object;
    expect(
      errorCode(() => reader.read(raw as never, 'body')),
      name,
    ).toBe('http/unknown-parameter');
  }
  const error = errorOf(() => compileParameters(head as AnyEndpoint<never>).read({ seqno: '1' }, 'query'));
  expect(error.message).toBe('unknown parameter seqno; this method has no parameters');
});

it('an endpoint whose parameters are not closed is not served', () => {
  const open = { ...head, params: Type.Object({}) } as unknown as AnyEndpoint<never>;
  expect(errorCode(() => compileParameters(open))).toBe('http/bad-endpoint');
});
