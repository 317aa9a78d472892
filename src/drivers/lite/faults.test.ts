import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { writeAnswer } from '#drivers/adnl/wire.js';
import type { LitePoolOptions } from '#drivers/lite/options.js';
import type { LitePool } from '#drivers/lite/pool.js';
import { LiteServerGetBlock, LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { AdnlBench, until } from '#test/support/adnl-peers.js';
import { answerOf, FakeLiteserver, fakeBlockId, headerOf } from '#test/support/fake-liteserver.js';
import { poolOnSockets, seqnoRequest } from '#test/support/lite-pool.js';
import type { TcpProxy } from '#test/support/tcp-proxy.js';

const bench = new AdnlBench();
const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.reverse()) await end();
  endings.length = 0;
  await bench.end();
});

async function fakeServers(count: number): Promise<FakeLiteserver[]> {
  const servers = await Promise.all(Array.from({ length: count }, (_, i) => new FakeLiteserver(`s${i}`).start()));
  endings.push(() => Promise.all(servers.map((each) => each.stop())));
  return servers;
}

function startPool(servers: LitePoolOptions['servers'], options: Partial<LitePoolOptions> = {}): LitePool {
  const pool = poolOnSockets(servers, { deadlineMs: 20_000, reconnectMinMs: 20, reconnectMaxMs: 100, ...options });
  endings.push(() => pool.close());
  pool.start();
  return pool;
}

/** Asks many things, some at a time, and checks each answer. */
async function load(pool: LitePool, requests: number, clients = 8): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < requests) {
      const number = next++;
      const seqno = 1 + (number % 97);
      expect(await pool.query(seqnoRequest(seqno, { verifiedAs: String(number) }))).toBe(seqno);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

const stateOf = (pool: LitePool, index: number) => pool.metrics().servers[index]?.state;

/** What a network may do to one of three servers. */
const faults: [string, (proxy: TcpProxy) => void][] = [
  ['stalls', ({ toClient }) => toClient.stall()],
  [
    'stalls both ways',
    ({ toClient, toServer }) => {
      toClient.stall();
      toServer.stall();
    },
  ],
  [
    'swallows everything',
    ({ toClient }) => {
      toClient.dropping = true;
    },
  ],
  [
    'resets',
    (proxy) => {
      proxy.resetAll();
      proxy.refusing = true;
    },
  ],
  [
    'resets in the middle of an answer',
    (proxy) => {
      proxy.toClient.resetAfterBytes = 700;
      proxy.resetAll();
    },
  ],
  [
    'drips',
    ({ toClient }) => {
      toClient.segmentBytes = 3;
      toClient.delayMs = 10;
    },
  ],
  [
    'sends garbage',
    (proxy) => {
      proxy.toClient.change = (bytes) => randomBytes(bytes.length);
    },
  ],
  ['flips a bit in the answers', (proxy) => proxy.toClient.corruptByteAt(900)],
];

describe('a pool on real sockets', () => {
  for (const [name, begin] of faults) {
    it(`answers everything when the line to one of three servers ${name}, and uses it again when it is well`, async () => {
      const servers = await fakeServers(3);
      const [first, ...others] = servers as [FakeLiteserver, ...FakeLiteserver[]];
      const proxy = await bench.proxy(first.address);
      const pool = startPool([first.through(proxy), ...others.map(({ address }) => address)], {
        attemptTimeoutMs: 300,
        breakerMs: 100,
        checkIntervalMs: 100,
      });
      await pool.whenSettled(5_000);
      await load(pool, 200);
      expect(first.count(LiteServerLookupBlock)).toBeGreaterThan(0);
      begin(proxy);
      await load(pool, 600);
      proxy.heal();
      // Connections on which bytes were lost do not become well.
      proxy.resetAll();
      await until(
        () => stateOf(pool, 0),
        (state) => state === 'healthy',
      );
      const before = first.count(LiteServerLookupBlock);
      await until(
        () => {
          void pool.query(seqnoRequest(1 + (Math.floor(performance.now()) % 97))).catch(() => {});
          return first.count(LiteServerLookupBlock);
        },
        (count) => count > before,
      );
      expect(pool.metrics().failures).toBe(0);
    });
  }

  it('reads answers that come a byte at a time', async () => {
    const [server] = (await fakeServers(1)) as [FakeLiteserver];
    const proxy = await bench.proxy(server.address);
    proxy.toClient.segmentBytes = 1;
    proxy.toServer.segmentBytes = 1;
    const pool = startPool([server.through(proxy)], { hedgeShare: 0 });
    await load(pool, 60, 4);
    expect(pool.metrics().failures).toBe(0);
  });

  it('matches answers that come in another order', async () => {
    const [server] = (await fakeServers(1)) as [FakeLiteserver];
    let held: (() => void)[] = [];
    server.on(LiteServerLookupBlock, async ({ id }) => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        if (held.length < 10) return;
        for (const release of held.reverse()) release();
        held = [];
      });
      return headerOf(id.seqno);
    });
    const pool = startPool([server.address], { hedgeShare: 0, depthRefreshMs: 0 });
    await load(pool, 100, 10);
  });

  it('is not misled by answers to queries that nobody asked', async () => {
    const model = new FakeLiteserver('model');
    let isMad = false;
    const mad = await bench.scriptedServer((message, peer) => {
      if (message.kind !== 'query') return;
      const { id, data } = message;
      void model.handle(data).then((answer) => {
        peer.send(writeAnswer(isMad ? randomBytes(32) : id, answer));
      });
    });
    const [good] = (await fakeServers(1)) as [FakeLiteserver];
    const pool = startPool([{ host: mad.host, port: mad.port, publicKey: mad.publicKey, slices: null }, good.address], {
      attemptTimeoutMs: 200,
    });
    await pool.whenSettled(5_000);
    isMad = true;
    await load(pool, 200);
    expect(pool.metrics().failures).toBe(0);
  });

  it('takes the largest answer that fits into a packet, and does without one that does not', async () => {
    const servers = await fakeServers(1);
    const [server] = servers as [FakeLiteserver];
    let size = 2 ** 24 - 512;
    server.on(LiteServerGetBlock, ({ id }) => answerOf(LiteServerGetBlock, { id, data: new Uint8Array(size) }));
    const pool = startPool([server.address], { attemptTimeoutMs: 5_000, hedgeShare: 0 });
    const request = {
      fn: LiteServerGetBlock,
      query: { id: fakeBlockId(50) },
      need: { kind: 'block', seqno: 50 },
      verify: ({ data }: { data: Uint8Array }) => data.length,
    } as const;
    expect(await pool.query(request)).toBe(size);
    size = 2 ** 24;
    const late = pool.query({ ...request, deadlineMs: 500 });
    await expect(late).rejects.toMatchObject({ code: 'lite/unanswered' });
    await load(pool, 20);
  });

  it('goes on when its only server is started again under load', async () => {
    const [server] = (await fakeServers(1)) as [FakeLiteserver];
    const pool = startPool([server.address], { maxAttempts: 1_000, maxRounds: 1_000, retryDelayMs: 1 });
    await load(pool, 50);
    const busy = load(pool, 1_500);
    for (let i = 0; i < 3; i++) {
      const before = server.count(LiteServerLookupBlock);
      await until(
        () => server.count(LiteServerLookupBlock),
        (count) => count > before + 50,
      );
      await server.stop();
      await server.start();
    }
    await busy;
    expect(pool.metrics().failures).toBe(0);
  });

  it('leaves no connection behind when it is closed', async () => {
    const servers = await fakeServers(2);
    const pool = startPool(servers.map(({ address }) => address));
    await load(pool, 20);
    await pool.close();
    await until(
      () => servers.reduce((sum, each) => sum + each.connections, 0),
      (sum) => sum === 0,
    );
  });
});
