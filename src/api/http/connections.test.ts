import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lookup } from 'node:dns/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RawRoute } from '#api/http/http-api.js';
import type { HttpOptions } from '#api/http/options.js';
import type { HttpServer } from '#api/http/server.js';
import { type FakeWorld, startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer & { readonly world: FakeWorld };
let metrics: Registry;
const clients = new Set<Client>();
afterEach(async () => {
  for (const client of clients) client.socket.destroy();
  clients.clear();
  server.world.release();
  await server.close();
});

const HUGE = Buffer.alloc(32 * 2 ** 20, 0x78);

const rawRoutes: readonly RawRoute[] = [
  {
    path: '/huge',
    name: 'huge',
    verbs: ['GET'],
    handle: (_, reply) => reply.send(200, { 'Content-Type': 'a/b' }, HUGE),
  },
  {
    path: '/events',
    name: 'events',
    verbs: ['GET'],
    handle: (_, reply) => {
      const stream = reply.stream(200, { 'Content-Type': 'text/event-stream' });
      for (let i = 0; i < 32; i++) stream.write(HUGE.subarray(0, 2 ** 20));
    },
  },
  {
    path: '/socket',
    name: 'socket',
    verbs: ['GET'],
    upgrade: (_, { socket }) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.write(HUGE);
    },
  },
];

async function start(options: Partial<HttpOptions> = {}): Promise<void> {
  metrics = new Registry();
  server = await startFakeServer({ lingerMs: 20, ...options }, { rawRoutes, metrics });
}

/** A client that does what it is told, and keeps its side of the connection open. */
class Client {
  readonly socket: Socket;
  got = '';
  /** Whether the server has ended or closed the connection. */
  isEnded = false;

  constructor(host = '127.0.0.1') {
    this.socket = connect({ port: server.port, host, allowHalfOpen: true });
    const end = () => {
      this.isEnded = true;
    };
    this.socket
      .on('error', () => {})
      .on('end', end)
      .on('close', end);
    clients.add(this);
  }

  write(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  read(): this {
    this.socket.on('data', (chunk) => {
      this.got += chunk.toString('latin1');
    });
    return this;
  }

  /** Statuses of the answers so far. */
  get statuses(): number[] {
    return [...this.got.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  }
}

const send = (text: string | Buffer) => new Client().read().write(text);
const post = (body: string, length = body.length) =>
  `POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const WAIT = '/api/v2/getBlock?wait=1&seqno=';

async function metric(name: string): Promise<number> {
  const text = await metrics.metrics();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}
const closedFor = (reason: string) => metric(`tern_http_closed_connections_total{reason="${reason}"}`);

/** The server has no connection, and holds nothing for one. */
async function nobodyIsConnected(): Promise<void> {
  await expect.poll(() => metric('tern_http_connections')).toBe(0);
  expect(await metric('tern_http_open_bodies')).toBe(0);
  expect(await metric('tern_http_held_body_bytes')).toBe(0);
}

describe('a client that keeps its side open is disconnected', () => {
  // Long enough for what is sent at once, also while other tests use the processors.
  const times = { headersTimeoutMs: 500, requestTimeoutMs: 1_000 };

  it('when it sends nothing', async () => {
    await start(times);
    const all = Array.from({ length: 20 }, () => new Client().read());
    await nobodyIsConnected();
    await expect.poll(() => all.every(({ statuses }) => statuses[0] === 408)).toBe(true);
  });

  it('when it sends half of the headers', async () => {
    await start(times);
    const client = send('GET /api/v2/getHead HTTP/1.1\r\nHost: ');
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.statuses).toEqual([408]);
    await nobodyIsConnected();
  });

  it('when it sends half of the headers after an answer', async () => {
    await start(times);
    const client = send(get('/healthz'));
    await expect.poll(() => client.statuses).toEqual([200]);
    client.write('GET /healthz HTTP/1.1\r\n');
    await expect.poll(() => client.statuses).toEqual([200, 408]);
    await nobodyIsConnected();
  });

  it('when it sends half of a body', async () => {
    await start(times);
    const client = send(post('{', 1_000));
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.statuses).toEqual([408]);
    expect(client.got).toMatch(/x-request-id: \S+[\s\S]*"error":"the request did not come in time"/i);
    await nobodyIsConnected();
  });

  it('when a body does not come on', async () => {
    await start({ stallMs: 40 });
    const client = send(post('{', 1_000));
    await expect.poll(() => client.statuses).toEqual([408]);
    await nobodyIsConnected();
  });

  it('when it sends half of a body that nobody reads', async () => {
    await start(times);
    const refused = send(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{`);
    const ignored = send(`GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{`);
    await expect.poll(() => [refused.statuses[0], ignored.statuses[0]]).toEqual([404, 200]);
    await nobodyIsConnected();
  });

  it('when it sends a large body that is refused, of which no more is read', async () => {
    await start({ lingerMs: 1_000 });
    const client = send(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${HUGE.length}\r\n\r\n`).write(HUGE);
    await expect.poll(() => client.statuses).toEqual([404]);
    expect(client.got).toMatch(/connection: close/i);
    await nobodyIsConnected();
    expect(await closedFor('lingering')).toBe(1);
  });

  it('and not when its large body was received', async () => {
    await start();
    const client = send(post(`{}${' '.repeat(20_000)}`));
    await expect.poll(() => client.statuses).toEqual([200]);
    client.write(post(`{}${' '.repeat(100_000)}`)).write(post('{}'));
    await expect.poll(() => client.statuses).toEqual([200, 200, 200]);
    expect([client.isEnded, client.got.toLowerCase().includes('connection: close')]).toEqual([false, false]);
  });

  it('and a client that goes on after a refused body gets all its answers', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string, body: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request({ agent, port: server.port, method: 'POST', path }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode!));
        });
        sent.on('error', reject).end(body);
      });
    const large = `{}${' '.repeat(60_000)}`;
    for (let i = 0; i < 20; i++) {
      expect(await ask('/nowhere', large)).toBe(404);
      expect(await ask('/api/v2/getHead', i % 2 === 0 ? large : '{}')).toBe(200);
    }
    agent.destroy();
  });

  it('when it half-closes in the middle of a request', async () => {
    await start();
    const requests = ['GET /healthz HTTP/1.1\r\n', post('{', 1_000), get(`${WAIT}9`), ''];
    for (const request of requests) {
      const client = new Client().read();
      client.socket.end(request);
      await expect.poll(() => client.isEnded, { message: request }).toBe(true);
    }
    await nobodyIsConnected();
  });

  it('when it sends empty lines in place of requests', async () => {
    await start({ keepAliveMs: 500, headersTimeoutMs: 500, stallMs: 500 });
    const client = send(get('/healthz'));
    await expect.poll(() => client.statuses).toEqual([200]);
    client.write('\r\n');
    await expect.poll(() => client.isEnded).toBe(true);
    await nobodyIsConnected();
  });

  it('when it is idle', async () => {
    await start({ keepAliveMs: 30 });
    const client = send(get('/healthz'));
    await expect.poll(() => client.isEnded).toBe(true);
    await nobodyIsConnected();
  });

  it('when it asked for an upgrade that is refused', async () => {
    await start();
    const refused = send('GET /socket?%zz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await expect.poll(() => refused.isEnded).toBe(true);
    expect(refused.statuses).toEqual([422]);
    await nobodyIsConnected();
  });

  for (const path of ['/huge', '/events', '/socket']) {
    it(`when it does not read ${path}`, async () => {
      await start({ stallMs: 40 });
      const upgrade = path === '/socket' ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : '';
      new Client().write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
      await expect.poll(() => closedFor('answer-not-read')).toBe(1);
      await nobodyIsConnected();
    });
  }

  it('and one that reads is not', async () => {
    await start({ stallMs: 1_000 });
    const response = await fetch(`${server.url}/huge`);
    expect((await response.arrayBuffer()).byteLength).toBe(HUGE.length);
    expect(await closedFor('answer-not-read')).toBe(0);
  });
});

describe('bodies that do not end', () => {
  it('keep nobody out: the one that is open longest is given up', async () => {
    await start({ maxBodiesBytes: 2_000 });
    const slow = [1, 2].map(() => send(post(' '.repeat(900), 1_000)));
    await expect.poll(() => metric('tern_http_held_body_bytes')).toBe(1_800);
    const answered = await fetch(`${server.url}/api/v2/getHead`, { method: 'POST', body: `{}${' '.repeat(600)}` });
    expect(answered.status).toBe(200);
    await expect.poll(() => slow.map(({ statuses }) => statuses)).toEqual([[503], []]);
  });

  it('are limited for each client', async () => {
    await start({ maxBodiesPerAddress: 2, trustProxy: ['127.0.0.1'] });
    const ask = (address: string, body = '{}') =>
      fetch(`${server.url}/api/v2/getHead`, { method: 'POST', body, headers: { 'x-forwarded-for': address } });
    const begin = (address: string) =>
      send(post('{', 100).replace('\r\n\r\n', `\r\nX-Forwarded-For: ${address}\r\n\r\n`));
    for (const [own, same, other] of [
      ['203.0.113.7', '203.0.113.7', '203.0.113.8'],
      ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'],
    ] as const) {
      const open = await metric('tern_http_open_bodies');
      begin(own);
      begin(own);
      await expect.poll(() => metric('tern_http_open_bodies')).toBe(open + 2);
      const refused = await ask(same);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await ask(other)).status).toBe(200);
    }
  });

  it('and come in tiny pieces are refused', async () => {
    await start();
    const begin = 'POST /api/v2/getEverything HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const tiny = send(begin + '1\r\n \r\n'.repeat(3_000));
    await expect.poll(() => tiny.statuses).toEqual([413]);
    const body = `{"even":"${'x'.repeat(60_000)}"}`;
    const small = send(
      `${begin}${body.replace(/.{1,100}/g, (part) => `${part.length.toString(16)}\r\n${part}\r\n`)}0\r\n\r\n`,
    );
    await expect.poll(() => small.statuses).toEqual([200]);
    expect(small.got).toContain('"even":60000');
  });
});

describe('connections', () => {
  it('of one address are limited; an idle one makes room', async () => {
    await start({ maxConnectionsPerAddress: 3 });
    const [idle, ...busy] = [send(get('/healthz')), send(get(`${WAIT}8`)), send(get(`${WAIT}9`))];
    await expect.poll(() => [idle!.statuses.length, server.world.worked.length]).toEqual([1, 2]);
    const third = send(get(`${WAIT}10`));
    await expect.poll(() => server.world.worked.length).toBe(3);
    expect(idle!.isEnded).toBe(true);
    const refused = send(get('/healthz'));
    await expect.poll(() => refused.isEnded).toBe(true);
    expect(refused.got).toBe('');
    server.world.release();
    await expect.poll(() => [...busy, third].map(({ statuses }) => statuses)).toEqual([[200], [200], [200]]);
    expect([await closedFor('made-room'), await closedFor('address-full')]).toEqual([expect.any(Number), 1]);
  });

  it('are bounded on all addresses of the host', async () => {
    await start({ host: 'localhost', headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const hosts = (await lookup('localhost', { all: true })).map(({ address }) => address);
    const all = hosts.map((host) => new Client(host).read().write('GET /healthz HTTP/1.1\r\n'));
    await expect.poll(() => all.every(({ statuses }) => statuses[0] === 408)).toBe(true);
    await nobodyIsConnected();
  });

  it('of trusted proxies are not', async () => {
    await start({ maxConnectionsPerAddress: 1, trustProxy: ['127.0.0.0/8'] });
    const all = [1, 2, 3].map((seqno) => send(get(`${WAIT}${seqno}`)));
    await expect.poll(() => server.world.worked.length).toBe(3);
    server.world.release();
    await expect.poll(() => all.every(({ statuses }) => statuses[0] === 200)).toBe(true);
  });

  it('are limited all together', async () => {
    await start({ maxConnections: 2 });
    const busy = [8, 9].map((seqno) => send(get(`${WAIT}${seqno}`)));
    await expect.poll(() => server.world.worked.length).toBe(2);
    const refused = send(get('/healthz'));
    await expect.poll(() => refused.isEnded).toBe(true);
    server.world.release();
    await expect.poll(() => busy.every(({ statuses }) => statuses[0] === 200)).toBe(true);
    expect(await closedFor('server-full')).toBe(1);
  });
});

describe('pipelined', () => {
  it('garbage does not answer the request before it', async () => {
    await start();
    for (const [i, garbage] of [
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
      '\u0000\u0001\r\n',
    ].entries()) {
      const before = server.world.worked.length;
      const client = send(get(`/api/v2/getBlock?seqno=${20 + i}`) + get(`${WAIT}${30 + i}`) + garbage);
      await expect.poll(() => server.world.worked.length).toBe(before + 2);
      client.write(garbage);
      if (i === 0) server.world.release();
      await expect.poll(() => client.isEnded, { message: garbage.slice(0, 10) }).toBe(true);
      expect(client.statuses).toEqual([200, 200, garbage.length > 60_000 ? 431 : 400]);
    }
    await nobodyIsConnected();
  });

  it('garbage in a body is the answer to that request', async () => {
    await start();
    const chunked = 'POST /api/v2/getHead HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
    const client = send(get(`${WAIT}9`) + chunked + get('/healthz'));
    await expect.poll(() => server.world.worked.length).toBe(1);
    server.world.release();
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.statuses).toEqual([200, 400]);
    await nobodyIsConnected();
  });

  it('a request that comes too slowly does not, either', async () => {
    await start({ headersTimeoutMs: 500, requestTimeoutMs: 1_000 });
    const client = send(get(`${WAIT}9`));
    await expect.poll(() => server.world.worked.length).toBe(1);
    client.write('GET /healthz HTTP/1.1\r\n');
    await expect.poll(() => closedFor('bad-request')).toBe(1);
    expect(client.got).toBe('');
    server.world.release();
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.statuses).toEqual([200, 408]);
  });

  it('requests are limited', async () => {
    await start({ maxPipelined: 3 });
    const client = send([1, 2, 3, 4, 5].map((seqno) => get(`${WAIT}${seqno}`)).join(''));
    await expect.poll(() => server.world.worked.length).toBe(1);
    server.world.release();
    await expect.poll(() => client.statuses).toEqual([200, 200, 200, 503]);
    await nobodyIsConnected();
  });

  it('what follows a refused request is not parsed, however much it is', async () => {
    await start({ maxPipelined: 3 });
    let parsed = 0;
    const count = (): void => {
      parsed++;
    };
    subscribe('http.server.request.start', count);
    onTestFinished(() => void unsubscribe('http.server.request.start', count));
    const client = send(Array.from({ length: 5_000 }, (_, i) => get(`${WAIT}${i + 1}`)).join(''));
    await expect.poll(() => closedFor('too-many-requests')).toBe(1);
    await expect.poll(() => server.world.worked.length).toBe(1);
    server.world.release();
    await expect.poll(() => client.statuses).toEqual([200, 200, 200, 503]);
    await nobodyIsConnected();
    // The one that is refused, too.
    expect(parsed).toBe(4);
  });

  it('large answers before a refusal come whole', async () => {
    await start({ maxPipelined: 3 });
    const client = new Client().write(get('/huge') + [1, 2, 3, 4, 5].map((seqno) => get(`${WAIT}${seqno}`)).join(''));
    await expect.poll(() => closedFor('too-many-requests')).toBe(1);
    client.read();
    await expect.poll(() => server.world.worked.length).toBe(1);
    server.world.release();
    await expect.poll(() => client.isEnded).toBe(true);
    expect(client.statuses).toEqual([200, 200, 200, 503]);
    expect(client.got.length).toBeGreaterThan(HUGE.length);
    await nobodyIsConnected();
  });

  it('a refused connection may be reset, and ends when its answers are not read', async () => {
    await start({ maxPipelined: 3, stallMs: 100 });
    const requests = get('/huge') + Array.from({ length: 30 }, (_, i) => get(`${WAIT}${i + 1}`)).join('');
    const reset = new Client().write(requests);
    new Client().write(requests);
    await expect.poll(() => closedFor('too-many-requests')).toBe(2);
    reset.socket.resetAndDestroy();
    await nobodyIsConnected();
    // On a slow machine the first one, too, before it is reset.
    expect(await closedFor('answer-not-read')).toBeGreaterThanOrEqual(1);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('requests are worked on one after the other, as their answers are taken', async () => {
    await start();
    const client = new Client().write(get('/huge') + get('/api/v2/getBlock?seqno=8'));
    await expect.poll(() => client.socket.readableLength).toBeGreaterThan(0);
    await fetch(`${server.url}/healthz`);
    expect(server.world.worked).toEqual([]);
    client.read();
    await expect.poll(() => server.world.worked).toEqual(['getBlock 8']);
  });

  it('requests of a client that left are cancelled, or not started', async () => {
    await start();
    const client = send([8, 9, 10].map((seqno) => get(`${WAIT}${seqno}`)).join(''));
    await expect.poll(() => server.world.worked.length).toBe(1);
    client.socket.destroy();
    await expect.poll(() => server.world.aborted).toBe(1);
    server.world.release();
    await fetch(`${server.url}/healthz`);
    expect(server.world.worked).toEqual(['getBlock 8']);
  });
});

describe('the host of a request', () => {
  it('is given once, and is that of the target', async () => {
    await start();
    const rows: readonly [string, number][] = [
      ['GET /healthz HTTP/1.1\r\nHost: a\r\n', 200],
      ['GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 400],
      ['GET /healthz HTTP/1.1\r\nhost: a\r\nHOST: a\r\n', 400],
      ['GET /healthz HTTP/1.1\r\n', 400],
      ['GET /healthz HTTP/1.0\r\n', 200],
      ['GET http://a/healthz HTTP/1.1\r\nHost: a\r\n', 200],
      ['GET HTTP://A:80/api/v2/getHead?x=1 HTTP/1.1\r\nHost: a\r\n', 422],
      ['GET https://a:443/api/v2/getHead HTTP/1.1\r\nHost: a\r\n', 200],
      ['GET http://a:81/healthz HTTP/1.1\r\nHost: a\r\n', 400],
      ['GET http://b/healthz HTTP/1.1\r\nHost: a\r\n', 400],
      ['GET http://a@b/healthz HTTP/1.1\r\nHost: a\r\n', 400],
      ['GET http://a HTTP/1.1\r\nHost: a\r\n', 404],
      ['GET http:// HTTP/1.1\r\nHost: a\r\n', 404],
      ['POST http://b/api/v2/getHead HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n', 400],
      ['GET http://b/nowhere HTTP/1.1\r\nHost: a\r\n', 400],
    ];
    for (const [request, status] of rows) {
      const client = send(`${request}\r\n`);
      await expect.poll(() => client.statuses, { message: request }).toEqual([status]);
      if (status >= 400) expect(client.got, request).toContain(`"code":${status}`);
    }
  });
});
