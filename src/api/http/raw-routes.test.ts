import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import type { Duplex } from 'node:stream';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { httpErrors } from '#api/http/errors.js';
import type { RawRequest, RawRoute } from '#api/http/http-api.js';
import type { HttpOptions } from '#api/http/options.js';
import type { HttpServer } from '#api/http/server.js';
import { isTernError } from '#kernel/tern-error.js';
import { type Access, type AccessDecision, unlimitedWork, type WorkBudget } from '#services/access/access.js';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

/** The parts of `ws` that the test uses. */
interface Socket {
  on(event: 'message', listener: (data: Buffer) => void): this;
  once(event: 'open' | 'close' | 'error', listener: (value: never) => void): this;
  once(event: 'message', listener: (data: Buffer) => void): this;
  once(event: 'unexpected-response', listener: (request: unknown, response: IncomingMessage) => void): this;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}
interface Ws {
  new (url: string, options?: { readonly headers?: Record<string, string> }): Socket;
  readonly WebSocketServer: new (options: {
    readonly noServer: true;
  }) => { handleUpgrade(message: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: Socket) => void): void };
}
const WebSocket = createRequire(import.meta.url)('ws') as Ws;

let folder: string;
let server: HttpServer;
let metrics: Registry;
let seen: RawRequest[] = [];
let ended: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tern-files-'));
  await writeFile(join(folder, 'page.html'), '<p>hello</p>');
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => server.close());

const reasonOf = ({ reason }: AbortSignal) => (isTernError(reason) ? reason.code : String(reason));

const sockets = new WebSocket.WebSocketServer({ noServer: true });

const routes: readonly RawRoute[] = [
  {
    path: '/stream/sse',
    name: 'sse',
    verbs: ['GET', 'POST'],
    handle: (request, reply) => {
      seen.push(request);
      if (request.query.fail === 'early')
        throw httpErrors['bad-parameter']({ parameter: 'fail', problem: 'it is given' });
      const stream = reply.stream(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      stream.write(`data: ${request.network.name} ${JSON.stringify(request.body ?? null)}\n\n`);
      if (request.query.fail === 'late') throw new TypeError('a fault');
      request.signal.addEventListener('abort', () => {
        ended.push(reasonOf(request.signal));
        stream.end('data: end\n\n');
      });
    },
  },
  {
    path: '/stream/ws',
    name: 'ws',
    verbs: ['GET'],
    style: 'plain',
    upgrade: (request, { message, socket, head }) => {
      seen.push(request);
      if (request.query.fail !== undefined) throw new TypeError('a fault');
      sockets.handleUpgrade(message, socket, head, (client) => {
        client.on('message', (data) => {
          const text = data.toString();
          request
            .inTurn(text.length, () => `${request.network.name}: ${text}`)
            .then(
              (reply) => client.send(reply),
              (error) => client.send(error.message),
            );
        });
        request.signal.addEventListener('abort', () => {
          ended.push(reasonOf(request.signal));
          client.close(1001, 'the server shuts down');
        });
      });
    },
  },
  {
    path: '/files/*',
    name: 'files',
    verbs: ['GET'],
    handle: async ({ rest }, reply) => {
      const path = normalize(join(folder, rest));
      if (!path.startsWith(`${folder}/`)) throw httpErrors['not-found']({});
      const stream = createReadStream(path);
      await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject)).catch(() => {
        throw httpErrors['not-found']({});
      });
      stream.pipe(reply.stream(200, { 'Content-Type': 'text/html', 'Cache-Control': 'public, max-age=60' }));
    },
  },
  {
    path: '/bytes',
    name: 'bytes',
    verbs: ['POST'],
    bodies: 'bytes',
    handle: async ({ bytes, inTurn, query }, reply) => {
      const length = await inTurn(0, () => bytes?.bytes.length);
      if (query.fail !== undefined) throw httpErrors['not-found']({});
      reply.send(200, { 'Content-Type': 'text/plain' }, `${length} of ${bytes?.type}`);
    },
  },
  {
    path: '/large',
    name: 'large',
    verbs: ['GET'],
    handle: (_, reply) => reply.send(200, { 'Content-Type': 'text/plain' }, 'x'.repeat(2 ** 24)),
  },
  {
    path: '/whole',
    name: 'whole',
    verbs: ['GET'],
    handle: ({ query }, reply) => {
      if (query.silent === undefined) reply.send(201, { 'Content-Type': 'text/plain' }, 'whole');
    },
  },
];

async function start(options: Partial<HttpOptions> = {}, access?: Access): Promise<void> {
  [seen, ended, metrics] = [[], [], new Registry()];
  server = await startFakeServer(options, {
    ...{
      rawRoutes: routes,
      metrics,
      networks: [fakeNetwork('testing', []), fakeNetwork('other', ['other.example.com'])],
    },
    ...(access === undefined ? {} : { access }),
  });
}

const wsUrl = (path: string) => server.url.replace('http', 'ws') + path;

/** Opens a WebSocket; rejects with the status of a refusal. */
function open(path: string, headers: Record<string, string> = {}): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(wsUrl(path), { headers });
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
    socket.once('unexpected-response', (_, response) => {
      let body = '';
      response.on('data', (part) => (body += part));
      response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
    });
  });
}

const nextMessage = (socket: Socket) =>
  new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));

const counted = async (endpoint: string) => {
  const text = await metrics.metrics();
  return text
    .split('\n')
    .filter((line) => /duration_seconds_count/.test(line) && line.includes(`endpoint="${endpoint}"`));
};

const keys: Access = {
  check: ({ key }) => {
    if (key === 'good')
      return { kind: 'allowed', plan: 'plus', key: 'id1', group: 'mine', client: 'one', work: unlimitedWork };
    if (key === 'admin')
      return {
        kind: 'allowed',
        plan: 'plus',
        key: 'id2',
        group: null,
        client: 'two',
        work: unlimitedWork,
        isAdmin: true,
      };
    if (key === 'spent') return { kind: 'limited', retryAfterMs: 1_200, limit: 'all' };
    return { kind: 'unknown-key' };
  },
};

describe('a stream of events', () => {
  it('has the headers of all answers, and goes on until the client leaves', async () => {
    await start();
    const stop = new AbortController();
    const response = await fetch(`${server.url}/stream/sse?a=1&api_key=x`, {
      signal: stop.signal,
      headers: { 'X-Request-Id': 'my-id', Origin: 'https://example.com' },
    });
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      ...{ 'content-type': 'text/event-stream', 'x-request-id': 'my-id', 'x-api-version': 'v2.2.0' },
      'access-control-allow-origin': '*',
    });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: testing null\n\n');
    expect(seen[0]).toMatchObject({ id: 'my-id', query: { a: '1' }, clientAddress: '127.0.0.1', keyId: null });
    expect(await counted('sse')).toEqual([
      expect.stringContaining('network="testing",api="/stream/sse",endpoint="sse",status_class="2xx"'),
    ]);
    stop.abort();
    await expect.poll(() => ended).toEqual(['http/client-left']);
  });

  it('takes a body, and the network of the host', async () => {
    await start();
    const stop = new AbortController();
    const text = await new Promise<string>((resolve) => {
      const sent = httpRequest(`${server.url}/stream/sse`, { method: 'POST', headers: { host: 'other.example.com' } });
      sent.on('response', (response) => response.once('data', (part) => resolve(String(part))));
      stop.signal.addEventListener('abort', () => sent.destroy());
      sent.on('error', () => {});
      sent.end('{"accounts":["a"]}');
    });
    stop.abort();
    expect(text).toBe('data: other {"accounts":["a"]}\n\n');
  });

  it('is refused without a good key, over a limit, with a bad query or another verb', async () => {
    await start({ maxUrlBytes: 200 }, keys);
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(server.url + path, init);
      return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
    };
    expect(await ask('/stream/sse')).toMatchObject({
      status: 401,
      body: { ok: false, error: 'API key does not exist' },
    });
    expect(await ask('/stream/sse?api_key=spent')).toMatchObject({ status: 429, retryAfter: '2' });
    expect(await ask(`/stream/sse?api_key=good&a=${'a'.repeat(300)}`)).toMatchObject({ status: 414 });
    expect(await ask('/stream/sse?api_key=good&%zz')).toMatchObject({ status: 422 });
    expect(await ask('/stream/sse?api_key=good&fail=early')).toMatchObject({ status: 422 });
    expect(await ask('/stream/sse', { method: 'DELETE' })).toMatchObject({ status: 405 });
    expect(await ask('/stream/sse?api_key=good', { method: 'POST', body: '{' })).toMatchObject({ status: 422 });
    expect(await ask('/stream/sse/more?api_key=good')).toMatchObject({ status: 404 });
    expect(await ask('/stream/sse?api_key=admin&fail=early')).toMatchObject({ status: 422 });
    expect(seen.map(({ keyId, group, isAdmin }) => [keyId, group, isAdmin])).toEqual([
      ['id1', 'mine', false],
      ['id2', null, true],
    ]);
    expect(await metrics.metrics()).toMatch(/rejected_total\{network="testing",reason="http\/rate-limit"\} 1/);
  });

  it('is cut when the route fails in the middle', async () => {
    await start();
    const response = await fetch(`${server.url}/stream/sse?fail=late`);
    await expect(response.text()).rejects.toThrow();
  });

  it('ends when the server shuts down', async () => {
    await start({ drainMs: 5_000 });
    const response = await fetch(`${server.url}/stream/sse`);
    const closed = server.close();
    expect(await response.text()).toBe('data: testing null\n\ndata: end\n\n');
    await closed;
    expect(ended[0]).toBe('http/shutting-down');
  });

  it('is bounded in number', async () => {
    await start({ maxConcurrent: 1 });
    const stop = new AbortController();
    await fetch(`${server.url}/stream/sse`, { signal: stop.signal });
    expect((await fetch(`${server.url}/stream/sse`)).status).toBe(503);
    stop.abort();
    await expect.poll(async () => (await fetch(`${server.url}/files/page.html`)).status).toBe(200);
  });

  it('is not counted as open when its client left before it was let in', async () => {
    let letIn: (decision: AccessDecision) => void = () => {};
    const allowed: AccessDecision = {
      ...{ kind: 'allowed', plan: 'plus', key: null, group: null, client: 'one', work: unlimitedWork },
    };
    let asked = 0;
    const access: Access = {
      check: () =>
        asked++ > 0
          ? allowed
          : new Promise((resolve) => {
              letIn = resolve;
            }),
    };
    await start({ maxConcurrent: 1 }, access);
    const stop = new AbortController();
    const left = fetch(`${server.url}/stream/sse`, { signal: stop.signal }).catch(() => 'left');
    await expect.poll(() => asked).toBe(1);
    stop.abort();
    expect(await left).toBe('left');
    await expect.poll(async () => metrics.getSingleMetricAsString('tern_http_connections')).toContain(' 0');
    letIn(allowed);
    await expect.poll(() => seen.map(({ signal }) => reasonOf(signal))).toEqual(['http/client-left']);
    expect((await fetch(`${server.url}/files/page.html`)).status).toBe(200);
  });
});

describe('a body that is left to its route', () => {
  it('is held until the route has answered', async () => {
    await start();
    const post = (query: string) =>
      fetch(`${server.url}/bytes${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/csv' },
        body: 'x'.repeat(50_000),
      });
    const held = async () => metrics.getSingleMetricAsString('tern_http_held_body_bytes');
    const [whole, failed] = [await post(''), await post('?fail=1')];
    expect([whole.status, await whole.text(), failed.status]).toEqual([200, '50000 of text/csv', 404]);
    await expect.poll(held).toMatch(/ 0$/);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /bytes HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n12345`);
    await expect.poll(held).toMatch(/ 5$/);
    socket.destroy();
    await expect.poll(held).toMatch(/ 0$/);
  });
});

describe('a WebSocket', () => {
  it('is opened with the network of its host, and counted', async () => {
    await start({}, keys);
    const socket = await open('/stream/ws?api_key=good', { host: 'other.example.com', 'X-Request-Id': 'my-id' });
    socket.send('hello');
    expect(await nextMessage(socket)).toBe('other: hello');
    expect(seen[0]).toMatchObject({ id: 'my-id', keyId: 'id1', group: 'mine', query: {} });
    expect(await counted('ws')).toEqual([
      expect.stringContaining('network="other",api="/stream/ws",endpoint="ws",status_class="1xx"'),
    ]);
    socket.close();
    await expect.poll(() => ended).toEqual(['http/client-left']);
  });

  it('pays for its messages from the budget of its client', async () => {
    let left = 10;
    const work: WorkBudget = {
      take: (units) => {
        left -= units;
        return left >= 0 ? { kind: 'allowed' } : { kind: 'limited', retryAfterMs: 900, limit: '10 work units' };
      },
      settle: () => {},
    };
    const budgeted: Access = {
      check: () => ({ kind: 'allowed', plan: 'plus', key: 'id1', group: null, client: 'one', work }),
    };
    await start({}, budgeted);
    const socket = await open('/stream/ws?api_key=good');
    const replies: string[] = [];
    for (const message of ['123456', '123456']) {
      socket.send(message);
      replies.push(await nextMessage(socket));
    }
    expect(replies).toEqual(['testing: 123456', expect.stringContaining('the budget of 10 work units is used up')]);
    socket.close();
  });

  it('goes on with work that was done for it once the budget of its client is not in debt', async () => {
    let asked = 0;
    const settled: [number, number][] = [];
    const work: WorkBudget = {
      take: (units) => {
        expect(units).toBe(0);
        return ++asked > 2 ? { kind: 'allowed' } : { kind: 'limited', retryAfterMs: 5, limit: '10 work units' };
      },
      settle: (taken, done) => settled.push([taken, done]),
    };
    const budgeted: Access = {
      check: () => ({ kind: 'allowed', plan: 'plus', key: 'id1', group: null, client: 'one', work }),
    };
    await start({}, budgeted);
    const socket = await open('/stream/ws?api_key=good');
    await seen[0]!.pace(3);
    expect([asked, settled]).toEqual([3, [[0, 3]]]);
    asked = Number.NEGATIVE_INFINITY;
    const endless = seen[0]!.pace(1);
    socket.close();
    await endless;
  });

  it('is refused with a status', async () => {
    await start({}, keys);
    await expect(open('/stream/ws')).rejects.toThrow('401 {"error":"API key does not exist","code":401}');
    await expect(open('/stream/ws?api_key=spent')).rejects.toThrow('429');
    await expect(open('/stream/other?api_key=good')).rejects.toThrow('404');
    await expect(open('/whole?api_key=good')).rejects.toThrow('201 whole');
    await expect(open('/stream/ws?api_key=good&fail=1')).rejects.toThrow('socket hang up');
    const plain = await fetch(`${server.url}/stream/ws?api_key=good`);
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
    // The server is as it was.
    const socket = await open('/stream/ws?api_key=good');
    socket.send('hello');
    expect(await nextMessage(socket)).toBe('testing: hello');
  });

  it('ends only its connection when it is pipelined behind a request that is not answered yet', async () => {
    await start();
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const first = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () =>
        socket.write(`${first}GET /stream/ws HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`),
      );
      socket.on('error', () => {});
      socket.once('close', () => resolve());
      socket.resume();
    });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('leaves requests alone that offer another protocol', async () => {
    await start();
    const body = '{"seqno":1}';
    const got = await new Promise<string>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () =>
        socket.write(
          `POST /api/v2/getBlock HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
            `HTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        ),
      );
      socket.once('data', (data) => {
        resolve(String(data));
        socket.destroy();
      });
    });
    expect(got).toMatch(/^HTTP\/1.1 200 OK/);
    expect(got).toContain('"seqno":1');
  });

  it('is closed when the server shuts down, whether or not the route does it', async () => {
    await start({ drainMs: 300 });
    const socket = await open('/stream/ws');
    const closed = new Promise<number>((resolve) => socket.once('close', resolve as (code: never) => void));
    await server.close();
    expect(await closed).toBe(1001);
    expect(ended).toEqual(['http/shutting-down']);
  });
});

describe('a file', () => {
  it('is given with its headers, and to HEAD without its content', async () => {
    await start();
    const response = await fetch(`${server.url}/files/page.html`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/html',
      '<p>hello</p>',
    ]);
    const head = await fetch(`${server.url}/files/page.html`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(await counted('files')).toHaveLength(1);
  });

  it('is not found elsewhere', async () => {
    await start();
    for (const path of ['/files/none.html', '/files/..%2f..%2fetc%2fpasswd', '/files/']) {
      expect((await fetch(server.url + path)).status, path).toBe(404);
    }
  });
});

describe('a route', () => {
  it('sends no large answers while those that clients do not take leave no room for them', async () => {
    await start({ maxHeldBytes: 2 ** 20 });
    const slow: ReturnType<typeof connect>[] = [];
    // On a busy machine one may be disconnected, as one that takes nothing, before the next request comes.
    const addSlow = () => {
      const socket = connect(server.port, '127.0.0.1').pause();
      socket.on('error', () => {});
      socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
      slow.push(socket);
    };
    const status = async (path: string) => {
      const response = await fetch(server.url + path);
      await response.text();
      return response.status;
    };
    const statusBesideSlow = () => {
      addSlow();
      return status('/large');
    };
    await expect.poll(statusBesideSlow).toBe(503);
    expect(await status('/whole')).toBe(201);
    for (const socket of slow) socket.destroy();
    await expect.poll(() => status('/large')).toBe(200);
  });

  it('may answer at once, and must answer', async () => {
    await start();
    const whole = await fetch(`${server.url}/whole`);
    expect([whole.status, await whole.text(), whole.headers.get('access-control-allow-origin')]).toEqual([
      201,
      'whole',
      '*',
    ]);
    expect((await fetch(`${server.url}/whole?silent=1`)).status).toBe(500);
  });
});
