import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

/** What a request may end with when its input is bad. */
const PROPER = new Set([200, 404, 405, 413, 414, 422, 431]);

/** Sends it; the answer must be JSON with a proper status, soon. */
async function exercise(method: string, path: string, body?: string | Uint8Array): Promise<number> {
  const init = {
    method,
    ...(body === undefined ? {} : { body: body }),
    signal: AbortSignal.timeout(10_000),
  };
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  const label = `${method} ${path.slice(0, 200)} ${String(body).slice(0, 200)}: ${response.status} ${text.slice(0, 300)}`;
  expect(PROPER.has(response.status), label).toBe(true);
  if (text !== '') {
    const answer = JSON.parse(text) as { ok: boolean; code?: number; error?: unknown };
    expect(answer.ok, label).toBe(response.status === 200);
    if (!answer.ok) expect([answer.code, typeof answer.error], label).toEqual([response.status, 'string']);
  }
  return response.status;
}

const FIELDS = [
  'even',
  'seqno',
  'lt',
  'flag',
  'ratio',
  'kind',
  'method',
  'maybe',
  'list',
  'texts',
  'limit',
  'tree',
  'anything',
];

const NASTY = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '+',
  '-',
  '1e400',
  '-1e400',
  '1e5',
  '0x10',
  '1_000',
  '１２',
  '9'.repeat(400),
  `-${'9'.repeat(4_000)}`,
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  'TRUE',
  '[]',
  '{}',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE keys; --",
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  '{{7*7}}',
  '%00',
  '\u0000',
  '\u0001\u001f\u007f',
  '\r\nX-Injected: 1',
  '\u2028\u2029',
  '\ufeff',
  '\u202e',
  '\ud83d\ude00',
  'é'.normalize('NFD'),
  'x'.repeat(2_000),
  '"'.repeat(500),
  '\\'.repeat(501),
  '"@type":"chain.head"',
  ','.repeat(300),
  '(a+)+$'.repeat(50),
];

describe('bad input gets a proper answer', () => {
  it('in every field, as a query and in a body', async () => {
    for (const field of FIELDS) {
      const base = field === 'even' ? '' : 'even=ab&';
      for (const nasty of NASTY) {
        await exercise('GET', `/api/v2/getEverything?${base}${field}=${encodeURIComponent(nasty)}`);
        const body = { ...(field === 'even' ? {} : { even: 'ab' }), [field]: nasty };
        await exercise('POST', '/api/v2/getEverything', JSON.stringify(body));
      }
    }
  });

  it('in names', async () => {
    for (const nasty of NASTY) {
      if (nasty === '') continue;
      const name = encodeURIComponent(nasty);
      expect(await exercise('GET', `/api/v2/getHead?${name}=1`), nasty).toBe(422);
      expect(await exercise('POST', '/api/v2/getHead', `{${JSON.stringify(nasty)}:1}`), nasty).toBe(422);
      const rpc = JSON.stringify({ id: nasty, method: nasty, params: {} });
      expect(await exercise('POST', '/api/v2/jsonRPC', rpc), nasty).toBe(422);
      await exercise('GET', `/api/v2/${name}`);
    }
  });

  it('as any JSON value, anywhere', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FIELDS, '@extra', 'id'), value, async (field, any) => {
        await exercise('POST', '/api/v2/getEverything', JSON.stringify({ even: 'ab', [field]: any }));
        await exercise(
          'POST',
          '/api/v2/jsonRPC',
          JSON.stringify({ method: 'getEverything', params: { even: '', [field]: any } }),
        );
      }),
      { numRuns: 300, seed: 1 },
    );
    await fc.assert(
      fc.asyncProperty(value, async (any) => {
        for (const path of ['/api/v2/getEverything', '/api/v2/jsonRPC', '/toncenter/api/v2/send']) {
          await exercise('POST', path, JSON.stringify(any));
        }
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  it('as bytes that are no JSON', async () => {
    const whole = Buffer.from('{"even":"ab","tree":{"value":1,"children":[{"value":2}]},"lt":12345678901234567890}');
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), async (at, byte, isCut) => {
        const damaged = Buffer.from(isCut ? whole.subarray(0, at) : whole);
        if (!isCut) damaged[at] = byte;
        await exercise('POST', '/api/v2/getEverything', damaged);
        await exercise('POST', '/api/v2/jsonRPC', damaged);
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  it('as a query that is damaged', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'even',
        'seqno',
        'list',
        '=',
        '&',
        '%',
        '%2',
        '%FF',
        '%00',
        '+',
        ';',
        '#',
        '?',
        '@extra',
        'api_key',
        '[0]',
        '.',
      ),
      fc.string({ maxLength: 4 }).map((text) => text.replace(/[^!-~]/g, '~')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        await exercise('GET', `/api/v2/getEverything?${pieces.join('')}`);
      }),
      { numRuns: 400, seed: 4 },
    );
  });

  it('nested a million levels deep, and wide', async () => {
    for (const begin of ['[', '{"a":', '{"even":"","anything":[', '[{"method":[']) {
      const deep = begin.repeat(Math.floor(1_048_000 / begin.length));
      expect(await exercise('POST', '/api/v2/getEverything', deep), begin).toBe(422);
      expect(await exercise('POST', '/api/v2/jsonRPC', deep), begin).toBe(422);
    }
    const wide = `{"even":"","anything":[${'1,'.repeat(500_000)}1]}`;
    expect(await exercise('POST', '/api/v2/getEverything', wide)).toBe(413);
    const names = `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join()}}`;
    expect(await exercise('POST', '/api/v2/getEverything', names)).toBe(413);
    const digits = `{"even":"","anything":[${'12345678901234567890,'.repeat(40_000)}1]}`;
    expect(await exercise('POST', '/api/v2/getEverything', digits)).toBe(413);
  });

  it('by every verb', async () => {
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
      for (const path of ['/api/v2/getHead', '/api/v2/jsonRPC', '/api/v2', '/nowhere', '/metrics']) {
        const response = await fetch(server.url + path, { method, ...(method === 'PUT' ? { body: '{' } : {}) });
        await response.arrayBuffer();
        expect([200, 204, 404, 405], `${method} ${path}`).toContain(response.status);
      }
    }
  });
});
