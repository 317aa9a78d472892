import { afterEach, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { type Access, type AccessDecision, unlimitedWork } from '#services/access/access.js';
import { FakeWorld, fakeApi, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const rate = { limit: 10, remaining: 4, resetMs: 1_200, windowMs: 1_000 };
const decisions: Readonly<Record<string, AccessDecision>> = {
  good: { kind: 'allowed', plan: 'free', key: 'id', group: null, client: 'one', work: unlimitedWork, rate },
  free: { kind: 'allowed', plan: 'unlimited', key: 'id', group: null, client: 'one', work: unlimitedWork },
  admin: { kind: 'allowed', plan: 'free', key: 'id', group: null, client: 'one', work: unlimitedWork, isAdmin: true },
  spent: {
    kind: 'limited',
    retryAfterMs: 300,
    limit: '10 requests per second',
    rate: { ...rate, remaining: 0 },
    again: () => {},
  },
  lost: { kind: 'keys-unavailable' },
};
const access: Access = { check: ({ key }) => decisions[key ?? 'free']! };

async function ask(path: string, key: string) {
  const { status, headers } = await fetch(`${server!.url}${path}`, { headers: { 'x-api-key': key } });
  const of = (name: string) => headers.get(`ratelimit-${name}`);
  return { status, rate: [of('limit'), of('remaining'), of('reset'), of('policy')], retry: headers.get('retry-after') };
}

it('says on every answer how much of a limit is left: fresh, kept and failed ones, and refusals, also from memory', async () => {
  server = await startFakeServer({}, { access });
  const left = ['10', '4', '2', '10;w=1'];
  for (const path of ['/api/v2/getHead', '/api/v2/getHead', '/api/v2/fail?how=broken', '/api/v2/getHead?x=1']) {
    expect((await ask(path, 'good')).rate, path).toEqual(left);
  }
  const refusals = [await ask('/api/v2/getHead', 'spent'), await ask('/api/v2/getHead', 'spent')];
  for (const refused of refusals) {
    expect(refused).toEqual({ status: 429, rate: ['10', '0', '2', '10;w=1'], retry: '1' });
  }
  expect((await ask('/api/v2/getHead', 'free')).rate).toEqual([null, null, null, null]);
});

it('lets pages of any origin read how long they shall wait, also from memory', async () => {
  server = await startFakeServer({}, { access });
  const url = `${server.url}/api/v2/getHead`;
  for (let i = 0; i < 3; i++) {
    const { status, headers } = await fetch(url, { headers: { 'x-api-key': 'spent' } });
    expect(status).toBe(429);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toMatch(/Retry-After.*RateLimit-Reset/);
  }
});

it('answers 503 while keys cannot be checked', async () => {
  server = await startFakeServer({}, { access });
  expect(await ask('/api/v2/getHead', 'lost')).toMatchObject({ status: 503, retry: '1' });
});

it('opens an API for admins to admin keys only', async () => {
  const world = new FakeWorld();
  const network = { ...fakeNetwork('testing', [], world), apis: [{ ...fakeApi(world), clients: 'admin' as const }] };
  server = await startFakeServer({}, { access, networks: [network] });
  expect((await ask('/api/v2/getHead', 'good')).status).toBe(403);
  expect((await ask('/api/v2/getHead', 'admin')).status).toBe(200);
});
