import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { DailyQuota, type LimitRequest, LocalLimiter } from '#services/access/limits.js';
import { checkRedisUrl, RedisLimiter } from '#services/access/redis-limiter.js';
import { errorOf } from '#test/support/error-code.js';

// What it does with a real Redis is checked by `npm run interop`.

const limits = { requests_per_second: 0.001, burst: 3, daily_quota: 100, work_per_second: 0.001, work_burst: 30 };
const question: LimitRequest = { subject: 'key a mainnet', isAddress: false, limits };

let said: string[];
let limiter: RedisLimiter | null;

beforeEach(() => {
  said = [];
  limiter = null;
});
afterEach(() => limiter?.close());

function connect(port: number): RedisLimiter {
  const quota = new DailyQuota({ unixTimeMs: Date.now });
  const fallback = new LocalLimiter({ maxAddresses: 10, maxKeys: 10 }, { clock: systemClock, quota });
  const logger = { info: (text: string) => void said.push(text), warn: (text: string) => void said.push(text) };
  limiter = new RedisLimiter({ url: `redis://127.0.0.1:${port}` }, { clock: systemClock, logger, quota, fallback });
  return limiter;
}

async function listen(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => onSocket(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function passes(times: number): Promise<{ passed: number; medianMs: number }> {
  let passed = 0;
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    if ((await limiter!.take(question)).passed) passed++;
    took.push(performance.now() - start);
  }
  return { passed, medianMs: took.sort((a, b) => a - b)[times >> 1]! };
}

describe('without a Redis that answers', () => {
  it('each process counts on its own, at once, and the log says so once', async () => {
    const server = await listen(() => {});
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    connect(port);
    expect(limiter!.metrics).toEqual({ up: false, checks: 0, fallbacks: 0, outages: 0 });
    await expect.poll(() => said.length).toBe(1);
    expect(await passes(50)).toMatchObject({ passed: 3 });
    expect(limiter!.metrics).toEqual({ up: false, checks: 0, fallbacks: 50, outages: 0 });
    expect(said).toEqual(['Redis does not answer: each process counts its own requests until it is back']);
  });

  it('a server that says nothing holds nobody up', async () => {
    const sockets: Socket[] = [];
    const server = await listen((socket) => void sockets.push(socket));
    connect((server.address() as AddressInfo).port);
    await expect.poll(() => sockets.length).toBe(1);
    const { passed, medianMs } = await passes(50);
    expect(passed).toBe(3);
    expect(medianMs).toBeLessThan(50);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('work is counted in this process', async () => {
    connect(1);
    expect(limiter!.takeWork(question, 20)).toEqual({ passed: true });
    expect(limiter!.takeWork(question, 20)).toMatchObject({ passed: false, by: 'work' });
    limiter!.settleWork(question, -20);
    expect(limiter!.takeWork(question, 20)).toEqual({ passed: true });
  });

  it('a request with nothing to count asks nobody', () => {
    connect(1);
    const unlimited = { ...limits, requests_per_second: null, daily_quota: null, work_per_second: null };
    expect(limiter!.take({ ...question, limits: unlimited })).toEqual({ passed: true });
    expect(limiter!.takeWork({ ...question, limits: unlimited }, 1e6)).toEqual({ passed: true });
    expect(limiter!.metrics.fallbacks).toBe(0);
  });
});

/** Answers a script as written; after `hang` it answers nothing until `goOn`. */
async function redisThatAnswers(script: string): Promise<{ server: Server; port: number; hang(): void; goOn(): void }> {
  let isHanging = false;
  let late: (() => void)[] = [];
  const hang = (): void => {
    isHanging = true;
  };
  const goOn = (): void => {
    isHanging = false;
    for (const answer of late) answer();
    late = [];
  };
  const server = await listen((socket) => {
    socket.on('data', (bytes) => {
      for (const command of bytes
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        const name = command.split('\r\n')[1]!.toLowerCase();
        const answer = (): void => {
          if (name === 'info') socket.write('$19\r\nredis_version:7.2.0\r\n');
          else socket.write(name.startsWith('eval') ? script : '+OK\r\n');
        };
        if (isHanging) late.push(answer);
        else answer();
      }
    });
  });
  return { server, port: (server.address() as AddressInfo).port, hang, goOn };
}

describe('when Redis stops answering', () => {
  it.each([
    ['the burst was taken', '*4\r\n:1\r\n$1\r\n0\r\n:0\r\n$11\r\n3000000.000\r\n', true],
    ['the rate refused', '*3\r\n:0\r\n$9\r\n60000.000\r\n:0\r\n', false],
  ])('the process goes on from what was left, not from a full burst: %s', async (_name, answer, passed) => {
    const { server, port, hang } = await redisThatAnswers(answer);
    connect(port);
    const isUp = async () => {
      await limiter!.take({ ...question, subject: 'key other' });
      return limiter!.metrics.up;
    };
    await expect.poll(isUp).toBe(true);
    expect((await limiter!.take(question)).passed).toBe(passed);
    hang();
    expect((await passes(20)).passed).toBe(0);
    expect((await limiter!.take({ ...question, subject: 'key of nobody yet' })).passed).toBe(true);
    limiter!.close();
    server.close();
  });
});

it('work alone finds out that Redis answers again', async () => {
  const { server, port, hang, goOn } = await redisThatAnswers('*2\r\n:1\r\n$1\r\n0\r\n');
  connect(port);
  const ofWork = { ...limits, requests_per_second: null, daily_quota: null, work_per_second: 1_000, work_burst: 1_000 };
  const isUp = async (units: number) => {
    await limiter!.takeWork({ ...question, limits: ofWork }, units);
    return limiter!.metrics.up;
  };
  await expect.poll(() => isUp(20)).toBe(true);
  hang();
  await expect.poll(() => isUp(20)).toBe(false);
  goOn();
  await expect.poll(() => isUp(1)).toBe(true);
  expect(limiter!.metrics.outages).toBe(1);
  limiter!.close();
  server.close();
});

describe('the URL', () => {
  it.each(['redis://127.0.0.1', 'redis://user:secret@host:6380/2', 'rediss://host'])('may be %s', (url) => {
    expect(checkRedisUrl(url)).toBe(url);
  });

  it.each([
    ['localhost', 'is not a URL'],
    ['http://secret@host', 'begins with http:'],
    ['redis://', 'names no host'],
    ['', 'is not a URL'],
  ])('may not be "%s"', (url, problem) => {
    const error = errorOf(() => checkRedisUrl(url));
    expect(error.code).toBe('access/redis-url');
    expect(error.message).toBe(`the URL of Redis ${problem}`);
  });
});
