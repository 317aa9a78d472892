import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isTernError } from '#kernel/tern-error.js';
import { AdnlBench, until } from '#test/support/adnl-peers.js';
import { FakeClock } from '#test/support/fake-clock.js';

let bench: AdnlBench;
beforeEach(() => {
  bench = new AdnlBench();
});
afterEach(() => bench.end());

/** The code of the error with which something ends. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await errorOf(promise);
  return error.code;
}

async function errorOf(promise: Promise<unknown>) {
  const outcome = await promise.then(
    () => 'no error',
    (error: unknown) => error,
  );
  if (isTernError(outcome)) return outcome;
  throw new TypeError(`expected a typed error, found ${String(outcome)}`);
}

const echo = (data: Uint8Array) => data;
/** Answers with the bytes inverted, so that an answer is no echo. */
const invert = (data: Uint8Array) => data.map((byte) => ~byte);
const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

describe('queries', () => {
  it('are answered, of all sizes', async () => {
    const server = await bench.server(invert);
    const client = await bench.client(server, server.publicKey);
    for (const size of [0, 1, 253, 254, 4096, 65_536, 5_000_000, 2 ** 24 - 200]) {
      const data = randomBytes(size);
      const answer = await client.query(data);
      expect(Buffer.compare(answer, invert(data)), `${size} bytes`).toBe(0);
    }
    expect(await codeOf(client.query(new Uint8Array(2 ** 24)))).toBe('adnl/query-too-large');
  });

  it('1,000 of them at once, up to 1 MB, answered out of order', async () => {
    const server = await bench.server(async (data) => {
      await new Promise((resolve) => setTimeout(resolve, (data[0] ?? 0) % 16));
      return Buffer.from(digest(data));
    });
    const client = await bench.client(server, server.publicKey, { queryTimeoutMs: 60_000 });
    const block = randomBytes(1_000_000);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        // Few large ones, as in life: the sizes are spread over the magnitudes up to 1 MB.
        const size = Math.floor(10 ** ((i % 61) / 10));
        const data = block.subarray(i, i + size);
        const answer = await client.query(data);
        expect(Buffer.from(answer).toString(), `query ${i} of ${size} bytes`).toBe(digest(data));
        order.push(i);
      }),
    );
    expect(order).toHaveLength(1000);
    expect(order).not.toEqual(order.slice().sort((a, b) => a - b));
    expect([client.inFlight, client.waiting]).toEqual([0, 0]);
    const { queries_started, queries_answered, queries_failed, answers_unmatched } = bench.clientMetrics;
    expect({ queries_started, queries_answered, queries_failed, answers_unmatched }).toEqual({
      queries_started: 1000,
      queries_answered: 1000,
      queries_failed: 0,
      answers_unmatched: 0,
    });
  });

  it('with answers up to 1 MB', async () => {
    const block = randomBytes(1_000_000);
    const server = await bench.server((data) => block.subarray(0, Buffer.from(data).readUInt32LE()));
    const client = await bench.client(server, server.publicKey, { queryTimeoutMs: 60_000 });
    await Promise.all(
      Array.from({ length: 300 }, async (_, i) => {
        const size = Math.floor(10 ** ((i % 61) / 10));
        const query = Buffer.alloc(4);
        query.writeUInt32LE(size);
        const answer = await client.query(query);
        expect(Buffer.compare(answer, block.subarray(0, size)), `answer ${i}`).toBe(0);
      }),
    );
  });

  it('do not make small answers hold large buffers', async () => {
    const server = await bench.server(() => randomBytes(50));
    const client = await bench.client(server, server.publicKey);
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.query(Uint8Array.of(1))));
    for (const answer of answers) expect(answer.buffer.byteLength).toBeLessThanOrEqual(200);
  });

  it('wait when as many as allowed are in flight, and are refused when too many wait', async () => {
    const open: (() => void)[] = [];
    const server = await bench.server((data) => new Promise((resolve) => open.push(() => resolve(data))));
    const client = await bench.client(server, server.publicKey, { maxInFlight: 2, maxWaiting: 2 });
    const answers = [1, 2, 3, 4].map((n) => client.query(Uint8Array.of(n)));
    expect([client.inFlight, client.waiting]).toEqual([2, 2]);
    expect(await codeOf(client.query(Uint8Array.of(5)))).toBe('adnl/too-many-queries');
    await until(
      () => open.length,
      (count) => count === 2,
    );
    for (const answer of open.splice(0)) answer();
    await until(
      () => open.length,
      (count) => count === 2,
    );
    for (const answer of open.splice(0)) answer();
    expect((await Promise.all(answers)).map(([n]) => n)).toEqual([1, 2, 3, 4]);
  });

  it('begun on the server are limited too; the others wait unread', async () => {
    let atOnce = 0;
    let most = 0;
    const server = await bench.server(
      async (data) => {
        most = Math.max(most, ++atOnce);
        await new Promise((resolve) => setTimeout(resolve, 1));
        atOnce--;
        return data;
      },
      { maxInFlight: 3 },
    );
    const client = await bench.client(server, server.publicKey);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => client.query(Uint8Array.of(i))));
    expect(answers.map(([n]) => n)).toEqual(Array.from({ length: 200 }, (_, i) => i));
    expect(most).toBe(3);
  });
});

describe('a query that is given up', () => {
  it('by time-out says that it was sent; the late answer is counted and ignored', async () => {
    const server = await bench.server(async (data) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return data;
    });
    const client = await bench.client(server, server.publicKey);
    const error = await errorOf(client.query(Uint8Array.of(1), { timeoutMs: 20 }));
    expect([error.code, error.class, error.data.sent]).toEqual(['adnl/query-timeout', 'upstream', true]);
    await until(
      () => bench.clientMetrics.answers_unmatched,
      (count) => count === 1,
    );
    expect(Buffer.from(await client.query(Uint8Array.of(2)))).toEqual(Buffer.of(2));
  });

  it('while it waits says that it was not sent', async () => {
    const server = await bench.server(() => new Promise(() => {}));
    const client = await bench.client(server, server.publicKey, { maxInFlight: 1 });
    const first = errorOf(client.query(Uint8Array.of(1), { timeoutMs: 60 }));
    const second = errorOf(client.query(Uint8Array.of(2), { timeoutMs: 20 }));
    expect((await second).data.sent).toBe(false);
    expect((await first).data.sent).toBe(true);
  });

  it('in the turn in which it was begun says that it may be sent, for it will be', async () => {
    const server = await bench.server(echo);
    const client = await bench.client(server, server.publicKey);
    const controller = new AbortController();
    const pending = errorOf(client.query(Uint8Array.of(1), { signal: controller.signal }));
    controller.abort();
    expect((await pending).data.sent).toBe(true);
    await until(
      () => bench.clientMetrics.answers_unmatched,
      (count) => count === 1,
    );
    const cut = errorOf(client.query(Uint8Array.of(1)));
    client.close();
    expect((await cut).data.sent).toBe(false);
  });

  it('by signal, before and after it is sent, leaves no listener', async () => {
    const server = await bench.server(() => new Promise(() => {}));
    const client = await bench.client(server, server.publicKey);
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners++;
        if (name === 'removeEventListener') listeners--;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const pending = errorOf(client.query(Uint8Array.of(1), { signal: counted }));
    await until(
      () => bench.serverMetrics.queries_started,
      (count) => count === 1,
    );
    expect(listeners).toBe(1);
    controller.abort('enough');
    const error = await pending;
    expect([error.code, error.data.sent, error.cause]).toEqual(['adnl/query-aborted', true, 'enough']);
    expect(listeners).toBe(0);
    expect((await errorOf(client.query(Uint8Array.of(1), { signal }))).data.sent).toBe(false);
    expect(client.inFlight).toBe(0);
  });
});

describe('closing', () => {
  it('a client ends its queries, says which were sent, and can be repeated', async () => {
    const clock = new FakeClock();
    const server = await bench.server(() => new Promise(() => {}));
    const client = await bench.client(server, server.publicKey, { maxInFlight: 1 }, clock);
    const errors = [1, 2].map((n) => errorOf(client.query(Uint8Array.of(n))));
    await until(
      () => bench.serverMetrics.queries_started,
      (count) => count === 1,
    );
    client.close();
    client.close();
    expect((await Promise.all(errors)).map(({ code, data }) => [code, data.sent])).toEqual([
      ['adnl/query-closed', true],
      ['adnl/query-closed', false],
    ]);
    expect((await client.closed).code).toBe('adnl/closed');
    expect(client.isClosed).toBe(true);
    expect(await codeOf(client.query(Uint8Array.of(3)))).toBe('adnl/query-closed');
    expect(clock.pending).toBe(0);
    await until(
      () => server.connections,
      (count) => count === 0,
    );
  });

  it('a server lets queries in hand be answered, and takes no new ones', async () => {
    let answer = () => {};
    const server = await bench.server(
      (data) =>
        new Promise((resolve) => {
          answer = () => resolve(data);
        }),
      { closeGraceMs: 10_000 },
    );
    const client = await bench.client(server, server.publicKey);
    const inHand = client.query(Uint8Array.of(1));
    await until(
      () => bench.serverMetrics.queries_started,
      (count) => count === 1,
    );
    const closed = server.close();
    expect(server.close()).toBe(closed);
    expect(await codeOf(bench.client(server, server.publicKey))).toMatch(/^adnl\/(connect-failed|handshake-refused)$/);
    const late = errorOf(client.query(Uint8Array.of(2)));
    answer();
    expect((await inHand)[0]).toBe(1);
    expect((await late).code).toBe('adnl/query-lost');
    await closed;
    expect((await client.closed).code).toBe('adnl/connection-lost');
    expect(bench.serverMetrics.queries_started).toBe(1);
  });

  it('a server does not wait longer than its grace, and aborts the handlers', async () => {
    const aborted: unknown[] = [];
    const server = await bench.server(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.push((signal.reason as { code: string }).code);
            reject(signal.reason);
          });
        }),
      { closeGraceMs: 20 },
    );
    const client = await bench.client(server, server.publicKey);
    const pending = errorOf(client.query(Uint8Array.of(1)));
    await until(
      () => bench.serverMetrics.queries_started,
      (count) => count === 1,
    );
    await server.close();
    expect((await pending).code).toBe('adnl/query-lost');
    expect(aborted).toEqual(['adnl/closed']);
  });

  it('a client that goes away aborts its handlers, also those that look later', async () => {
    const seen: boolean[] = [];
    const server = await bench.server(async (data, context) => {
      await until(
        () => server.connections,
        (count) => count === 0,
      );
      seen.push(context.signal.aborted);
      return data;
    });
    const client = await bench.client(server, server.publicKey);
    const pending = errorOf(client.query(Uint8Array.of(1)));
    await until(
      () => bench.serverMetrics.queries_started,
      (count) => count === 1,
    );
    client.close();
    await pending;
    await until(
      () => seen.length,
      (count) => count === 1,
    );
    expect(seen).toEqual([true]);
  });
});

describe('a handler that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new TypeError('broken');
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('broken'))],
    ['gives no bytes', () => Promise.resolve(undefined as unknown as Uint8Array)],
    ['gives too many bytes', () => new Uint8Array(2 ** 24)],
  ])('%s: no answer, reported, and the next query is answered', async (_, fail) => {
    const server = await bench.server((data) => (data[0] === 0 ? fail() : data));
    const client = await bench.client(server, server.publicKey);
    const bad = errorOf(client.query(Uint8Array.of(0), { timeoutMs: 100 }));
    expect((await client.query(Uint8Array.of(1)))[0]).toBe(1);
    expect((await bad).code).toBe('adnl/query-timeout');
    expect(bench.faults).toHaveLength(1);
    expect(bench.serverMetrics.queries_failed).toBe(1);
  });
});

describe('options', () => {
  it.each([
    ['port', { port: 0 }],
    ['host', { host: '' }],
    ['maxPacketLength', { maxPacketLength: 2 ** 24 + 1 }],
    ['maxPacketLength', { maxPacketLength: 64 }],
    ['maxInFlight', { maxInFlight: 0 }],
    ['queryTimeoutMs', { queryTimeoutMs: Number.NaN }],
    ['serverPublicKey', { serverPublicKey: new Uint8Array(31) }],
  ])('of a client out of bounds: %s', async (option, options) => {
    const error = await errorOf(bench.client({ host: '127.0.0.1', port: 1 }, randomBytes(32), options));
    expect([error.code, error.data.option]).toEqual(['adnl/bad-option', option]);
  });

  it.each([
    ['seed', { seed: new Uint8Array(0) }],
    ['port', { port: 65_536 }],
    ['maxConnections', { maxConnections: 0 }],
    ['outgoingMaxBytes', { outgoingMaxBytes: 1000 }],
  ])('of a server out of bounds: %s', async (option, options) => {
    const error = await errorOf(bench.server(echo, options));
    expect([error.code, error.data.option]).toEqual(['adnl/bad-option', option]);
  });

  it('a key that is no point is refused before anything is started', async () => {
    expect(await codeOf(bench.client({ host: '127.0.0.1', port: 1 }, new Uint8Array(32)))).toBe('adnl/server-key');
    expect(bench.clientMetrics.connections_failed).toBe(0);
  });

  it('undefined means the default', async () => {
    const server = await bench.server(echo, { port: undefined as never });
    expect(server.port).toBeGreaterThan(0);
  });

  it('a port that is taken', async () => {
    const server = await bench.server(echo);
    expect(await codeOf(bench.server(echo, { port: server.port }))).toBe('adnl/listen-failed');
  });
});
