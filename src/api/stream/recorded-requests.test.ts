import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { HttpServer } from '#api/http/server.js';
import { StreamHub } from '#api/stream/hub.js';
import { StreamRoutes } from '#api/stream/stream-routes.js';
import { EventAnswers } from '#api/v3/event-answers.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { startFakeServer } from '#test/support/fake-http-api.js';
import { FakeIndex } from '#test/support/fake-index.js';

/** What a live service answered to subscriptions, most of them wrong: see its README. */
const RECORDED = new URL('../../../vectors/collection/recorded-live/streams/stream-bad.jsonl.br', import.meta.url);

interface HttpCase {
  readonly kind: 'http';
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: { readonly status: number; readonly body: string };
}
interface WsCase {
  readonly kind: 'ws';
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly log: readonly { readonly dir: string; readonly data?: string; readonly status?: number }[];
}

const cases = brotliDecompressSync(readFileSync(RECORDED))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as HttpCase | WsCase);

/** The second connection of a key needs the first to be open: see below. */
const needsOther = ({ request }: HttpCase) => request.headers['X-Limiting-Key'] === 'k4';

let server: HttpServer;
let hub: StreamHub;

beforeAll(async () => {
  const index = new FakeIndex();
  hub = new StreamHub(
    { chain: '00000000', actionsKey: 'actions' },
    {
      ...{ index, live: null, clock: systemClock, logger: silentLogger },
      coverage: () => ({ history: [{ from: 1, to: 7 }], selected: false, state_seqno: null }),
      texts: new EventAnswers({ index, isTestnet: false }),
    },
  );
  hub.start();
  const modules = { hubOf: () => hub, ageOf: () => null, unixTime: () => 1_795_347_633, clock: systemClock };
  const routes = new StreamRoutes({ keepAliveMs: 60_000, maxMessagesPerSecond: 1_000 }, modules).routes();
  server = await startFakeServer({ profile: 'toncenter' }, { rawRoutes: routes });
});
afterAll(async () => {
  await hub.close();
  await server.close();
});

/** The answer; of a stream its first frame. */
async function ask({ method, path, headers, body }: HttpCase['request']) {
  const stop = new AbortController();
  const own = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const type: Record<string, string> =
    own || body === undefined || body === '' ? {} : { 'content-type': 'application/json' };
  const response = await fetch(server.url + path, {
    ...{ method, headers: { ...type, ...headers }, signal: stop.signal },
    ...(body === undefined ? {} : { body }),
  });
  if (response.headers.get('content-type') !== 'text/event-stream') {
    return { status: response.status, body: await response.text() };
  }
  const first = await response.body!.getReader().read();
  stop.abort();
  const text = Buffer.from(first.value!).toString();
  // The live service has no cursors.
  return { status: response.status, body: text.replace(/^id: .*\n/m, '') };
}

describe('requests that a live service was recorded with', () => {
  const http = cases.filter((each) => each.kind === 'http');
  it.each(
    http.map((each, i) => [i, `${each.request.method} ${each.request.path} ${each.request.body ?? ''}`, each] as const),
  )('%i %s', async (_, __, recorded) => {
    if (needsOther(recorded)) return;
    const { path } = recorded.request;
    const isEmpty = recorded.request.body === '' || recorded.request.body === undefined;
    if (isEmpty && recorded.response.body.includes('unexpected end of JSON')) {
      // Recorded with the content type of JSON and no body.
      recorded = { ...recorded, request: { ...recorded.request, headers: { 'content-type': 'application/json' } } };
    }
    const answer = await ask(recorded.request);
    if (path.endsWith('/healthz')) {
      expect(answer.status).toBe(503);
      const { ok, now, components } = JSON.parse(answer.body);
      expect({ ok, now, names: Object.keys(components) }).toEqual({
        ...{ ok: false, now: 1_795_347_633 },
        names: Object.keys(JSON.parse(recorded.response.body).components),
      });
      return;
    }
    const wanted = recorded.response.body.replace(/: keepalive\n\n/g, '').replace(/\n+$/, '\n\n');
    const isStream = recorded.response.body.startsWith('event:');
    expect(answer).toEqual({
      status: recorded.response.status,
      body: isStream ? wanted : recorded.response.body,
    });
  });

  it('refuses the second connection of a key of which one is allowed', async () => {
    const [first, second] = http.filter(needsOther);
    const stop = new AbortController();
    const requests = [first!.request, second!.request];
    const isFirst = (request: HttpCase['request']) => !request.body!.includes('second');
    const { body, headers, path } = requests.find(isFirst)!;
    const open = await fetch(server.url + path, {
      ...{ method: 'POST', body: body!, headers: { ...headers, 'content-type': 'application/json' } },
      signal: stop.signal,
    });
    expect(open.status).toBe(200);
    const refused = http.find((each) => needsOther(each) && !isFirst(each.request))!;
    expect(await ask(refused.request)).toEqual({ status: 429, body: refused.response.body });
    stop.abort();
  });

  const sockets = cases.filter((each) => each.kind === 'ws');
  it.each(sockets.map((each) => [each.name, each] as const))('WebSocket: %s', async (_, { path, headers, log }) => {
    const socket = new WebSocket(server.url.replace('http', 'ws') + path, { headers });
    const seen: string[] = [];
    socket.on('message', (data) => seen.push(data.toString()));
    const refused = log.find(({ dir }) => dir === 'refused');
    const opened = new Promise<number>((resolve) => {
      socket.once('open', () => resolve(101));
      socket.once('unexpected-response', (request, { statusCode = 0 }) => {
        request.destroy();
        resolve(statusCode);
      });
      socket.on('error', () => {});
    });
    expect(await opened).toBe(refused?.status ?? 101);
    if (refused !== undefined) return;
    const wanted: string[] = [];
    for (const { dir, data } of log) {
      if (dir === 'in') wanted.push(data!);
      if (dir === 'out' && socket.readyState === socket.OPEN) socket.send(data!);
    }
    await expect.poll(() => seen).toEqual(wanted);
    socket.terminate();
  });
});
