import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FreshnessWaits } from '#api/http/min-seqno.js';
import type { HttpServer } from '#api/http/server.js';
import { systemClock } from '#kernel/clock.js';
import { FakeWorld, fakeApi, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';

/** Two servers of one chain, one of which lags: it knows a block later. */
const heads = { leader: 10, laggard: 10 };
const servers: Partial<Record<keyof typeof heads, HttpServer>> = {};

async function startWith(name: keyof typeof heads): Promise<HttpServer> {
  const world = new FakeWorld();
  Object.defineProperty(world, 'head', { get: () => heads[name] });
  const network = fakeNetwork('testing', [], world);
  const api = { ...fakeApi(world), freshness: () => ({ mcSeqno: heads[name], lagMs: 7 }) };
  return startFakeServer({ deadlineMs: 400 }, { networks: [{ ...network, apis: [api] }] });
}

beforeAll(async () => {
  for (const name of ['leader', 'laggard'] as const) servers[name] = await startWith(name);
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

async function ask(of: keyof typeof heads, seqno: string, how: 'header' | 'query' = 'header') {
  const query = how === 'query' ? `?min_mc_seqno=${seqno}` : '';
  const headers = how === 'header' ? { 'X-Tern-Min-Seqno': seqno } : {};
  const response = await fetch(`${servers[of]!.url}/api/v2/getHead${query}`, { headers });
  const body = (await response.json()) as { readonly result?: unknown; readonly error?: string };
  return { status: response.status, seqno: Number(response.headers.get('x-tern-mc-seqno')), body };
}

describe('a request that names a masterchain block', () => {
  it('is answered at once when the data include it', async () => {
    const { status, seqno } = await ask('leader', '10');
    expect([status, seqno]).toEqual([200, 10]);
  });

  it.each(['header', 'query'] as const)('waits for it, as a %s', async (how) => {
    const waiting = ask('laggard', String(heads.laggard + 1), how);
    setTimeout(() => heads.laggard++, 50);
    const { status, seqno } = await waiting;
    expect(status).toBe(200);
    expect(seqno).toBe(heads.laggard);
  });

  it('is refused when its time is over, with how far the data are', async () => {
    const { status, seqno, body } = await ask('laggard', String(heads.laggard + 5));
    expect([status, seqno]).toEqual([409, heads.laggard]);
    expect(body.error).toContain(`block ${heads.laggard}, 5 before the wanted block ${heads.laggard + 5}`);
    expect(body.error).toContain('7 ms behind');
  });

  it('is refused without waiting when the block is out of reach', async () => {
    const waits = new FreshnessWaits(systemClock);
    const stop = new AbortController();
    const api = { ...fakeApi(new FakeWorld()), freshness: () => ({ mcSeqno: 10, lagMs: 7 }) };
    const wanted = { api, group: null, until: Number.POSITIVE_INFINITY, client: 'a', signal: stop.signal };
    expect(() => waits.wait({ ...wanted, seqno: 1_011 })).toThrow('block 10, 1001 before');
    const waiting = waits.wait({ ...wanted, seqno: 1_010 });
    expect(waits.waiting).toBe(1);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'http/client-left' });
    expect((await ask('leader', '2147483646')).status).toBe(409);
  });

  it.each(['-1', 'x', '1.5', '4294967296', '99999999999'])('is refused when it is %s', async (seqno) => {
    expect((await ask('leader', seqno)).status).toBe(422);
    expect((await ask('leader', seqno, 'query')).status).toBe(422);
  });

  it('never gets an answer from the cache that is older', async () => {
    for (let round = 0; round < 20; round++) {
      await ask('laggard', '0');
      const wanted = heads.laggard + 1;
      const waiting = [1, 2, 3].map(() => ask('laggard', String(wanted)));
      heads.laggard++;
      for (const { status, seqno } of await Promise.all(waiting)) {
        expect(status, `round ${round}`).toBe(200);
        expect(seqno, `round ${round}`).toBeGreaterThanOrEqual(wanted);
      }
    }
  });

  it('reads what was written, wherever a balancer sends it', async () => {
    heads.leader = heads.laggard;
    for (let pair = 0; pair < 200; pair++) {
      // The write is in the next block of the leader; the other server learns of it later.
      const written = ++heads.leader;
      const timer = setTimeout(() => {
        heads.laggard = Math.max(heads.laggard, written);
      }, pair % 5);
      const { status, seqno } = await ask(pair % 2 === 0 ? 'laggard' : 'leader', String(written));
      clearTimeout(timer);
      heads.laggard = Math.max(heads.laggard, written);
      expect(status, `pair ${pair}`).toBe(200);
      expect(seqno, `pair ${pair}`).toBeGreaterThanOrEqual(written);
    }
  });
});
