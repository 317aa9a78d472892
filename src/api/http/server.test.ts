import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { FakeWorld, fakeApi, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer & { readonly world: FakeWorld };
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

const ask = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};

describe('a method', () => {
  it('answers GET and POST, by its name and its aliases', async () => {
    const expected = { '@type': 'chain.everything', params: { even: 2, limit: 10 } };
    for (const name of ['getEverything', 'everything']) {
      expect((await ask('GET', `/api/v2/${name}?even=ab`)).body.result, name).toEqual(expected);
      expect((await ask('POST', `/api/v2/${name}`, '{"even":"ab"}')).body.result, name).toEqual(expected);
    }
  });

  it('has its envelope, headers and a stamp', async () => {
    const { status, headers, body } = await ask('GET', '/api/v2/getEverything?even=');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['ok', 'result', '@extra']);
    expect(body['@extra']).toMatch(/^1763690000:testing:\d+(\.\d+)?$/);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-api-version')).toBe('v2.2.0');
    expect(headers.get('x-request-id')).toMatch(/^[\w-]+-\w+$/);
  });

  it('gives back @extra and the request id', async () => {
    const id = { 'x-request-id': 'abc.1:2-3_4' };
    const got = await ask('GET', '/api/v2/getEverything?even=&%40extra=%22q', undefined, id);
    expect([got.body['@extra'], got.headers.get('x-request-id')]).toEqual(['"q', 'abc.1:2-3_4']);
    expect((await ask('POST', '/api/v2/getEverything', '{"even":"","@extra":"тест"}')).body['@extra']).toBe('тест');
    expect((await ask('POST', '/api/v2/getEverything', '{"even":"a","@extra":"e"}')).body).toEqual({
      ok: false,
      error: 'parameter even: "a" is odd',
      code: 422,
      '@extra': 'e',
    });
    for (const body of ['{"even":"","@extra":5}', `{"even":"","@extra":"${'x'.repeat(5_000)}"}`]) {
      expect((await ask('POST', '/api/v2/getEverything', body)).body.error, body.slice(0, 30)).toContain('@extra');
    }
    expect((await ask('GET', '/api/v2/getHead?%40extra=a&%40extra=b')).status).toBe(422);
    const odd = await ask('GET', '/api/v2/getHead', undefined, { 'x-request-id': 'a b' });
    expect(odd.headers.get('x-request-id')).not.toBe('a b');
  });

  it('ignores the content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'garbage', 'a/b/c; =', '']) {
      const { status } = await ask('POST', '/api/v2/getEverything', '{"even":""}', { 'content-type': type });
      expect(status, type).toBe(200);
    }
  });

  it('takes an empty body where nothing is required', async () => {
    expect((await ask('POST', '/api/v2/getHead', '')).status).toBe(200);
    expect((await ask('POST', '/api/v2/getHead')).status).toBe(200);
    expect((await ask('POST', '/api/v2/getEverything', '')).body.error).toContain('it is empty');
    for (const body of ['[]', '"a"', 'null', '5']) {
      expect((await ask('POST', '/api/v2/getHead', body)).status, body).toBe(422);
    }
  });

  it('takes parameters of POST from the body alone', async () => {
    const { status, body } = await ask('POST', '/api/v2/getEverything?even=ab', '{"even":""}');
    expect([status, body.error]).toEqual([422, 'unknown parameter even; this method has parameters in the body only']);
    expect((await ask('POST', '/api/v2/getEverything?api_key=k&%40extra=e', '{"even":""}')).body['@extra']).toBe('e');
  });
});

describe('the wrong verb or path', () => {
  it('tells clients that post to the base URL the path of JSON-RPC', async () => {
    for (const path of ['/api/v2', '/api/v2/']) {
      const { status, body } = await ask('POST', path, '{"id":1,"jsonrpc":"2.0","method":"getHead","params":{}}');
      expect([status, body.error], path).toEqual([404, expect.stringContaining('/api/v2/jsonRPC')]);
    }
  });

  it('is 405 with Allow, or 404, in JSON', async () => {
    const cases: [string, string, number, string | null][] = [
      ['GET', '/api/v2/send?boc=ab', 405, 'POST'],
      ['POST', '/api/v2/getLarge', 405, 'GET'],
      ['PUT', '/api/v2/getHead', 405, 'GET, POST'],
      ['DELETE', '/toncenter/api/v2/getHead', 405, 'GET, POST'],
      ['GET', '/api/v2/jsonRPC', 405, 'POST'],
      ['POST', '/healthz', 405, 'GET, HEAD'],
      ['PUT', '/api/v2/openapi.json', 405, 'GET, HEAD'],
      ['GET', '/api/v2/gethead', 404, null],
      ['POST', '/api/v2/jsonrpc', 404, null],
      ['GET', '/api/v2/constructor', 404, null],
      ['GET', '/api/v2/__proto__', 404, null],
      ['GET', '/api/v2/getHead/', 404, null],
      ['GET', '/API/v2/getHead', 404, null],
      ['GET', '/', 404, null],
      ['PUT', '/nowhere', 404, null],
      ['GET', `/api/v2/${'x'.repeat(500)}`, 404, null],
      ['GET', '/api/v2/%zz', 404, null],
      ['GET', '/api/v2/%FF', 404, null],
    ];
    for (const [method, path, status, allow] of cases) {
      const got = await ask(method, path, method === 'PUT' ? '{' : undefined);
      expect([got.status, got.headers.get('allow')], `${method} ${path}`).toEqual([status, allow]);
      expect(got.body, `${method} ${path}`).toMatchObject({ ok: false, code: status });
      expect(got.headers.get('x-api-version'), `${method} ${path}`).toBe('v2.2.0');
    }
    const head = await ask('HEAD', '/api/v2/getHead');
    expect([head.status, head.headers.get('allow'), head.body]).toEqual([405, 'GET, POST', null]);
  });
});

describe('JSON-RPC', () => {
  const call = (body: object | string) =>
    ask('POST', '/api/v2/jsonRPC', typeof body === 'string' ? body : JSON.stringify(body));

  it('calls the same methods with the same checks', async () => {
    const { body } = await call({ jsonrpc: '2.0', id: 7, method: 'everything', params: { even: 'ab', '@extra': 'x' } });
    expect(body).toEqual({
      ok: true,
      result: { '@type': 'chain.everything', params: { even: 2, limit: 10 } },
      '@extra': 'x',
      jsonrpc: '2.0',
      id: 7,
    });
    expect((await call({ method: 'getLarge' })).status).toBe(200);
    expect(await call({ id: 'a', method: 'getEverything', params: { even: 'a' } })).toMatchObject({
      status: 422,
      body: { ok: false, error: 'parameter even: "a" is odd', code: 422, jsonrpc: '2.0', id: 'a' },
    });
    expect((await call({ id: 1, method: 'getEverything', params: { even: '', no: 1 } })).body.error).toMatch(
      /^unknown parameter no/,
    );
  });

  it('refuses in its own envelope', async () => {
    expect(await call({ id: 1.5, method: 'nothing' })).toMatchObject({
      status: 422,
      body: { error: 'Unknown method', id: 1.5 },
    });
    expect((await call({ id: null, method: 'gethead' })).body).toMatchObject({ error: 'Unknown method', id: null });
    expect((await call([{ id: 1, method: 'getHead' }])).status).toBe(422);
    expect((await call({ id: 1, method: 'jsonRPC' })).body.error).toBe('Unknown method');
    for (const body of ['', '{', '5']) {
      const got = await call(body);
      expect([got.status, got.body.jsonrpc, 'id' in got.body], body).toEqual([422, '2.0', false]);
    }
  });
});

describe('profiles', () => {
  it('name the types and statuses', async () => {
    const typeOf = async (path: string, headers = {}) =>
      (await ask('GET', path, undefined, headers)).body.result['@type'];
    expect(await typeOf('/api/v2/getHead')).toBe('chain.head');
    expect(await typeOf('/toncenter/api/v2/getHead', { 'x-tern-profile': 'spec' })).toBe('ton.head');
    expect(await typeOf('/api/v2/getHead', { 'x-tern-profile': 'toncenter' })).toBe('ton.head');
    expect(await typeOf('/api/v2/getHead', { 'x-ton-client-version': '16.3.0' })).toBe('ton.head');
    expect((await ask('GET', '/api/v2/getHead', undefined, { 'x-tern-profile': 'x' })).status).toBe(422);
    expect((await ask('GET', '/api/v2/fail?how=missing')).status).toBe(404);
    expect((await ask('GET', '/toncenter/api/v2/fail?how=missing')).body).toMatchObject({
      code: 500,
      error: 'there is none',
    });
  });
});

describe('errors of methods', () => {
  it('have the status of their class, or the one declared for them', async () => {
    const statuses = { missing: 404, broken: 500, special: 409, busy: 503, lost: 500, bug: 500 };
    for (const [how, status] of Object.entries(statuses)) {
      const got = await ask('GET', `/api/v2/fail?how=${how}`);
      expect([got.status, got.body.code, got.body.ok], how).toEqual([status, status, false]);
      expect(got.headers.get('retry-after'), how).toBe(how === 'busy' ? '1' : null);
      if (how === 'lost' || how === 'bug') {
        expect(got.body.error, how).toBe(`internal error; request ${got.headers.get('x-request-id')}`);
      }
    }
  });
});

describe('browsers', () => {
  it('may call from any page, with keys and profiles', async () => {
    const preflight = await ask('OPTIONS', '/api/v2/jsonRPC', undefined, {
      origin: 'https://wallet.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-ton-client-version,x-api-key',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(preflight.headers.get('access-control-max-age')).toBe('86400');
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase();
    for (const name of ['content-type', 'x-api-key', 'x-ton-client-version', 'x-tern-profile'])
      expect(allowed).toContain(name);
    for (const path of ['/api/v2/getHead', '/api/v2/getEverything', '/nowhere']) {
      const { headers } = await ask('GET', path, undefined, { origin: 'https://wallet.example' });
      expect(headers.get('access-control-allow-origin'), path).toBe('*');
      expect(headers.get('access-control-expose-headers'), path).toContain('Retry-After');
    }
  });
});

describe('long answers', () => {
  const raw = (path: string, encoding: string) =>
    new Promise<{ encoding: string | undefined; size: number }>((resolve, reject) => {
      request(server.url + path, { headers: { 'accept-encoding': encoding } }, (response) => {
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
        });
        response.on('end', () => resolve({ encoding: response.headers['content-encoding'], size }));
      })
        .on('error', reject)
        .end();
    });

  it('are compressed for those who ask, short ones are not', async () => {
    expect(await raw('/api/v2/getLarge', 'gzip')).toMatchObject({ encoding: 'gzip' });
    expect((await raw('/api/v2/getLarge', 'br, gzip')).size).toBeLessThan(1_000);
    expect(await raw('/api/v2/getLarge', 'identity')).toMatchObject({ encoding: undefined });
    expect(await raw('/api/v2/getHead', 'gzip')).toMatchObject({ encoding: undefined });
    expect((await ask('GET', '/api/v2/getLarge')).body.result).toBe('large '.repeat(2_000));
  });
});

describe('an API of data that lag behind the chain', () => {
  it('keeps answers until the data change, and those that it reads from the chain until either does', async () => {
    const world = new FakeWorld();
    let version = 1;
    const api = fakeApi(world);
    const onChain = api.endpoints.map((each) => ({ ...each, readsChain: true }));
    const apis = [
      { ...api, headSeqno: () => version },
      { ...api, prefix: '/api/v3' as const, endpoints: onChain, headSeqno: () => version },
    ];
    const lagging = await startFakeServer({}, { networks: [{ ...fakeNetwork('testing', [], world), apis }] });
    const seqnoOf = async (prefix: string) =>
      ((await (await fetch(`${lagging.url}${prefix}/getHead`)).json()) as { result: { seqno: number } }).result.seqno;
    const seqnos = async () => [await seqnoOf('/api/v2'), await seqnoOf('/api/v3')];
    try {
      expect(await seqnos()).toEqual([7, 7]);
      world.head = 8;
      expect(await seqnos()).toEqual([7, 8]);
      version = 2;
      world.head = 9;
      expect(await seqnos()).toEqual([9, 9]);
    } finally {
      await lagging.close();
    }
  });
});
