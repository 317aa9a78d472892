import { connect } from 'node:net';
import { Type } from '@sinclair/typebox';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { endpointOf } from '#api/http/endpoint.js';
import type { HttpNetwork } from '#api/http/http-api.js';
import type { HttpOptions } from '#api/http/options.js';
import type { HttpServer } from '#api/http/server.js';
import { systemClock } from '#kernel/clock.js';
import type { Access, WorkBudget } from '#services/access/access.js';
import { fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

/** What the method works with. */
interface Context {
  readonly worked: (units: number) => void;
}

/** A method whose price is its limit, and which ends when the test says so. */
class Rows {
  readonly begun: number[] = [];
  readonly ends: (() => void)[] = [];

  network(): HttpNetwork {
    const endpoint = endpointOf<Context>()({
      name: 'getRows',
      verbs: ['GET', 'POST'],
      tag: 'Reads',
      summary: 'Rows',
      description: 'Rows.',
      params: Type.Object(
        { limit: Type.Integer({ minimum: 1 }), n: Type.Optional(Type.Integer()) },
        { additionalProperties: false },
      ),
      result: Type.String(),
      statuses: [],
      price: ({ limit }) => limit,
      freshness: 'none',
      handle: async ({ limit, n = limit }, { worked }) => {
        this.begun.push(n);
        if (n === 7) worked(30);
        if (limit > 5) await new Promise<void>((resolve) => void this.ends.push(resolve));
        return 'x'.repeat(n * 9_000);
      },
    });
    const api = { prefix: '/api/v2', title: '', version: '1', description: '', endpoints: [endpoint] } as const;
    return { ...fakeNetwork('testing', []), apis: [{ ...api, context: ({ worked }) => ({ worked }) }] };
  }
}

/** Budgets by key, which say what was taken and done. */
class Budgets implements Access {
  readonly said: string[] = [];

  check({ key }: { readonly key: string | null }) {
    const work: WorkBudget = {
      take: (units) => {
        this.said.push(`${key} takes ${units}`);
        if (key !== 'poor' || units < 10) return { kind: 'allowed' };
        return { kind: 'limited', retryAfterMs: 2_400, limit: '20 work units per second' };
      },
      settle: (taken, done) => void this.said.push(`${key} took ${taken} did ${Math.round(done)}`),
    };
    return { kind: 'allowed', plan: 'any', key, group: null, client: String(key), work } as const;
  }
}

let server: HttpServer;
afterEach(() => server.close());

/** Stands still for limits by time. */
const clock = { ...systemClock, now: () => 1_000 };

async function start(options: Partial<HttpOptions> = {}) {
  const rows = new Rows();
  const budgets = new Budgets();
  const metrics = new Registry();
  server = await startFakeServer(options, { access: budgets, networks: [rows.network()], metrics, clock });
  const get = (key: string, limit: number, n = limit) =>
    fetch(`${server.url}/api/v2/getRows?limit=${limit}&n=${n}`, { headers: { 'X-API-Key': key } });
  return { rows, budgets, metrics, get };
}

describe('a call with a price', () => {
  it('is refused with the budget that is used up and the time to wait', async () => {
    const { rows, get, budgets } = await start();
    const answer = await get('poor', 500);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('3');
    const error = 'the budget of 20 work units per second is used up; the request can be repeated in 3 s';
    expect(await answer.json()).toMatchObject({ ok: false, code: 429, error, result: error });
    expect(rows.begun).toEqual([]);
    expect(budgets.said).toEqual(['poor takes 500']);
    expect((await get('poor', 5)).status).toBe(200);
  });

  it('is settled by what was done: fewer rows, or more work', async () => {
    const { get, budgets, metrics } = await start();
    await get('a', 5, 2);
    await get('a', 5, 7);
    expect(budgets.said).toEqual(['a takes 5', 'a took 5 did 3', 'a takes 5', 'a took 5 did 35']);
    const text = await metrics.metrics();
    expect(text).toMatch(/tern_http_work_units_total\{network="testing",api="\/api\/v2",endpoint="getRows"\} 38/);
  });

  it('pays for a large body also when that will not be whole', async () => {
    const { budgets } = await start();
    const client = connect(server.port, '127.0.0.1');
    client.write('POST /api/v2/getRows HTTP/1.1\r\nHost: a\r\nX-API-Key: a\r\nContent-Length: 80000\r\n\r\n{');
    await expect.poll(() => budgets.said).toEqual(['a took 0 did 2']);
    client.destroy();
  });

  it('waits for its turn without delaying small ones, and the process answers about itself', async () => {
    const { rows, get } = await start({ maxWork: 1_000 });
    const large = [get('a', 900, 1), get('a', 900, 2), get('b', 900, 3)];
    await expect.poll(() => rows.begun).toEqual([1]);
    expect((await get('a', 3)).status).toBe(200);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(server.url + path)).status, path).toBe(200);
    }
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/tern_http_work_under_way_units 900/);
    for (let i = 0; i < 3; i++) {
      await expect.poll(() => rows.ends.length).toBe(i + 1);
      rows.ends[i]!();
    }
    for (const answer of await Promise.all(large)) expect(answer.status).toBe(200);
    expect(rows.begun).toEqual([1, 3, 3, 2]);
  });

  it('that may not wait gets 503 with Retry-After, and its price back', async () => {
    const { rows, get, budgets } = await start({ maxWork: 1_000, maxWaiting: 0 });
    const first = get('a', 900, 1);
    await expect.poll(() => rows.begun).toEqual([1]);
    const second = await get('b', 900, 2);
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await second.json()).toMatchObject({ error: expect.stringContaining('too many large requests') });
    expect(budgets.said).toContain('b took 900 did 0');
    rows.ends[0]!();
    expect((await first).status).toBe(200);
  });
});

describe('pages beside the APIs', () => {
  it('are limited for each address, and the health of the process is not', async () => {
    await start({ maxPagesPerSecond: 2 });
    const statuses = async (path: string, times: number) => {
      const answers = [];
      for (let i = 0; i < times; i++) answers.push((await fetch(server.url + path)).status);
      return answers;
    };
    const asked = await statuses('/metrics', 8);
    expect(asked).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
    expect(await statuses('/healthz', 8)).toEqual(new Array(8).fill(200));
    expect(await statuses('/readyz', 8)).toEqual(new Array(8).fill(200));
  });

  it('are sent compressed as the client accepts, and read once', async () => {
    await start({ maxPagesPerSecond: 100 });
    for (const path of ['/metrics', '/api/v2/openapi.json']) {
      const get = async (encoding: string) => {
        const answer = await fetch(server.url + path, { headers: { 'Accept-Encoding': encoding } });
        return { encoding: answer.headers.get('content-encoding'), text: await answer.text() };
      };
      const plain = await get('identity');
      expect(plain.encoding, path).toBeNull();
      expect(await get('gzip, deflate'), path).toEqual({ encoding: 'gzip', text: plain.text });
      expect(await get('gzip, br;q=0.5'), path).toEqual({ encoding: 'br', text: plain.text });
      expect((await get('br;q=0, gzip;q=0.0')).encoding, path).toBeNull();
    }
  });
});
