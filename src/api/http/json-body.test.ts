import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonLimits, parseJsonBody } from '#api/http/json-body.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { errorCode, errorOf } from '#test/support/error-code.js';

const limits = { maxNesting: 16, maxJsonNames: 5_000, maxJsonValues: 10_000 };
const read = (text: string, more: Partial<JsonLimits> = {}) => parseJsonBody(Buffer.from(text), { ...limits, ...more });

describe('a body', () => {
  it('is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        if (!/\d{16}/.test(text)) expect(read(text, { maxNesting: 100 }).value).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('has no name twice in one object', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1, "b":2,\n"a" :3}',
      '{"a":{"b":1,"c":[],"b":2}}',
      '[{"x":1},{"a":1,"\\u0061":2}]',
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":2}',
      '{"a":{"a":1},"a":2}',
      '{"a":[{"a":1}],"a":2}',
    ]) {
      expect(errorOf(() => read(text)).message, text).toMatch(/ it has ".*" twice/);
    }
    for (const text of ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}', '["a","a"]', '{"a":"a","b":"a","A":"\\"a\\":"}']) {
      expect(read(text).value, text).toEqual(JSON.parse(text));
    }
    expect(errorCode(() => read('{"\\x":1}'))).toBe('http/bad-json');
  });

  it('keeps integers that a number cannot hold, as texts, and nothing else', () => {
    const text =
      '{"a":12345678901234567890,"b":[-9223372036854775809,1],"c":"12345678901234567890","d":1234567890123456}';
    expect(read(text)).toEqual({
      value: {
        a: '12345678901234567890',
        b: ['-9223372036854775809', 1],
        c: '12345678901234567890',
        d: 1234567890123456,
      },
      hasLongId: false,
    });
    expect(read('9007199254740993').value).toBe('9007199254740993');
    expect(read('9007199254740991').value).toBe(9007199254740991);
    expect(read('1.2345678901234567890').value).toBe(1.2345678901234567);
    expect(read('["\\"12345678901234567890",12345678901234567890]').value).toEqual([
      '"12345678901234567890',
      '12345678901234567890',
    ]);
    for (const text of ['00000000000000000001', '--12345678901234567890', '12345678901234567890x']) {
      expect(
        errorCode(() => read(text)),
        text,
      ).toBe('http/bad-json');
    }
  });

  it('has its depth counted before it is built, brackets in texts aside', () => {
    expect(read(`${'['.repeat(16)}${']'.repeat(16)}`).value).toBeDefined();
    expect(errorCode(() => read(`${'['.repeat(17)}${']'.repeat(17)}`))).toBe('http/bad-json');
    expect(read(`["${'[{'.repeat(100)}\\"[[[", "\\\\"]`).value).toHaveLength(2);
    const deep = Buffer.alloc(1024 * 1024, '[');
    expect(errorOf(() => parseJsonBody(deep, { ...limits, maxNesting: 256 })).message).toContain('256 levels');
    expect(errorOf(() => read('{"a":'.repeat(200_000), { maxNesting: 256 })).message).toContain('256 levels');
  });

  it('is refused when it is no JSON or no UTF-8, with a short text', () => {
    for (const text of [
      '{',
      '{"a"',
      '"',
      '"\\"',
      'nul',
      '{"a":1,}',
      "{'a':1}",
      '',
      '[1 2]',
      '\u0000',
      'NaN',
      '\ufeff\ufeff{}',
    ]) {
      expect(
        errorCode(() => read(text)),
        JSON.stringify(text),
      ).toBe('http/bad-json');
    }
    for (const bytes of [[0xff], [0x22, 0xc3, 0x28, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]]) {
      expect(
        errorCode(() => parseJsonBody(Buffer.from(bytes), limits)),
        String(bytes),
      ).toBe('http/bad-json');
    }
    expect(errorOf(() => read(`[${'x'.repeat(100_000)}]`)).message.length).toBeLessThan(300);
  });

  it('has its names and values counted before it is built', () => {
    const names = (count: number) => `{${Array.from({ length: count }, (_, i) => `"n${i}":0`).join()}}`;
    expect(Object.keys(read(names(5_000)).value as object)).toHaveLength(5_000);
    expect(errorOf(() => read(names(60_000))).message).toBe('the body has more than 5000 names in its objects');
    // Spread over objects they cost the same.
    expect(errorCode(() => read(`[${'{"a":1},'.repeat(5_000)}{"a":1}]`))).toBe('http/body-too-complex');
    const items = (count: number, item: string) => `[${new Array(count).fill(item).join()}]`;
    for (const item of ['12345678901234567', '0', '""', '[]']) {
      const message = 'the body has more than 10000 values';
      expect(errorOf(() => read(items(60_000, item))).message, item).toBe(message);
    }
    expect(read(items(9_998, '12345678901234567')).value).toHaveLength(9_998);
    expect(read(`"${',[{'.repeat(50_000)}"`).value).toHaveLength(150_000);
  });

  it('says whether its id is an integer that a number cannot hold', () => {
    for (const [text, is] of [
      ['{"id":12345678901234567890}', true],
      ['{"\\u0069d" : -9007199254740992}', true],
      ['{"id":1,"a":12345678901234567890}', false],
      ['{"id":[12345678901234567890]}', false],
      ['{"id":"12345678901234567890"}', false],
    ] as const) {
      expect(read(text).hasLongId, text).toBe(is);
    }
  });

  it('may begin with a byte order mark', () => {
    expect(read('\ufeff{"a":1}').value).toEqual({ a: 1 });
    expect(read('\ufeff{"a":12345678901234567890}').value).toEqual({ a: '12345678901234567890' });
  });

  it('of many quotes and backslashes is read in time that grows with its size', () => {
    const text = `"${'\\\\'.repeat(250_000)}${'\\"'.repeat(250_000)}"`;
    const startedAt = cpuMs();
    expect(read(text).value).toHaveLength(500_000);
    expect(cpuMs() - startedAt).toBeLessThan(2_000);
  });
});
