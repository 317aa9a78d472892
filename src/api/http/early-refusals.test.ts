import { afterEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { type Clock, systemClock } from '#kernel/clock.js';
import { type Access, type AccessRequest, unlimitedWork } from '#services/access/access.js';
import { startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer;
afterEach(() => server.close());

const FREE = { kind: 'allowed', plan: 'free', key: 'id', group: null, client: 'one', work: unlimitedWork } as const;

/** Limits the key `spent` and clients without a key; counts what it is asked, and what is refused without being asked. */
class CountingAccess implements Access {
  readonly asked: AccessRequest[] = [];
  again = 0;

  check(question: AccessRequest) {
    this.asked.push(question);
    if (question.key === 'good') return FREE;
    const again = (): void => {
      this.again++;
    };
    return { kind: 'limited', retryAfterMs: 700, limit: '1 request per second', again } as const;
  }
}

async function start() {
  const access = new CountingAccess();
  let now = 1_000;
  const clock: Clock = { now: () => now, schedule: systemClock.schedule };
  server = await startFakeServer({}, { access, clock });
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${server.url}${path}`, {
      headers,
      method,
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const advance = (ms: number): void => {
    now += ms;
  };
  return { access, advance, ask };
}

describe('a request beyond a rate', () => {
  it('is refused again without being read, and counted, until it is time', async () => {
    const { access, advance, ask } = await start();
    const first = await ask('/api/v2/getHead');
    const second = await ask('/api/v2/getHead?x=1');
    for (const { status, headers } of [first, second]) {
      expect(status).toBe(429);
      expect(headers.get('retry-after')).toBe('1');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('x-api-version')).toBe(first.headers.get('x-api-version'));
    }
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    const { '@extra': _, ...body } = JSON.parse(first.text);
    expect(JSON.parse(second.text)).toMatchObject(body);
    expect([access.asked.length, access.again]).toEqual([1, 1]);
    advance(701);
    await ask('/api/v2/getHead');
    expect([access.asked.length, access.again]).toEqual([2, 1]);
  });

  it('does not stand for those of another key, path, verb or form', async () => {
    const { access, ask } = await start();
    await ask('/api/v2/getHead');
    const others: [string, Record<string, string>, string][] = [
      ['/api/v2/getHead', { 'x-api-key': 'good' }, 'GET'],
      ['/api/v2/getHead?api_key=good', {}, 'GET'],
      ['/api/v2/getHead?api%5Fkey=good', {}, 'GET'],
      ['/api/v2/getBlock?seqno=1', {}, 'GET'],
      ['/api/v2/getHead', {}, 'POST'],
      ['/api/v2/getHead', { 'x-tern-profile': 'toncenter' }, 'GET'],
      ['/toncenter/api/v2/getHead', {}, 'GET'],
      ['/api/v2/getHead?@extra=mine', {}, 'GET'],
    ];
    for (const [path, headers, method] of others) await ask(path, headers, method);
    expect([access.asked.length, access.again]).toEqual([1 + others.length, 0]);
    expect((await ask('/healthz')).status).toBe(200);
  });
});
