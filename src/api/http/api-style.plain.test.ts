import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { type Access, unlimitedWork } from '#services/access/access.js';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';
import { fakePlainApi, PlainWorld } from '#test/support/fake-plain-api.js';

type GivenHeaders = Record<string, string>;

const access: Access = {
  check: ({ key }) =>
    key === 'spent'
      ? { kind: 'limited', retryAfterMs: 1_200, limit: '10 requests per second' }
      : { kind: 'allowed', plan: 'open', key: null, group: null, client: 'one', work: unlimitedWork },
};

let server: HttpServer;
let world: PlainWorld;
beforeAll(async () => {
  world = new PlainWorld();
  const network = fakeNetwork('testing', []);
  const plain = { ...network, apis: [...network.apis, fakePlainApi(world)] };
  // The second network has no plain API.
  server = await startFakeServer(
    { maxBodyBytes: 10_000 },
    { access, networks: [plain, fakeNetwork('other', ['other.example'])] },
  );
});
afterAll(() => {
  world.release();
  return server.close();
});
beforeEach(() => {
  world.worked.length = 0;
});

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
};

/** The first line and the body of what comes back for bytes as they are. */
const raw = (text: string) =>
  new Promise<string>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk;
    });
    socket.on('close', () => resolve(got));
  });

describe('bodies of a plain API', () => {
  it('are the result itself', async () => {
    const { status, headers, text } = await ask('/api/v3/jetton/wallets?limit=5');
    expect([status, text]).toEqual([200, '{"rows":[{"limit":5}]}']);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-api-version')).toBe('1.2.4');
    expect(headers.get('server-timing')).toMatch(/^app;dur=\d+(\.\d{1,3})?$/);
    expect(headers.get('x-request-id')).toMatch(/\w/);
  });

  it('may be JSON text that a method has written', async () => {
    for (const text of ['{"a":1,  "b":"<"}', '"text"', '[]']) {
      const got = await ask('/api/v3/decode', { method: 'POST', body: JSON.stringify({ text }) });
      expect([got.status, got.text]).toEqual([200, text]);
    }
  });

  it('of errors are their text, and in the spec profile their status', async () => {
    const cases: [string, RequestInit, number, RegExp][] = [
      ['masterchainInfo?how=missing', {}, 404, /^there is none$/],
      ['masterchainInfo?how=special', {}, 409, /^a special case$/],
      ['masterchainInfo?how=busy', {}, 503, /^busy$/],
      ['masterchainInfo?how=lost', {}, 500, /^internal error; request /],
      ['masterchainInfo?api_key=spent', {}, 429, /^Ratelimit exceed$/],
      ['masterchainInfo?API_KEY=spent', {}, 429, /^Ratelimit exceed$/],
      ['jetton/wallets?limit=x', {}, 422, /^parameter limit: "x" is not a whole number/],
      ['nosuch', {}, 404, /^Not Found$/],
      ['jetton/wallets/more', {}, 404, /^Not Found$/],
      ['jetton', {}, 404, /^Not Found$/],
      ['jsonRPC', { method: 'POST', body: '{"method":"switches"}' }, 404, /^Not Found$/],
      ['constructor', {}, 404, /^Not Found$/],
      ['%zz', {}, 404, /^Not Found$/],
      ['decode', {}, 405, /POST/],
      ['Decode/', { method: 'PUT' }, 405, /POST/],
      ['jetton/wallets', { method: 'DELETE' }, 405, /GET, HEAD/],
      ['openapi.json', { method: 'PUT' }, 405, /GET, HEAD/],
      ['decode', { method: 'POST', body: '{' }, 422, /^the body is not valid JSON/],
      ['decode', { method: 'POST', body: '{"text":"1","@extra":"x"}' }, 422, /^unknown parameter @extra/],
      ['decode?text=1', { method: 'POST', body: '{"text":"1"}' }, 422, /^unknown parameter text/],
      ['decode', { method: 'POST', body: `{"text":"${'x'.repeat(20_000)}"}` }, 413, /10000/],
    ];
    for (const [path, init, status, text] of cases) {
      for (const [mount, profile] of [
        ['', 'spec'],
        ['/toncenter', 'toncenter'],
      ] as const) {
        const name = `${mount} ${init.method ?? 'GET'} ${path}`;
        const got = await ask(`${mount}/api/v3/${path}`, init);
        expect([got.status, got.headers.get('x-api-version')], name).toEqual([status, '1.2.4']);
        const keys = profile === 'spec' ? ['error', 'code'] : ['error'];
        expect(Object.keys(got.body), name).toEqual(keys);
        if (profile === 'spec') expect(got.body.code, name).toBe(status);
        expect(got.body.error, name).toMatch(text);
        expect(got.headers.get('server-timing'), name).toMatch(/^app;dur=[\d.]+$/);
        expect(got.headers.has('allow'), name).toBe(status === 405);
        expect(got.headers.has('retry-after'), name).toBe(status === 429 || status === 503);
      }
    }
  });

  it('are chosen by header and client, too', async () => {
    for (const headers of [{ 'X-Tern-Profile': 'toncenter' }, { 'X-Ton-Client-Version': '16' }] as GivenHeaders[]) {
      expect((await ask('/api/v3/nosuch', { headers })).body).toEqual({ error: 'Not Found', code: 404 });
      expect((await ask('/api/v3/masterchainInfo?how=missing', { headers })).body).toEqual({ error: 'there is none' });
    }
    expect((await ask('/api/v3/switches', { headers: { 'X-Tern-Profile': 'x' } })).body.code).toBe(422);
  });

  it('are envelopes under other prefixes, and nothing on a network without the API', async () => {
    expect((await ask('/api/v2/nosuch')).body).toMatchObject({ ok: false, code: 404 });
    expect((await ask('/api/v33/switches')).body).toMatchObject({ ok: false, code: 404 });
    expect((await ask('/api/v2/getHead')).headers.get('x-api-version')).toBe('v2.2.0');
    expect((await ask('/api/v2/getHead')).headers.has('server-timing')).toBe(false);
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n`;
    expect(await raw(request('/api/v3/switches'))).toMatch(/^HTTP\/1.1 404 [\s\S]*\{"error":"Not Found","code":404\}$/);
    expect(await raw(request('/api/v2/getHead'))).toMatch(/^HTTP\/1.1 200 /);
  });

  it('are those of HEAD without the body where GET is', async () => {
    const head = await ask('/api/v3/jetton/wallets', { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '24']);
    expect((await ask('/api/v3/decode', { method: 'HEAD' })).status).toBe(405);
  });
});

describe('paths of a plain API', () => {
  it('are found in any letter case, with one slash at the end or none', async () => {
    for (const path of [
      '/api/v3/jetton/wallets',
      '/api/v3/jetton/wallets/',
      '/API/V3/Jetton/WALLETS/?',
      '/Toncenter/Api/v3/jettonwallets/',
      '/api/v3/jettonWallets',
    ]) {
      expect((await ask(path)).text, path).toBe('{"rows":[{"limit":100}]}');
    }
    expect((await ask('/API/v3/jetton/wallets/?Kind=A/B/')).body.rows[0].kind).toEqual(['A/B/']);
    for (const path of ['/api/v3/jetton/wallets//', '/api/v3//jetton/wallets', '/api/v3/jetton//wallets'])
      expect((await ask(path)).status, path).toBe(404);
    expect((await ask('/api/v2/gethead')).status).toBe(404);
    expect((await ask('/API/v2/getHead')).status).toBe(404);
  });

  it('take as long a query as the API declares', async () => {
    const long = `/api/v3/jetton/wallets?account=${'A'.repeat(60_000)}`;
    expect((await ask(long)).status).toBe(200);
    expect((await ask(`/api/v2/getHead?a=${'A'.repeat(60_000)}`)).status).toBe(414);
    const got = await ask(long + 'A'.repeat(41_000));
    expect([got.status, got.body]).toEqual([414, { error: 'the URL has more than 100000 bytes', code: 414 }]);
    expect((await ask(`/api/v3/jetton/wallets?${'kind=a&'.repeat(1_500)}`)).body.rows[0].kind).toHaveLength(1_500);
    expect((await ask(`/api/v3/jetton/wallets?${'kind=a&'.repeat(2_001)}`)).status).toBe(422);
  });
});

describe('queries of a plain API', () => {
  const rowOf = async (query: string) => (await ask(`/api/v3/jetton/wallets?${query}`)).body.rows?.[0];
  const refusalOf = async (query: string, mount = '') => {
    const { status, body } = await ask(`${mount}/api/v3/jetton/wallets?${query}`);
    return [status, body.error];
  };

  it('have names in any letter case, with [] or without', async () => {
    expect(await rowOf('LIMIT=7&Account[]=A&ACCOUNT=B&account%5B%5D=C')).toEqual({
      limit: 7,
      account: ['A', 'B', 'C'],
    });
  });

  it('have lists repeated or with commas, where the field says so', async () => {
    expect(await rowOf('account=A,B')).toMatchObject({ account: ['A', 'B'] });
    expect(await rowOf('account=A%2CB&account=C')).toMatchObject({ account: ['A', 'B', 'C'] });
    expect(await rowOf('kind=a,b&kind=')).toMatchObject({ kind: ['a,b', ''] });
    for (const empty of ['account=', 'account', 'account=A,', 'account=,A', 'account=A&account='])
      expect((await refusalOf(empty))[1], empty).toMatch(/^parameter account: at \d: it is empty$/);
    expect((await refusalOf('account=A,B,C,D'))[1]).toMatch(/^parameter account: /);
    expect((await refusalOf('account=A,b'))[1]).toMatch(/^parameter account: at 1: /);
  });

  it('have the booleans and integers of the contract', async () => {
    for (const text of ['1', 't', 'T', 'TRUE', 'true', 'True', 'on'])
      expect(await rowOf(`flag=${text}`), text).toMatchObject({ flag: true });
    for (const text of ['0', 'f', 'F', 'FALSE', 'false', 'False'])
      expect(await rowOf(`flag=${text}`), text).toMatchObject({ flag: false });
    for (const text of ['', 'yes', 'y', 'no', 'tRUE', '2', 'ON', 'off'])
      expect((await refusalOf(`flag=${text}`))[1], text).toMatch(/^parameter flag: .* is neither true nor false$/);
    for (const text of ['', '1.5', '0x10', '1e2', '99999999999', '0', '-1', '%201'])
      expect((await refusalOf(`limit=${text}`))[1], text).toMatch(/^parameter limit: /);
  });

  it('are refused when a single value is repeated, and when nobody knows the name', async () => {
    for (const mount of ['', '/toncenter']) {
      expect(await refusalOf('limit=1&Limit=2', mount)).toEqual([422, 'parameter limit: it is given 2 times']);
      expect(await refusalOf('limit=1&limit[]=1', mount)).toEqual([422, 'parameter limit: it is given 2 times']);
    }
    const known = 'this method has account, kind, flag, limit';
    for (const name of ['@extra', 'no', 'limit[0]', 'x_actions_version']) {
      expect(await refusalOf(`${name}=1`, '')).toEqual([422, `unknown parameter ${name}; ${known}`]);
      expect((await ask(`/toncenter/api/v3/jetton/wallets?${name}=1`)).status, name).toBe(200);
    }
  });
});

describe('switches', () => {
  const read = async (query: string, headers: GivenHeaders = {}, method = 'GET') =>
    await ask(`/api/v3/switches${query}`, { headers, method });
  const none = { timeoutMs: null, noAddressBook: false, actionsVersion: null, ms: 10_000 };

  it('come typed from the query or a header, which counts first', async () => {
    const cases: [string, GivenHeaders, object][] = [
      ['', {}, none],
      ['?x_timeout=250&X_No_Address_Book=T', {}, { ...none, timeoutMs: 250, ms: 250, noAddressBook: true }],
      [
        '',
        { 'X-TIMEOUT': '300', 'X-Actions-Version': '1.2' },
        { ...none, timeoutMs: 300, ms: 300, actionsVersion: ['1', '2'] },
      ],
      ['?x_no_address_book=true&x_timeout=5', { 'x-no-address-book': '0' }, { ...none, timeoutMs: 5, ms: 5 }],
      ['?x_timeout=nonsense', { 'X-Timeout': '7' }, { ...none, timeoutMs: 7, ms: 7 }],
    ];
    for (const [query, headers, expected] of cases) {
      expect((await read(query, headers)).body, query).toEqual(expected);
      expect((await read(query, headers, 'POST')).body, `POST ${query}`).toEqual(expected);
    }
  });

  it('are refused by the name they were given by', async () => {
    const cases: [string, GivenHeaders, RegExp][] = [
      ['?x_timeout=abc', {}, /^parameter x_timeout: "abc" is not a whole number/],
      ['?x_timeout=3001', {}, /^parameter x_timeout: .*3000/],
      ['?x_timeout=', {}, /^parameter x_timeout: /],
      ['?x_timeout=1&x_timeout=2', {}, /^parameter x_timeout: it is given 2 times/],
      ['', { 'X-Timeout': '0' }, /^parameter X-Timeout: /],
      ['', { 'X-No-Address-Book': 'maybe' }, /^parameter X-No-Address-Book: "maybe" is neither/],
    ];
    for (const [query, headers, text] of cases) {
      const { status, body } = await read(query, headers);
      expect([status, body.error], query).toEqual([422, expect.stringMatching(text)]);
    }
  });

  it('distinguish cached answers', async () => {
    world.seqno++;
    const one = async (headers: GivenHeaders) => (await read('', headers)).body.actionsVersion;
    expect(await one({ 'X-Actions-Version': 'a' })).toEqual(['a']);
    expect(await one({ 'X-Actions-Version': 'b' })).toEqual(['b']);
    expect(await one({})).toBeNull();
    expect(await one({ 'X-Actions-Version': 'a' })).toEqual(['a']);
    await read('?x_no_address_book=1');
    await read('', { 'X-No-Address-Book': '1' });
    expect(world.worked).toHaveLength(4);
  });

  it('can shorten the time of a request', async () => {
    const got = await ask('/api/v3/masterchainInfo?wait=1&x_timeout=20');
    expect([got.status, got.body]).toEqual([504, { error: 'no answer within 20 ms', code: 504 }]);
  });

  it('may be sent by browsers, which may read what answers say of themselves', async () => {
    const preflight = await fetch(`${server.url}/api/v3/switches`, {
      method: 'OPTIONS',
      headers: { origin: 'https://wallet.example', 'access-control-request-method': 'GET' },
    });
    const allowed = preflight.headers.get('access-control-allow-headers');
    for (const name of ['X-API-Key', 'X-Timeout', 'X-No-Address-Book', 'X-Actions-Version'])
      expect(allowed).toContain(name);
    const exposed = (await ask('/api/v3/switches', { headers: { origin: 'https://wallet.example' } })).headers.get(
      'access-control-expose-headers',
    );
    for (const name of ['X-Tern-Next', 'X-Tern-Mc-Seqno', 'X-Tern-Lag-Ms']) expect(exposed).toContain(name);
  });
});

describe('answers of a plain API', () => {
  const info = (query = '', mount = '') => ask(`${mount}/api/v3/masterchainInfo${query}`);
  const freshness = ({ headers }: { headers: Headers }) => [
    headers.get('x-tern-mc-seqno'),
    headers.get('x-tern-lag-ms'),
  ];

  it('are kept until the seqno of the API changes, for each profile', async () => {
    world.seqno = 50;
    expect((await info()).body).toEqual({ seqno: 50, profile: 'spec', noAddressBook: false });
    expect((await info('', '/toncenter')).body).toMatchObject({ seqno: 50, profile: 'toncenter' });
    await info();
    await info('', '/toncenter');
    expect(world.worked).toHaveLength(2);
    world.seqno = 51;
    const next = await info();
    expect([next.body.seqno, next.headers.get('x-tern-next')]).toEqual([51, 'abc']);
    expect(world.worked).toHaveLength(3);
  });

  it('say how new they are when they are sent, kept ones and errors too', async () => {
    world.seqno = 60;
    world.lagMs = 100.4;
    expect(freshness(await info())).toEqual(['60', '100']);
    world.lagMs = 900;
    expect(freshness(await info())).toEqual(['60', '900']);
    expect(world.worked).toHaveLength(1);
    expect(freshness(await info('?how=once'))).toEqual(['60', '900']);
    world.seqno = 61;
    expect(freshness(await info('?how=once'))).toEqual(['61', '900']);
    expect(world.worked).toHaveLength(2);
    expect(freshness(await info('?how=missing'))).toEqual(['61', '900']);
    expect(freshness(await info('?nothing=1'))).toEqual(['61', '900']);
    expect(freshness(await ask('/api/v3/decode', { method: 'PUT' }))).toEqual(['61', '900']);
    expect(freshness(await info('?how=own'))).toEqual(['5', '900']);
    world.lagMs = null;
    expect(freshness(await info())).toEqual(['61', null]);
    expect(freshness(await ask('/api/v2/getBlock?seqno=1'))).toEqual([null, null]);
  });

  it('claim no newer data than there were when the work began', async () => {
    world.seqno = 70;
    const slow = info('?wait=true');
    await expect.poll(() => world.worked.length).toBe(1);
    world.seqno = 71;
    world.release();
    const got = await slow;
    expect([got.body.seqno, got.headers.get('x-tern-mc-seqno')]).toEqual([70, '70']);
  });
});

describe('the reference of a plain API', () => {
  it('has its page and document under further names', async () => {
    for (const path of ['/api/v3', '/api/v3/', '/api/v3/index.html', '/API/v3/Index.html', '/toncenter/api/v3/']) {
      const page = await fetch(server.url + path);
      const html = await page.text();
      const [, link = ''] = /data-document="([^"]+)"/.exec(html) ?? [];
      const { pathname } = new URL(link, server.url + path.toLowerCase());
      expect([page.status, pathname.endsWith('/api/v3/openapi.json')], path).toEqual([200, true]);
      const document = await ask(pathname);
      expect(document.body.info.title, path).toBe('A plain API');
      expect(document.headers.get('x-api-version'), path).toBe('1.2.4');
    }
    expect((await ask('/api/v3/doc.json')).text).toBe((await ask('/api/v3/openapi.json')).text);
    expect((await ask('/api/v2/doc.json')).status).toBe(404);
    for (const name of ['', '/', '/openapi.json', '/doc.json', '/healthcheck', '/docs/init.js'])
      expect((await ask(`/api/v3${name}`, { method: 'HEAD' })).status, name).toBe(200);
    const health = await fetch(`${server.url}/api/v3/healthcheck`);
    expect([health.headers.get('content-type'), await health.text()]).toEqual(['text/plain; charset=utf-8', 'OK']);
  });
});
