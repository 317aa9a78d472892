import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import type { CallThreads, ThreadAnswer, ThreadCall, ThreadCaller } from '#api/http/http-api.js';
import type { HttpOptions } from '#api/http/options.js';
import type { SwitchValues } from '#api/http/parameters.js';
import type { HttpServer } from '#api/http/server.js';
import { fakeErrors, fakeNetwork, startFakeServer } from '#test/support/fake-http-api.js';
import { fakePlainApi, type PlainContext, type PlainSwitches, PlainWorld } from '#test/support/fake-plain-api.js';

type Call = ThreadCall<SwitchValues<PlainSwitches>>;

let server: HttpServer;
let world: PlainWorld;
afterEach(async () => {
  world.release();
  await server.close();
});

/** A server whose calls of a price from 50 on go to `answer`; `limit` is the price, and what remains to be done of `decode` 60. */
async function start(
  answer: (call: Call, caller: ThreadCaller) => Promise<ThreadAnswer>,
  options: Partial<HttpOptions> = {},
): Promise<void> {
  world = new PlainWorld();
  const api = fakePlainApi(world);
  const threads: CallThreads<SwitchValues<PlainSwitches>> = {
    takes: (_, price) => price >= 50,
    helps: (_, price) => price >= 40,
    answer,
  };
  const endpoints = api.endpoints.map((endpoint): AnyEndpoint<PlainContext> => {
    if (endpoint.name === 'jetton/wallets') return { ...endpoint, price: limitOf };
    if (endpoint.name === 'masterchainInfo') return { ...endpoint, price: waitPrice };
    if (endpoint.name === 'switches') {
      return {
        ...endpoint,
        handle: async () => {
          world.worked.push('long');
          return { text: LONG_TEXT };
        },
      };
    }
    if (endpoint.name !== 'decode') return endpoint;
    const { handle } = endpoint;
    return {
      ...endpoint,
      handle: async (params, context) => {
        context.request.header('X-Tern-Next', 'of the first attempt');
        context.request.foresee(60);
        return handle(params, context);
      },
    };
  });
  const network = fakeNetwork('testing', []);
  server = await startFakeServer(options, { networks: [{ ...network, apis: [{ ...api, endpoints, threads }] }] });
}

/** Sending it costs more than calls that never wait. */
const LONG_TEXT = 'x'.repeat(500_000);

const waitPrice = (params: unknown) => ((params as { readonly wait?: boolean }).wait ? 30 : 1);
const limitOf = (params: unknown) => (params as { readonly limit: number }).limit;
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const wallets = (limit: number) => `${server.url}/api/v3/jetton/wallets?limit=${limit}&account=A,B&x_timeout=700`;

it('goes to another thread by its price, as it was given', async () => {
  const calls: Call[] = [];
  await start(async (call) => {
    calls.push(call);
    return {
      bytes: bytesOf({ from: 'thread', name: 'Имя' }),
      headers: [['X-Tern-Next', 'n']],
      worked: 0,
      isKept: true,
    };
  });
  expect(await (await fetch(wallets(49))).json()).toEqual({ rows: [{ account: ['A', 'B'], limit: 49 }] });
  expect(calls).toEqual([]);
  const answer = await fetch(wallets(50));
  expect(answer.headers.get('X-Tern-Next')).toBe('n');
  expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
  expect(await answer.json()).toEqual({ from: 'thread', name: 'Имя' });
  expect(calls).toEqual([
    {
      endpoint: 'jetton/wallets',
      raw: { limit: '50', account: 'A,B' },
      source: 'query',
      profile: 'spec',
      switches: { timeoutMs: 700, noAddressBook: false, actionsVersion: null },
      deadlineMs: 700,
    },
  ]);
});

it('begins again on another thread when it turns out to cost more', async () => {
  await start(async ({ source }) => ({ bytes: bytesOf({ source }), headers: [], worked: 0, isKept: true }));
  const answer = await fetch(`${server.url}/api/v3/decode`, { method: 'POST', body: '{"text":"1"}' });
  expect(answer.headers.get('X-Tern-Next')).toBeNull();
  expect(await answer.json()).toEqual({ source: 'body' });
});

it('keeps the error of the thread', async () => {
  await start(async () => {
    throw fakeErrors.busy({});
  });
  const answer = await fetch(wallets(50));
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ error: 'busy', code: 503 });
});

it('goes to another thread that is free when it is smaller, too, while several calls are under way', async () => {
  const onThread: string[] = [];
  await start(async ({ raw }, { client }) => {
    onThread.push(`${JSON.stringify(raw.limit)} ${typeof client}`);
    return { bytes: bytesOf({}), headers: [], worked: 0, isKept: true };
  });
  await fetch(wallets(45));
  expect(onThread).toEqual([]);
  const waiting = [1, 2].map((n) => fetch(`${server.url}/api/v3/masterchainInfo?wait=true&how=${n}`));
  await expect.poll(() => world.worked.length).toBe(2);
  await fetch(wallets(45));
  expect(onThread).toEqual(['"45" string']);
  await fetch(wallets(39));
  expect(onThread.length).toBe(1);
  world.release();
  await Promise.all(waiting);
  await fetch(wallets(45));
  expect(onThread.length).toBe(1);
});

it('is answered by this thread when the one that helps does not', async () => {
  let asked = 0;
  const calledOff: string[] = [];
  await start((_, { signal, late }) => {
    asked++;
    signal.addEventListener('abort', () => calledOff.push('left'));
    late?.addEventListener('abort', () => calledOff.push('late'));
    return new Promise(() => {});
  });
  const waiting = [1, 2].map((n) => fetch(`${server.url}/api/v3/masterchainInfo?wait=true&how=${n}`));
  await expect.poll(() => world.worked.length).toBe(2);
  const answer = await fetch(wallets(45).replace(/&x_timeout=.*/, ''));
  expect([asked, calledOff]).toEqual([1, ['late']]);
  expect(await answer.json()).toEqual({ rows: [{ account: ['A', 'B'], limit: 45 }] });
  world.release();
  await Promise.all(waiting);
});

it('is called off when the client leaves', async () => {
  let left = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    left = resolve;
  });
  let startedAt = (): void => {};
  const began = new Promise<void>((resolve) => {
    startedAt = resolve;
  });
  await start((_, { signal }) => {
    startedAt();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        left();
        reject(signal.reason);
      });
    });
  });
  const leaving = new AbortController();
  const answer = fetch(wallets(50), { signal: leaving.signal }).catch(() => null);
  await began;
  leaving.abort();
  await answer;
  await aborted;
});

it('leaves room for calls of this thread', async () => {
  let begin = (): void => {};
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  await start(
    () => {
      begin();
      return new Promise(() => {});
    },
    { maxWork: 200 },
  );
  const leaving = new AbortController();
  const onThread = fetch(wallets(50).replace(/&x_timeout=.*/, ''), { signal: leaving.signal }).catch(() => null);
  await began;
  expect((await fetch(wallets(49))).status).toBe(200);
  leaving.abort();
  await onThread;
});

it('leaves cached results alone, as do other calls under way', async () => {
  await start(() => new Promise(() => {}), { maxWork: 200 });
  const cached = `${server.url}/api/v3/switches`;
  const text = await (await fetch(cached)).text();
  expect(text.length).toBeGreaterThan(LONG_TEXT.length);
  const statuses: number[] = [];
  const waiting = [1, 2].map(async (n) => {
    statuses.push((await fetch(`${server.url}/api/v3/masterchainInfo?wait=true&how=${n}`)).status);
  });
  await expect.poll(() => world.worked).toEqual(['long', '1']);
  // The second one has no room.
  expect(await (await fetch(cached)).text()).toBe(text);
  expect([world.worked, statuses]).toEqual([['long', '1'], []]);
  world.release();
  await Promise.all(waiting);
  expect(statuses).toEqual([200, 200]);
});

it('is compressed for clients that accept it', async () => {
  await start(async () => ({ bytes: bytesOf({ text: 'x'.repeat(1_000_000) }), headers: [], worked: 0, isKept: true }));
  const answer = await fetch(wallets(50), { headers: { 'Accept-Encoding': 'br' } });
  expect(answer.headers.get('Content-Encoding')).toBe('br');
  expect(((await answer.json()) as { text: string }).text.length).toBe(1_000_000);
});

it('is refused while clients do not take the answers that they asked for; others go on', async () => {
  const bytes = bytesOf({ text: 'x'.repeat(16 * 2 ** 20) });
  await start(async () => ({ bytes, headers: [], worked: 0, isKept: true }), { maxHeldBytes: 2 ** 20 });
  const silent = connect(server.port, '127.0.0.1');
  const responding = new Promise<void>((resolve) => {
    silent.once('readable', () => resolve());
  });
  silent.write('GET /api/v3/jetton/wallets?limit=50 HTTP/1.1\r\nHost: x\r\n\r\n');
  await responding;
  const refused = await fetch(wallets(50));
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: expect.stringContaining('bytes of answers wait') });
  expect((await fetch(wallets(49))).status).toBe(200);
  // What a thread would only help with is answered here.
  const waiting = [1, 2].map((n) => fetch(`${server.url}/api/v3/masterchainInfo?wait=true&how=${n}`));
  await expect.poll(() => world.worked.length).toBe(2);
  expect(await (await fetch(wallets(45))).json()).toMatchObject({ rows: [{ limit: 45 }] });
  world.release();
  await Promise.all(waiting);
  silent.destroy();
  await expect.poll(async () => (await fetch(wallets(50))).status).toBe(200);
});

it('is sent compressed, once for all clients that accept gzip, and plain to the others', async () => {
  const text = JSON.stringify({ rows: 'Имя '.repeat(5_000) });
  await start(async () => ({ bytes: Buffer.from(text), headers: [], worked: 0, isKept: true }));
  const read = async (encoding: string) => {
    const answer = await fetch(wallets(50), { headers: { 'accept-encoding': encoding } });
    return [answer.headers.get('content-encoding'), answer.headers.get('vary'), (await answer.text()) === text];
  };
  const vary = 'X-Tern-Profile, X-Ton-Client-Version';
  for (const encoding of ['gzip', 'br, gzip;q=0.5', 'deflate,GZIP']) {
    expect(await read(encoding)).toEqual(['gzip', `${vary}, accept-encoding`, true]);
  }
  expect(await read('br')).toEqual(['br', `${vary}, accept-encoding`, true]);
  for (const encoding of ['gzip;q=0', 'identity']) expect((await read(encoding)).slice(0, 2)).toEqual([null, vary]);
});
