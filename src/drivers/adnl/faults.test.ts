import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shortId } from '#drivers/adnl/keys.js';
import { writeAnswer, writePong, writeQuery } from '#drivers/adnl/wire.js';
import { isTernError } from '#kernel/tern-error.js';
import { AdnlBench, until } from '#test/support/adnl-peers.js';
import { FakeClock } from '#test/support/fake-clock.js';

let bench: AdnlBench;
beforeEach(() => {
  bench = new AdnlBench();
});
afterEach(() => bench.end());

async function errorOf(promise: Promise<unknown>) {
  const outcome = await promise.then(
    () => 'no error',
    (error: unknown) => error,
  );
  if (isTernError(outcome)) return outcome;
  throw new TypeError(`expected a typed error, found ${String(outcome)}`);
}

const codesOf = (errors: readonly unknown[]) => errors.map((error) => (isTernError(error) ? error.code : error));
const echo = (data: Uint8Array) => data;
const one = Uint8Array.of(1);

/** A server's public key that nobody has. */
async function someKey(): Promise<Uint8Array> {
  return (await bench.server(echo)).publicKey;
}

describe('connecting fails', () => {
  it('when nobody listens', async () => {
    const server = await bench.server(echo);
    await server.close();
    const error = await errorOf(bench.client(server, server.publicKey));
    expect([error.code, error.class, error.data.problem]).toEqual(['adnl/connect-failed', 'upstream', 'ECONNREFUSED']);
  });

  it('when the name leads nowhere', async () => {
    const error = await errorOf(bench.client({ host: 'nowhere.invalid', port: 1 }, await someKey()));
    // Where no name server answers at all, it takes until the time-out.
    expect(error.code).toMatch(/^adnl\/connect-(failed|timeout)$/);
  });

  it('when the time is over before TCP stands', async () => {
    const clock = new FakeClock();
    const server = await bench.server(echo);
    const pending = errorOf(bench.client(server, server.publicKey, { connectTimeoutMs: 100 }, clock));
    clock.advance(100);
    expect((await pending).code).toBe('adnl/connect-timeout');
    expect(clock.pending).toBe(0);
  });

  it('when the server never answers the handshake', async () => {
    const clock = new FakeClock();
    let come = 0;
    const silent = await bench.rawServer((socket) => socket.on('data', (chunk) => (come += chunk.length)));
    const pending = errorOf(bench.client(silent, await someKey(), { handshakeTimeoutMs: 100 }, clock));
    await until(
      () => come,
      (bytes) => bytes === 256,
    );
    clock.advance(100);
    expect((await pending).code).toBe('adnl/handshake-timeout');
    expect(clock.pending).toBe(0);
    expect(bench.clientMetrics.connections_failed).toBe(1);
  });

  it('when the server has another key', async () => {
    const server = await bench.server(echo);
    const error = await errorOf(bench.client(server, await someKey()));
    expect(error.code).toBe('adnl/handshake-refused');
    expect(error.remedy).toContain('public key');
    expect(codesOf(bench.faults)).toEqual(['adnl/handshake-other-server']);
  });

  it('when the server answers with garbage', async () => {
    const garbage = await bench.rawServer((socket) => socket.on('data', () => socket.write(randomBytes(100_000))));
    expect((await errorOf(bench.client(garbage, await someKey()))).code).toBe('adnl/packet-length');
  });

  it('when it is called off, before and during', async () => {
    const clock = new FakeClock();
    const silent = await bench.rawServer(() => {});
    const controller = new AbortController();
    const { signal } = controller;
    const serverKey = await someKey();
    const pending = errorOf(bench.client(silent, serverKey, { signal }, clock));
    controller.abort();
    expect((await pending).code).toBe('adnl/connect-aborted');
    expect((await errorOf(bench.client(silent, serverKey, { signal }, clock))).code).toBe('adnl/connect-aborted');
    expect(clock.pending).toBe(0);
  });
});

describe('on a bad line', () => {
  it('1-byte segments do no harm', async () => {
    const server = await bench.server(echo);
    const proxy = await bench.proxy(server);
    proxy.toServer.segmentBytes = 1;
    proxy.toClient.segmentBytes = 1;
    const client = await bench.client(proxy, server.publicKey);
    for (const size of [0, 10, 3000]) {
      const data = randomBytes(size);
      expect(Buffer.compare(await client.query(data), data), `${size} bytes`).toBe(0);
    }
  });

  it('odd segments and delays do no harm', async () => {
    const server = await bench.server(echo);
    const proxy = await bench.proxy(server);
    proxy.toServer.segmentBytes = 1009;
    proxy.toClient.segmentBytes = 4099;
    proxy.toClient.delayMs = 1;
    const client = await bench.client(proxy, server.publicKey);
    const queries = Array.from({ length: 20 }, (_, i) => randomBytes(i * 500));
    const answers = await Promise.all(queries.map((data) => client.query(data)));
    for (const [i, answer] of answers.entries()) expect(Buffer.compare(answer, queries[i]!), `query ${i}`).toBe(0);
  });

  it('a reset in the middle of a packet ends all queries, and says so', async () => {
    const clock = new FakeClock();
    const server = await bench.server(() => new Uint8Array(100_000));
    const proxy = await bench.proxy(server);
    proxy.toClient.resetAfterBytes = 50_000;
    const client = await bench.client(proxy, server.publicKey, {}, clock);
    const errors = await Promise.all([1, 2, 3].map((n) => errorOf(client.query(Uint8Array.of(n)))));
    for (const error of errors) {
      expect([error.code, error.class, error.data.sent]).toEqual(['adnl/query-lost', 'upstream', true]);
      expect(error.data.code).toBe('adnl/connection-lost');
    }
    expect((await client.closed).code).toBe('adnl/connection-lost');
    expect(clock.pending).toBe(0);
    await until(
      () => server.connections,
      (count) => count === 0,
    );
  });

  it('a flipped bit ends the connection, in either direction', async () => {
    const server = await bench.server(echo);
    const proxy = await bench.proxy(server);
    proxy.toClient.corruptByteAt(68 + 40);
    const client = await bench.client(proxy, server.publicKey);
    const error = await errorOf(client.query(one));
    expect([error.code, error.data.code]).toEqual(['adnl/query-lost', 'adnl/packet-hash']);

    proxy.heal();
    proxy.toServer.corruptByteAt(256 + 40);
    const other = await bench.client(proxy, server.publicKey);
    expect((await errorOf(other.query(one))).data.code).toBe('adnl/connection-lost');
    expect(codesOf(bench.faults)).toEqual(['adnl/packet-hash']);
    expect(bench.serverMetrics.protocol_violations).toBe(1);
    expect(bench.clientMetrics.protocol_violations).toBe(1);
  });

  it('a flipped bit in the handshake is refused', async () => {
    const server = await bench.server(echo);
    const proxy = await bench.proxy(server);
    proxy.toServer.corruptByteAt(100);
    expect((await errorOf(bench.client(proxy, server.publicKey))).code).toBe('adnl/handshake-refused');
    expect(codesOf(bench.faults)).toEqual(['adnl/handshake-digest']);
  });
});

describe('a server that breaks the protocol', () => {
  it('with wrong, repeated and foreign answers: they are counted, the right one arrives', async () => {
    const server = await bench.scriptedServer((message, peer) => {
      if (message.kind !== 'query') return;
      peer.send(writeAnswer(randomBytes(32), Uint8Array.of(9)));
      peer.send(writeAnswer(message.id, Uint8Array.of(1)));
      peer.send(writeAnswer(message.id, Uint8Array.of(2)));
      peer.send(Buffer.from('12ab5b4404010203', 'hex'));
      peer.send(writeQuery(randomBytes(32), one));
      peer.send(writePong(5n));
      peer.send(new Uint8Array(0));
    });
    const client = await bench.client(server, server.publicKey);
    expect(await client.query(one)).toEqual(Uint8Array.of(1));
    await until(
      () => bench.clientMetrics.messages_ignored,
      (count) => count === 2,
    );
    expect(bench.clientMetrics.answers_unmatched).toBe(2);
    expect(client.isClosed).toBe(false);
  });

  const breaks: [
    string,
    string,
    (peer: { sendPlain(bytes: Uint8Array): void; packet(payload: Uint8Array): Buffer }) => void,
  ][] = [
    ['a length of 2^24 + 1', 'adnl/packet-length', (peer) => peer.sendPlain(Buffer.from('01000001', 'hex'))],
    ['a length of 63', 'adnl/packet-length', (peer) => peer.sendPlain(Buffer.from('3f000000', 'hex'))],
    [
      'a false hash',
      'adnl/packet-hash',
      (peer) => {
        const packet = peer.packet(new Uint8Array(100));
        packet[50]! ^= 1;
        peer.sendPlain(packet);
      },
    ],
    [
      'an answer cut short',
      'adnl/bad-message',
      (peer) => peer.sendPlain(peer.packet(writeAnswer(randomBytes(32), new Uint8Array(300)).subarray(0, 200))),
    ],
  ];
  it.each(breaks)('with %s: it is cut off with %s', async (_, code, send) => {
    const server = await bench.scriptedServer((message, peer) => {
      if (message.kind === 'query') send(peer);
    });
    const client = await bench.client(server, server.publicKey);
    const error = await errorOf(client.query(one));
    expect([error.code, error.data.code]).toEqual(['adnl/query-lost', code]);
    expect((await client.closed).class).toBe('upstream');
    expect(bench.clientMetrics.protocol_violations).toBe(1);
  });

  it('by ending the connection: queries in flight end', async () => {
    const server = await bench.scriptedServer((message, peer) => {
      if (message.kind === 'query') peer.socket.end();
    });
    const client = await bench.client(server, server.publicKey);
    expect((await errorOf(client.query(one))).data.code).toBe('adnl/connection-lost');
  });
});

describe('a client that breaks the protocol', () => {
  it.each([
    ['garbage instead of a handshake', 'adnl/handshake-other-server', () => randomBytes(5000)],
    ['a key of small order', 'adnl/handshake-client-key', (id: Uint8Array) => Buffer.concat([id, new Uint8Array(224)])],
  ])('with %s: it is cut off with %s', async (_, code, bytes) => {
    const server = await bench.server(echo);
    const socket = await bench.rawClient(server);
    socket.write(bytes(shortId(server.publicKey)));
    socket.resume();
    await until(() => socket.destroyed, Boolean);
    expect(codesOf(bench.faults)).toEqual([code]);
    expect(server.connections).toBe(0);
  });

  it('with a handshake that never ends, byte by byte: its time is limited', async () => {
    const clock = new FakeClock();
    const server = await bench.server(echo, { handshakeTimeoutMs: 100 }, clock);
    const socket = await bench.rawClient(server);
    socket.resume();
    await until(
      () => server.connections,
      (count) => count === 1,
    );
    for (let i = 0; i < 9; i++) {
      socket.write(Uint8Array.of(i));
      clock.advance(10);
    }
    expect(server.connections).toBe(1);
    clock.advance(10);
    expect([server.connections, clock.pending]).toEqual([0, 0]);
    expect(codesOf(bench.faults)).toEqual(['adnl/handshake-timeout']);
  });

  it('with a query that is none: it is cut off', async () => {
    const server = await bench.server(echo);
    const peer = await bench.scriptedClient(server);
    peer.send(writeQuery(randomBytes(32), new Uint8Array(300)).subarray(0, 100));
    await until(() => peer.socket.destroyed, Boolean);
    expect(codesOf(bench.faults)).toEqual(['adnl/bad-message']);
  });

  it('by vanishing in its handshake or after it leaves nothing behind', async () => {
    const server = await bench.server(echo);
    const socket = await bench.rawClient(server);
    socket.write(randomBytes(100));
    await until(
      () => server.connections,
      (count) => count === 1,
    );
    socket.resetAndDestroy();
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    peer.socket.resetAndDestroy();
    await until(
      () => server.connections,
      (count) => count === 0,
    );
  });

  it('there are no more clients than allowed', async () => {
    const server = await bench.server(echo, { maxConnections: 2 });
    const clients = [await bench.client(server, server.publicKey), await bench.client(server, server.publicKey)];
    expect((await errorOf(bench.client(server, server.publicKey))).class).toBe('upstream');
    expect(bench.serverMetrics.connections_refused).toBe(1);
    clients[0]!.close();
    await until(
      () => server.connections,
      (count) => count === 1,
    );
    await bench.client(server, server.publicKey);
  });
});

describe('silence', () => {
  it('of a server: a ping after 10 s, dead after 20 s', async () => {
    const clock = new FakeClock();
    const server = await bench.scriptedServer(() => {});
    const client = await bench.client(server, server.publicKey, { queryTimeoutMs: 100_000 }, clock);
    const pending = errorOf(client.query(one));
    await until(
      () => bench.clientMetrics.bytes_sent,
      (bytes) => bytes > 0,
    );
    clock.advance(9_999);
    expect(bench.clientMetrics.pings_sent).toBe(0);
    clock.advance(1);
    expect(bench.clientMetrics.pings_sent).toBe(1);
    clock.advance(9_999);
    expect([bench.clientMetrics.pings_sent, client.isClosed]).toEqual([1, false]);
    clock.advance(1);
    const error = await pending;
    expect([error.code, error.data.code, error.data.sent]).toEqual(['adnl/query-lost', 'adnl/silent', true]);
    expect(clock.pending).toBe(0);
  });

  it('of a client that lives: its pings are answered, and keep both sides alive', async () => {
    const clock = new FakeClock();
    const server = await bench.server(echo, {}, clock);
    const client = await bench.client(server, server.publicKey, {}, clock);
    for (let i = 1; i <= 30; i++) {
      const received = bench.clientMetrics.bytes_received;
      clock.advance(10_000);
      expect(bench.clientMetrics.pings_sent, `round ${i}`).toBe(i);
      await until(
        () => bench.clientMetrics.bytes_received,
        (bytes) => bytes > received,
      );
    }
    expect(await client.query(one)).toEqual(one);
  });

  it('of a client: the server ends it after 60 s', async () => {
    const clock = new FakeClock();
    const server = await bench.server(echo, {}, clock);
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    clock.advance(59_999);
    expect(server.connections).toBe(1);
    clock.advance(1);
    expect([server.connections, clock.pending]).toEqual([0, 0]);
    expect(codesOf(bench.faults)).toEqual(['adnl/silent']);
    await until(() => peer.socket.destroyed, Boolean);
  });

  it('no silence, but a packet that never ends: the drip is cut off in time', async () => {
    const clock = new FakeClock();
    const server = await bench.server(echo, {}, clock);
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    const packet = peer.packet(writeQuery(randomBytes(32), new Uint8Array(200)));
    for (let i = 0; i < 6; i++) {
      const received = bench.serverMetrics.bytes_received;
      peer.sendPlain(packet.subarray(i, i + 1));
      await until(
        () => bench.serverMetrics.bytes_received,
        (bytes) => bytes > received,
      );
      expect(server.connections, `after ${i * 10} s`).toBe(1);
      clock.advance(10_000);
    }
    expect(server.connections).toBe(0);
    expect(codesOf(bench.faults)).toEqual(['adnl/slow-packet']);
  });
});

describe('back-pressure', () => {
  /** Answers that a client does not read; beyond what the system's buffers take. */
  const large = 2 ** 20;

  it('a client that does not read is not answered beyond a limit, and not read from', async () => {
    const server = await bench.server(() => new Uint8Array(large));
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    peer.socket.pause();
    const rss = process.memoryUsage().rss;
    const query = writeQuery(randomBytes(32), new Uint8Array(1000));
    for (let i = 0; i < 5000; i++) peer.send(query);
    await settled(() => bench.serverMetrics.queries_started);
    // What the kernel takes, and one high-water mark; by no means 5,000 answers of 1 MiB.
    expect(bench.serverMetrics.queries_started).toBeLessThan(50);
    expect(bench.serverMetrics.bytes_received).toBeLessThan(5000 * 500);
    expect(process.memoryUsage().rss - rss).toBeLessThan(300 * 2 ** 20);

    peer.socket.resume();
    await until(
      () => bench.serverMetrics.queries_answered,
      (count) => count > 200,
      30_000,
    );
  });

  it('it is cut off when it takes nothing for 30 s', async () => {
    const clock = new FakeClock();
    const server = await bench.server(() => new Uint8Array(large), {}, clock);
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    peer.socket.pause();
    for (let i = 0; i < 100; i++) peer.send(writeQuery(randomBytes(32), one));
    await settled(() => bench.serverMetrics.bytes_sent);
    expect(server.connections).toBe(1);
    clock.advance(60_000);
    expect([server.connections, clock.pending]).toEqual([0, 0]);
    expect(codesOf(bench.faults)).toEqual(['adnl/not-reading']);
  });

  it('it is cut off when the answers in hand grow beyond the limit', async () => {
    const open: (() => void)[] = [];
    const answer = new Uint8Array(large);
    const server = await bench.server(() => new Promise((resolve) => open.push(() => resolve(answer))), {
      outgoingMaxBytes: 20 * 2 ** 20,
    });
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    peer.socket.pause();
    for (let i = 0; i < 60; i++) peer.send(writeQuery(randomBytes(32), one));
    await until(
      () => open.length,
      (count) => count === 60,
    );
    for (const give of open) give();
    await until(
      () => server.connections,
      (count) => count === 0,
    );
    expect(codesOf(bench.faults)).toEqual(['adnl/not-reading']);
  });

  it('pings of one who does not read are not answered without end', async () => {
    const server = await bench.server(() => new Uint8Array(2 ** 23));
    const peer = await bench.scriptedClient(server);
    await until(
      () => peer.messages.length,
      (count) => count === 1,
    );
    peer.socket.pause();
    for (let i = 0; i < 3; i++) peer.send(writeQuery(randomBytes(32), one));
    await settled(() => bench.serverMetrics.bytes_sent);
    const sent = bench.serverMetrics.packets_sent;
    for (let i = 0; i < 1000; i++) peer.send(Buffer.from('9a2b084d0100000000000000', 'hex'));
    await settled(() => bench.serverMetrics.packets_received);
    expect(bench.serverMetrics.packets_sent).toBe(sent);
  });

  it('a server that does not read: queries wait instead of filling memory, and end by time-out, unsent', async () => {
    const server = await bench.scriptedServer(() => {});
    const proxy = await bench.proxy(server);
    const client = await bench.client(proxy, server.publicKey, { queryTimeoutMs: 300 });
    proxy.toServer.stall();
    const data = new Uint8Array(large);
    const errors = await Promise.all(Array.from({ length: 100 }, () => errorOf(client.query(data))));
    expect(new Set(codesOf(errors))).toEqual(new Set(['adnl/query-timeout']));
    const unsent = errors.filter((error) => error.data.sent === false).length;
    expect(unsent).toBeGreaterThan(70);
    expect(unsent).toBeLessThan(100);
    expect([client.inFlight, client.waiting, client.isClosed]).toEqual([0, 0, false]);
  });

  it('a stall that ends leads to all answers', async () => {
    const server = await bench.server(echo);
    const proxy = await bench.proxy(server);
    const client = await bench.client(proxy, server.publicKey, { queryTimeoutMs: 30_000 });
    proxy.toServer.stall();
    proxy.toClient.stall();
    const data = randomBytes(300_000);
    const answers = Promise.all(Array.from({ length: 100 }, () => client.query(data)));
    await settled(() => bench.clientMetrics.bytes_sent);
    expect(client.waiting).toBeGreaterThan(0);
    proxy.heal();
    for (const answer of await answers) expect(Buffer.compare(answer, data)).toBe(0);
  });
});

/** Waits until a count has not moved for a while. */
async function settled(look: () => number): Promise<void> {
  for (let before = -1, quiet = 0; quiet < 15; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    quiet = look() === before ? quiet + 1 : 0;
    before = look();
  }
}

it('a hundred clients at once that come and go leave nothing behind', async () => {
  const clock = new FakeClock();
  const server = await bench.server(echo, {}, clock);
  await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const client = await bench.client(server, server.publicKey, {}, clock);
      const data = randomBytes(i * 100);
      expect(Buffer.compare(await client.query(data), data), `client ${i}`).toBe(0);
      client.close();
    }),
  );
  await until(
    () => server.connections,
    (count) => count === 0,
  );
  expect(clock.pending).toBe(0);
  const { connections_opened, connections_closed } = bench.serverMetrics;
  expect([connections_opened, connections_closed]).toEqual([100, 100]);
});
