import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpOptions } from '#api/http/options.js';
import type { HttpServer } from '#api/http/server.js';
import type { LogFields } from '#kernel/logger.js';
import { type Access, type AccessDecision, type AccessRequest, unlimitedWork } from '#services/access/access.js';
import { FakeWorld, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer & { readonly world: FakeWorld };
afterEach(() => {
  server.world.release();
  return server.close();
});

const start = async (options: Partial<HttpOptions> = {}, modules: Parameters<typeof startFakeServer>[1] = {}) => {
  server = await startFakeServer(options, modules);
  return server;
};
const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(server.url + path, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};

/** Sends bytes as they are; gives all that comes back until the connection ends. */
const send = (text: string, andThen?: (socket: ReturnType<typeof connect>) => void) =>
  new Promise<string>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(text);
      andThen?.(socket);
    });
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk;
    });
    socket.on('error', () => {}).on('close', () => resolve(got));
  });

describe('access', () => {
  const answers: Record<string, AccessDecision> = {
    good: { kind: 'allowed', plan: 'plus', key: 'id1', group: 'mine', client: 'one', work: unlimitedWork },
    bad: { kind: 'unknown-key' },
    other: { kind: 'network-not-allowed' },
    spent: { kind: 'limited', retryAfterMs: 1_200, limit: '10 requests per second' },
  };
  const none: AccessDecision = {
    kind: 'allowed',
    plan: 'none',
    key: null,
    group: null,
    client: 'one',
    work: unlimitedWork,
  };

  for (const isAsync of [false, true]) {
    it(`is asked once for each request${isAsync ? ', which may take time' : ''}`, async () => {
      const questions: AccessRequest[] = [];
      const access: Access = {
        check(question) {
          questions.push(question);
          const answer = answers[question.key ?? ''] ?? none;
          return isAsync ? Promise.resolve(answer) : answer;
        },
      };
      await start({}, { access });
      const header = (key: string) => ({ headers: { 'X-API-Key': key } });
      expect(await ask('/api/v2/getBlock?seqno=1', header('bad'))).toMatchObject({
        status: 401,
        body: { ok: false, error: 'API key does not exist', code: 401 },
      });
      expect(await ask('/api/v2/getBlock?seqno=1&api_key=other')).toMatchObject({
        status: 403,
        body: { error: 'Network not allowed', code: 403 },
      });
      const limited = await ask('/api/v2/jsonRPC?api_key=spent', { method: 'POST', body: '{"method":"getHead"}' });
      expect(limited.headers.get('retry-after')).toBe('2');
      expect(limited).toMatchObject({
        status: 429,
        body: { ok: false, error: 'Ratelimit exceed', result: 'Ratelimit exceed', code: 429, jsonrpc: '2.0' },
      });
      expect((await ask('/api/v2/getBlock?seqno=1&api_key=bad', header('good'))).body.result.group).toBe('mine');
      expect((await ask('/api/v2/getBlock?seqno=1')).body.result.group).toBeNull();
      expect((await ask('/api/v2/getBlock?seqno=1&api_key=a&api_key=b')).status).toBe(422);
      expect(questions.map(({ key }) => key)).toEqual(['bad', 'other', 'spent', 'good', null]);
      const waitedMs = expect.any(Number);
      expect(questions[0]).toEqual({ key: 'bad', clientAddress: '127.0.0.1', network: 'testing', waitedMs });
    });
  }

  it('is told how long a request waited to be begun', async () => {
    let waits: number[] = [];
    const access: Access = {
      check: ({ waitedMs = 0 }) => {
        waits.push(waitedMs);
        // Beginning it takes so long that the next ones have to wait.
        for (const until = performance.now() + 25; performance.now() < until; );
        return none;
      },
    };
    await start({ turnMs: 1 }, { access });
    const askAll = () => Promise.all(Array.from({ length: 8 }, () => ask('/api/v2/getBlock?seqno=1')));
    // The second time their connections are open, and they arrive together.
    await askAll();
    waits = [];
    await askAll();
    expect(waits.length).toBe(8);
    expect(Math.max(...waits)).toBeGreaterThan(20);
  });

  it('that fails is a fault of ours, and says nothing of it', async () => {
    await start({}, { access: { check: () => Promise.reject(new TypeError('redis password')) } });
    const { status, body } = await ask('/api/v2/getHead');
    expect([status, JSON.stringify(body).includes('redis')]).toEqual([500, false]);
  });

  it('takes the address from a proxy when it is trusted', async () => {
    const seen: string[] = [];
    const access: Access = {
      check: ({ clientAddress }) => {
        seen.push(clientAddress);
        return none;
      },
    };
    await start({ trustProxy: ['127.0.0.1'] }, { access });
    await ask('/api/v2/getHead', { headers: { 'x-forwarded-for': '9.9.9.9, 203.0.113.7' } });
    expect(seen).toEqual(['203.0.113.7']);
  });

  it('leaves no key in the log', async () => {
    const lines: string[] = [];
    const write = (message: string, fields?: LogFields) => void lines.push(JSON.stringify({ message, ...fields }));
    await start(
      { requestLog: 'all' },
      { logger: { info: write, warn: write }, access: { check: () => answers.good! } },
    );
    await ask('/api/v2/getHead?api_key=sesame');
    await ask('/api/v2/getEverything?even=a&api_key=sesame', { headers: { 'X-API-Key': 'sesame' } });
    await ask('/api/v2/fail?how=bug&api_key=sesame');
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toContain('sesame');
    expect(lines[2]).toContain('TypeError');
    expect(JSON.parse(lines[0]!)).toMatchObject({
      message: 'request',
      endpoint: 'getHead',
      status: 200,
      key: 'id1',
      cached: false,
    });
  });
});

describe('several networks', () => {
  it('are chosen by the host name, the first for all others', async () => {
    const worlds = { mainnet: new FakeWorld(), testnet: new FakeWorld() };
    worlds.testnet.head = 70;
    const networks = [
      fakeNetwork('mainnet', ['a.example'], worlds.mainnet),
      fakeNetwork('testnet', ['T.example'], worlds.testnet),
    ];
    await start({}, { networks });
    const seqnoAt = async (host: string) => {
      const text = await send(`GET /api/v2/getHead HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return (/"seqno":(\d+)/.exec(text) as RegExpExecArray)[1];
    };
    expect(await seqnoAt('t.EXAMPLE:8081')).toBe('70');
    expect(await seqnoAt('a.example')).toBe('7');
    expect(await seqnoAt('other')).toBe('7');
    worlds.testnet.health = { ready: false, problem: 'the head is old', headSeqno: 70, headAgeMs: 99_000 };
    const ready = await ask('/readyz');
    expect([ready.status, ready.body.problem]).toEqual([503, 'testnet: the head is old']);
    expect(ready.body.networks.testnet.head_seqno).toBe(70);
    expect((await ask('/readyz/mainnet')).status).toBe(200);
    expect((await ask('/readyz/other')).status).toBe(404);
    expect((await ask('/healthz')).status).toBe(200);
  });
});

describe('sizes', () => {
  it('of bodies, URLs, headers and nesting are limited', async () => {
    await start();
    const post = (body: string) => ask('/api/v2/getEverything', { method: 'POST', body });
    const fitting = `{"even":"${'x'.repeat(1024 * 1024 - 12)}"}`;
    expect((await post(fitting)).status).toBe(200);
    expect(await post(`${fitting} `.padEnd(1024 * 1024 + 1))).toMatchObject({ status: 413, body: { code: 413 } });
    expect((await post('['.repeat(1024 * 1024))).status).toBe(422);
    expect((await post(`{"even":"","anything":${'['.repeat(255)}${']'.repeat(255)}}`)).status).toBe(200);
    expect((await post(`{"even":"","anything":${'['.repeat(256)}${']'.repeat(256)}}`)).status).toBe(422);
    expect((await ask(`/api/v2/getEverything?even=${'x'.repeat(8_150)}`)).status).toBe(200);
    expect(await ask(`/api/v2/getEverything?even=${'x'.repeat(8_200)}`)).toMatchObject({
      status: 414,
      body: { code: 414 },
    });
    const large = await send(`GET /api/v2/getHead HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`);
    expect(large).toMatch(/^HTTP\/1.1 431 [\s\S]*"code":431/);
    const chunked = `POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await send(`${chunked}100001\r\n${'x'.repeat(0x100001)}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /);
    expect(await send(`${chunked}2\r\n{}\r\n0\r\n\r\n`, (socket) => setTimeout(() => socket.end(), 300))).toMatch(
      /^HTTP\/1.1 200 /,
    );
    expect(await send('nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":400/);
  });

  it('of all bodies together are limited', async () => {
    await start({ maxBodiesBytes: 1_000 });
    const begin = 'POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n';
    const slow = send(begin + ' '.repeat(800));
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    await expect.poll(metrics).toContain('tern_http_held_body_bytes 800');
    expect((await ask('/api/v2/getHead', { method: 'POST', body: `{}${' '.repeat(600)}` })).status).toBe(200);
    expect(await slow).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 1/i);
  });
});

describe('large bodies', () => {
  it('take turns to be read, all are answered, and those of clients that leave are forgotten', async () => {
    await start({ turnMs: 1 });
    const body = `{}${' '.repeat(100_000)}`;
    const begin = `POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`;
    const leaving = Array.from({ length: 4 }, () =>
      send(begin + body.slice(0, 20_000), (socket) => setTimeout(() => socket.destroy(), 5)).catch(() => ''),
    );
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask('/api/v2/getHead', { method: 'POST', body })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await Promise.all(leaving);
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    await expect.poll(metrics).toMatch(/^tern_http_held_body_bytes 0$/m);
    await expect.poll(metrics).toMatch(/^tern_http_unbegun_requests 0$/m);
    await expect.poll(metrics).toMatch(/^tern_http_open_bodies 0$/m);
  });
});

describe('time', () => {
  it('of a request that comes too slowly is up', async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const startedAt = performance.now();
    expect(await send('GET /api/v2/getHead HTTP/1.1\r\nHost: ')).toMatch(/^HTTP\/1.1 408 /);
    const post = 'POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{';
    await send(post);
    // Node itself gives headers a minute.
    expect(performance.now() - startedAt).toBeLessThan(45_000);
    expect((await ask('/api/v2/getHead')).status).toBe(200);
  });

  it('of an answer is up', async () => {
    const { world } = await start({ deadlineMs: 50 });
    for (const seqno of [3, 9]) {
      const { status, body } = await ask(`/api/v2/getBlock?seqno=${seqno}&wait=1`);
      expect([status, body.error], String(seqno)).toEqual([504, 'no answer within 50 ms']);
    }
    expect(world.aborted).toBe(2);
  });

  it('is not spent for clients that have left', async () => {
    const { world } = await start();
    for (const seqno of [3, 9]) {
      const controller = new AbortController();
      const asked = fetch(`${server.url}/api/v2/getBlock?seqno=${seqno}&wait=1`, { signal: controller.signal });
      while (!world.worked.includes(`getBlock ${seqno}`)) await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort();
      await expect(asked).rejects.toThrow();
    }
    while (world.aborted < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

describe('many requests', () => {
  it('at once are refused beyond a limit, answers that are kept aside', async () => {
    const { world } = await start({ maxConcurrent: 2 });
    await ask('/api/v2/getHead');
    const waiting = [1, 2].map((seqno) => ask(`/api/v2/getBlock?seqno=${seqno}&wait=1`));
    while (world.worked.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await ask('/api/v2/getBlock?seqno=3');
    expect([refused.status, refused.headers.get('retry-after'), refused.body.code]).toEqual([503, '1', 503]);
    expect((await ask('/api/v2/getHead')).status).toBe(200);
    world.release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask('/api/v2/getBlock?seqno=3')).status).toBe(200);
  });

  it('for the same are one, and are kept', async () => {
    const { world } = await start();
    const paths = Array.from({ length: 20 }, (_, i) => `/${i % 2 ? 'toncenter/' : ''}api/v2/getBlock?seqno=2&wait=1`);
    const all = paths.map((path) => ask(path));
    while (world.worked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    world.release();
    for (const { status } of await Promise.all(all)) expect(status).toBe(200);
    expect(world.worked).toEqual(['getBlock 2']);
    world.head++;
    const kept = await ask('/toncenter/api/v2/getBlock?wait=1&seqno=2');
    expect([kept.body.result['@type'], kept.body['@extra'].endsWith(':c')]).toEqual(['ton.block', true]);
    await ask('/api/v2/getBlock?seqno=9');
    await ask('/api/v2/getBlock?seqno=9');
    world.head++;
    await ask('/api/v2/getBlock?seqno=9');
    expect(world.worked).toEqual(['getBlock 2', 'getBlock 9', 'getBlock 9']);
    const head = await ask('/api/v2/getHead');
    expect((await ask('/api/v2/getHead')).headers.get('x-tern-mc-seqno')).toBe(head.headers.get('x-tern-mc-seqno'));
    for (const method of ['send', 'send']) await ask(`/api/v2/${method}`, { method: 'POST', body: '{"boc":"ab"}' });
    expect(world.worked.filter((name) => name === 'send')).toHaveLength(2);
    expect((await ask('/api/v2/fail?how=missing')).body['@extra']).not.toMatch(/:c$/);
  });

  it('all work when nothing is kept', async () => {
    const { world } = await start({ cacheBytes: 0 });
    await Promise.all([1, 2, 3].map(() => ask('/api/v2/getHead')));
    expect(world.worked).toHaveLength(3);
  });
});

describe('metrics', () => {
  it('count requests by network, method and status, and what was turned away', async () => {
    const metrics = new Registry();
    let isFirst = true;
    const access: Access = {
      check: () => {
        if (!isFirst) return { kind: 'unknown-key' };
        isFirst = false;
        return { kind: 'allowed', plan: 'a', key: null, group: null, client: 'one', work: unlimitedWork };
      },
    };
    await start({}, { metrics, access });
    await ask('/api/v2/getHead');
    await ask('/api/v2/getHead');
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toContain(
      'tern_http_request_duration_seconds_count{network="testing",api="/api/v2",endpoint="getHead",status_class="2xx"} 1',
    );
    expect(text).toContain('tern_http_rejected_total{network="testing",reason="http/unknown-key"} 1');
    expect(text).toContain('tern_http_cache_misses_total 1');
    expect(text).toMatch(/tern_http_connections [1-9]/);
  });
});

describe('closing', () => {
  it('says so first, lets requests end, and then nobody is connected', async () => {
    const { world } = await start({ notReadyMs: 200 });
    const waiting = ask('/api/v2/getBlock?seqno=1&wait=1');
    while (world.worked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = server.close();
    const ready = await ask('/readyz');
    expect([ready.status, ready.body.problem]).toEqual([503, 'the server is shutting down']);
    const during = await ask('/api/v2/getHead');
    expect([during.status, during.headers.get('connection')]).toEqual([200, 'close']);
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(isClosed).toBe(false);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
    world.release();
    expect((await waiting).status).toBe(200);
    await closed;
    expect(server.close()).toBe(closed);
  });

  it('does not wait for connections that never asked', async () => {
    await start({ drainMs: 120_000 });
    const silent = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    await ask('/healthz');
    const startedAt = performance.now();
    await server.close();
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    silent.destroy();
  });

  it('does not wait longer than the drain time', async () => {
    await start({ drainMs: 100 });
    const waiting = fetch(`${server.url}/api/v2/getBlock?seqno=1&wait=1`).catch(() => 'cut');
    while (server.world.worked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close();
    expect(await waiting).toBe('cut');
  });
});
