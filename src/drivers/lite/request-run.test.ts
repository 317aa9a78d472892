import { describe, expect, it } from 'vitest';
import { LiteServerLookupBlock, type TonNodeBlockId } from '#formats/tl/lite-api.js';
import { pause } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { errorAnswer, type FakeLiteserver, headerOf } from '#test/support/fake-liteserver.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

/** Blocks from this seqno on, as a server has them that deletes older ones. */
function from(server: FakeLiteserver, oldest: number): void {
  server.oldestBlock = oldest;
  server.oldestState = oldest;
}

const lookups = (world: PoolInMemory) => world.servers.map((each) => each.count(LiteServerLookupBlock));

describe('a server that shows to be further behind than it claims', () => {
  /** The newest block that a server shows. */
  const newest = () =>
    seqnoRequest(100, { need: { kind: 'head' }, verify: ({ id }) => id.seqno, headOf: (seqno) => seqno });

  it('is passed over, however fast it is, and not blamed', async () => {
    const world = await new PoolInMemory(3).start();
    const [behind, ...others] = world.servers as [FakeLiteserver, ...FakeLiteserver[]];
    for (const each of others) each.delayMs = 40;
    behind.on(LiteServerLookupBlock, () => headerOf(60));
    for (let i = 0; i < 20; i++) {
      expect(await world.after(200, world.pool.query(newest()))).toBe(100);
      await world.pass(1_000);
    }
    expect(behind.count(LiteServerLookupBlock)).toBeGreaterThan(0);
    expect(world.pool.metrics().servers.map(({ state }) => state)).toEqual(['healthy', 'healthy', 'healthy']);
  });

  it('is believed when there is no other, or none that answers', async () => {
    const alone = await new PoolInMemory(1).start();
    alone.servers[0]!.on(LiteServerLookupBlock, () => headerOf(60));
    expect(await alone.after(100, alone.pool.query(newest()))).toBe(60);
    const world = await new PoolInMemory(2, { attemptTimeoutMs: 1_000 }).start();
    const [behind, silent] = world.servers as [FakeLiteserver, FakeLiteserver];
    behind.on(LiteServerLookupBlock, () => headerOf(60));
    silent.on(LiteServerLookupBlock, () => null);
    expect(await world.after(2_500, world.pool.query(newest()))).toBe(60);
  });

  it('is believed when it is no further behind than servers may be', async () => {
    const world = await new PoolInMemory(2).start();
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => headerOf(95));
    expect(await world.after(100, world.pool.query(newest()))).toBe(95);
    expect(lookups(world).reduce((sum, count) => sum + count)).toBe(1);
  });
});

describe('an archive', () => {
  it('stays one when it lacked a new block for a moment', async () => {
    const world = await new PoolInMemory(2, {}, (servers) => {
      for (const each of servers) each.advance(1_000);
      from(servers[1]!, 900);
      servers[0]!.delayMs = 40;
    }).start();
    const [archive, recent] = world.servers as [FakeLiteserver, FakeLiteserver];
    expect(await world.after(500, world.pool.query(seqnoRequest(50)))).toBe(50);
    recent.delayMs = 80;
    archive.delayMs = 1;
    await world.pass(60_000);
    let isLate = true;
    archive.on(LiteServerLookupBlock, ({ id }) => (isLate ? errorAnswer(651, 'block not found') : headerOf(id.seqno)));
    for (let i = 0; i < 20; i++) await world.after(500, world.pool.query(seqnoRequest(1_000 - i)));
    isLate = false;
    recent.delayMs = 1;
    archive.delayMs = 40;
    expect(archive.count(LiteServerLookupBlock)).toBeGreaterThan(1);
    for (let i = 0; i < 5; i++) {
      await world.pass(60_000);
      expect(await world.after(500, world.pool.query(seqnoRequest(40 + i)))).toBe(40 + i);
    }
  });
});

describe('a server that lies', () => {
  it('is set aside, the reason is reported, and another one is asked; each time for longer', async () => {
    const world = await new PoolInMemory(2, { quarantineMs: 1_000 }).start();
    const [liar] = world.servers as [FakeLiteserver, FakeLiteserver];
    liar.on(LiteServerLookupBlock, () => headerOf(1));
    const ends: number[] = [];
    for (let i = 0; i < 400 && ends.length < 4; i++) {
      expect(await world.after(20, world.pool.query(seqnoRequest(20 + (i % 80))))).toBe(20 + (i % 80));
      const [{ quarantines = 0, quarantine_seconds = 0 } = {}] = world.pool.metrics().servers;
      if (quarantines > ends.length) ends.push(Math.round(quarantine_seconds));
      if (quarantine_seconds > 0) await world.pass(quarantine_seconds * 1_000);
    }
    expect(ends).toEqual([1, 2, 4, 8]);
    expect(world.pool.metrics().servers[0]?.errors).toEqual({});
    const said = world.log.filter(({ message }) => message === 'lite server quarantined');
    expect(said).toHaveLength(4);
    expect(String(said[0]?.fields?.reason)).toContain('block 1 is not block');
    expect(liar.count(LiteServerLookupBlock)).toBe(4);
  });

  it('is set aside when its answer is cut off, too', async () => {
    const world = await new PoolInMemory(1).start();
    world.servers[0]?.on(LiteServerLookupBlock, () => headerOf(5).subarray(0, 60));
    const error = await world.after(10, world.pool.query(seqnoRequest(5))).catch((reason: unknown) => reason);
    expect(isTernError(error, 'lite/unanswered')).toBe(true);
    expect(world.pool.metrics().servers[0]?.state).toBe('quarantined');
  });

  it('is not the one to blame when the check itself is at fault', async () => {
    const world = await new PoolInMemory(1).start();
    const verify = () => {
      throw new TypeError('oops');
    };
    await expect(world.after(10, world.pool.query(seqnoRequest(5, { verify })))).rejects.toThrow('oops');
    expect(world.pool.metrics().servers[0]?.state).toBe('healthy');
  });

  it('ends a request at once when nobody else is there', async () => {
    const world = await new PoolInMemory(1).start();
    world.servers[0]?.on(LiteServerLookupBlock, () => headerOf(1));
    const first = await world.after(10, world.pool.query(seqnoRequest(5))).catch((reason: Error) => reason.message);
    expect(first).toContain('invalid answer');
    const second = await world.after(10, world.pool.query(seqnoRequest(5))).catch((reason: Error) => reason.message);
    expect(second).toContain('not queried, quarantined');
  });
});

describe('routing by age', () => {
  it('finds out which server is an archive, and asks it alone for what is old', async () => {
    const world = await new PoolInMemory(3, { depthRefreshMs: 600_000 }, (servers) => {
      for (const each of servers) each.seqno = 100_000;
      from(servers[0] as FakeLiteserver, 60_000);
      from(servers[1] as FakeLiteserver, 99_000);
    }).start();
    await world.pass(1_000);
    const metrics = world.pool.metrics().servers;
    expect(metrics.map(({ is_archive }) => is_archive)).toEqual([false, false, true]);
    const [first, second] = metrics;
    expect(first?.oldest_block).toBeGreaterThanOrEqual(60_000);
    expect(first?.oldest_block).toBeLessThan(61_000);
    expect(second?.oldest_state).toBeLessThan(99_100);
    const before = lookups(world);
    for (let i = 0; i < 20; i++) {
      await world.after(5, world.pool.query(seqnoRequest(500 + i, { need: { kind: 'state', seqno: 500 + i } })));
      await world.after(5, world.pool.query(seqnoRequest(700 + i, { need: { kind: 'archive' } })));
      await world.after(5, world.pool.query(seqnoRequest(80_000 + i)));
    }
    const [old = 0, young = 0, archive = 0] = lookups(world).map((count, i) => count - (before[i] ?? 0));
    expect(young).toBe(0);
    expect(archive).toBeGreaterThanOrEqual(40);
    // What two of them have is asked of both.
    expect(old).toBeGreaterThan(0);
    expect(old + archive).toBe(60);
  });

  it('learns from what servers lack and have', async () => {
    const world = await new PoolInMemory(2, { hedgeShare: 0 }, ([young]) => {
      for (const each of [young]) if (each !== undefined) from(each, 90);
    }).start();
    for (const each of world.servers) each.advance(1_000);
    from(world.servers[0] as FakeLiteserver, 900);
    await world.pass(200);
    for (let i = 0; i < 20; i++) expect(await world.after(10, world.pool.query(seqnoRequest(500)))).toBe(500);
    const [young = 0, old = 0] = lookups(world);
    expect(young).toBeLessThanOrEqual(1);
    expect(old).toBe(20);
  });

  it('does not take what does not exist for a lack', async () => {
    const world = await new PoolInMemory(2).start();
    await world.after(3_000, world.pool.query(seqnoRequest(5_000_000))).catch(() => {});
    await world.after(3_000, world.pool.query(seqnoRequest(90))).then((seqno) => expect(seqno).toBe(90));
    expect(world.pool.metrics().servers.every(({ state }) => state === 'healthy')).toBe(true);
  });

  it('asks archives next when something of unknown age is missing', async () => {
    const world = await new PoolInMemory(6, { depthRefreshMs: 600_000, hedgeShare: 0 }, (servers) => {
      for (const each of servers) each.seqno = 10_000;
      for (const each of servers.slice(1)) from(each, 9_000);
    }).start();
    await world.pass(500);
    for (let i = 0; i < 10; i++) {
      const before = lookups(world).reduce((sum, count) => sum + count, 0);
      await world.after(10, world.pool.query(seqnoRequest(50 + i, { need: { kind: 'head' } })));
      expect(lookups(world).reduce((sum, count) => sum + count, 0) - before).toBeLessThanOrEqual(2);
    }
  });

  it('waits for an archive that is away', async () => {
    const world = await new PoolInMemory(2, { depthRefreshMs: 600_000, reconnectMinMs: 1_000 }, ([young, archive]) => {
      for (const each of [young, archive]) if (each !== undefined) each.seqno = 10_000;
      if (young !== undefined) from(young, 9_000);
    }).start();
    await world.pass(500);
    world.network.cut(world.servers[1] as FakeLiteserver);
    expect(await world.after(3_000, world.pool.query(seqnoRequest(50)))).toBe(50);
  });

  it('makes a server that is one block behind wait for it', async () => {
    const world = await new PoolInMemory(1, { hedgeShare: 0 }).start();
    const [server] = world.servers as [FakeLiteserver];
    const request = world.pool.query(seqnoRequest(101));
    await world.pass(10);
    server.advance();
    expect(await world.after(10, request)).toBe(101);
    expect(server.count(LiteServerLookupBlock)).toBe(1);
  });
});

describe('waiting for a block', () => {
  it('goes on over the ten seconds that a server allows, without asking in between', async () => {
    const world = await new PoolInMemory(1).start();
    const [server] = world.servers as [FakeLiteserver];
    const request = world.pool.query(seqnoRequest(105, { waitSeqno: 105, deadlineMs: 60_000 }));
    expect(await world.after(35_000, request)).toBe('pending');
    expect(server.count(LiteServerLookupBlock)).toBe(4);
    server.advance(105);
    expect(await world.after(100, request)).toBe(105);
  });

  it('begins when a server is near enough to be asked to wait', async () => {
    const world = await new PoolInMemory(1).start();
    const [server] = world.servers as [FakeLiteserver];
    const request = world.pool.query(seqnoRequest(500, { waitSeqno: 500, deadlineMs: 60_000 }));
    await world.pass(2_000);
    expect(server.count(LiteServerLookupBlock)).toBe(0);
    server.advance(450);
    await world.pass(500);
    expect(server.count(LiteServerLookupBlock)).toBe(1);
    server.advance(500);
    expect(await world.after(100, request)).toBe(500);
  });

  it('ends with the deadline', async () => {
    const world = await new PoolInMemory(1).start();
    const request = world.pool.query(seqnoRequest(105, { waitSeqno: 105, deadlineMs: 3_000 }));
    const error = await world.after(3_100, request).catch((late: unknown) => late);
    expect(isTernError(error, 'lite/unanswered')).toBe(true);
  });

  it('moves to a server that has the block when the first one is stuck', async () => {
    const world = await new PoolInMemory(2, {}, ([, second]) => second?.advance(99)).start();
    const [first, second] = world.servers as [FakeLiteserver, FakeLiteserver];
    const request = world.pool.query(seqnoRequest(101, { waitSeqno: 101, deadlineMs: 60_000 }));
    await world.pass(100);
    const stuck = first.count(LiteServerLookupBlock) > 0 ? first : second;
    const other = stuck === first ? second : first;
    other.advance(101);
    expect(await world.after(700, request)).toBe(101);
    expect(other.count(LiteServerLookupBlock)).toBe(1);
  });
});

describe('second requests', () => {
  it('are sent when the first one takes longer than usual, and the faster answer counts', async () => {
    const world = await new PoolInMemory(2).start();
    const [a, b] = world.servers as [FakeLiteserver, FakeLiteserver];
    for (let i = 0; i < 60; i++) await world.after(5, world.pool.query(seqnoRequest(20 + i)));
    expect(world.pool.metrics().hedges).toBe(0);
    let first = true;
    const slowOnce =
      () =>
      ({ id }: { id: TonNodeBlockId }) => {
        if (!first) return headerOf(id.seqno);
        first = false;
        return null;
      };
    a.on(LiteServerLookupBlock, slowOnce());
    b.on(LiteServerLookupBlock, slowOnce());
    expect(await world.after(40, world.pool.query(seqnoRequest(90)))).toBe(90);
    expect(world.pool.metrics().hedges).toBe(1);
  });

  it('leave the slower server time to answer, so that it is known how slow it is', async () => {
    const world = await new PoolInMemory(2).start();
    for (let i = 0; i < 60; i++) await world.after(5, world.pool.query(seqnoRequest(1 + i)));
    const means = () => world.pool.metrics().servers.map(({ rtt_mean_seconds }) => rtt_mean_seconds ?? 0);
    expect(Math.max(...means())).toBeLessThan(0.01);
    let first = true;
    for (const each of world.servers) {
      each.on(LiteServerLookupBlock, async ({ id }) => {
        const isFirst = first;
        first = false;
        if (isFirst) await pause(400, world.clock);
        return headerOf(id.seqno);
      });
    }
    expect(await world.after(40, world.pool.query(seqnoRequest(90)))).toBe(90);
    const inFlight = () => world.pool.metrics().servers.reduce((sum, { in_flight }) => sum + in_flight, 0);
    // Two of them wait for the next block.
    expect(inFlight()).toBe(3);
    await world.pass(500);
    expect(inFlight()).toBe(2);
    expect(Math.max(...means())).toBeGreaterThan(0.07);
  });

  it('are called off when nobody wants to know any more', async () => {
    const world = await new PoolInMemory(2).start();
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => null);
    const controller = new AbortController();
    const request = world.pool.query(seqnoRequest(90, { signal: controller.signal }));
    await world.pass(1_000);
    controller.abort();
    await expect(world.after(1, request)).rejects.toMatchObject({ code: 'lite/aborted' });
    expect(world.pool.metrics().servers.map(({ in_flight }) => in_flight)).toEqual([1, 1]);
  });

  it('come later when there is none to spend at first', async () => {
    const world = await new PoolInMemory(2, { hedgeBurst: 2, hedgeShare: 0.01 }).start();
    let asked = 0;
    for (const each of world.servers) {
      each.on(LiteServerLookupBlock, ({ id }) => (asked++ < 2 ? null : headerOf(id.seqno)));
    }
    const answers = [40, 50].map((seqno) => world.pool.query(seqnoRequest(seqno)));
    // One second request for what is a little late, the other one for what is long overdue.
    await world.pass(600);
    expect([asked, world.pool.metrics().hedges]).toEqual([3, 1]);
    expect(await world.after(1_000, Promise.all(answers))).toEqual([40, 50]);
    expect([asked, world.pool.metrics().hedges]).toEqual([4, 2]);
  });

  it('are a small share of all', async () => {
    const world = await new PoolInMemory(2, { hedgeShare: 0.1, hedgeBurst: 5 }).start();
    for (let i = 0; i < 30; i++) await world.after(5, world.pool.query(seqnoRequest(20 + i)));
    for (const each of world.servers) each.delayMs = 100;
    for (let i = 0; i < 100; i++) await world.after(210, world.pool.query(seqnoRequest(1 + (i % 99))));
    const { hedges, requests } = world.pool.metrics();
    expect(hedges).toBeGreaterThan(0);
    expect(hedges).toBeLessThanOrEqual(0.1 * requests + 5);
  });
});

describe('a server that stops answering', () => {
  it('gets next to nothing while it is sick, and its share again when it is well', async () => {
    const world = await new PoolInMemory(3).start();
    const [sick] = world.servers as [FakeLiteserver];
    const share = async (bundles: number) => {
      const before = sick.count(LiteServerLookupBlock);
      for (let i = 0; i < bundles; i++) {
        const some = Array.from({ length: 8 }, (_, k) => world.pool.query(seqnoRequest(1 + ((i * 8 + k) % 99))));
        await world.after(60, Promise.all(some));
      }
      return (sick.count(LiteServerLookupBlock) - before) / (bundles * 8);
    };
    expect(await share(30)).toBeGreaterThan(0.2);
    sick.isSilent = true;
    await world.pass(100);
    expect(await share(200)).toBeLessThan(0.03);
    sick.isSilent = false;
    await world.pass(60_000);
    expect(await share(30)).toBeGreaterThan(0.1);
  });

  it('does not keep requests from being answered', async () => {
    const world = await new PoolInMemory(3).start();
    for (let i = 0; i < 60; i++) await world.after(5, world.pool.query(seqnoRequest(1 + i)));
    (world.servers[0] as FakeLiteserver).isSilent = true;
    let slow = 0;
    for (let i = 0; i < 300; i++) {
      const startedAt = world.clock.now();
      const answer = world.pool.query(seqnoRequest(1 + (i % 99)));
      while ((await world.after(1, answer)) === 'pending');
      if (world.clock.now() - startedAt > 30) slow++;
    }
    expect(slow).toBe(0);
  });
});

describe('requests to several servers at once', () => {
  it('end with the first success', async () => {
    const world = await new PoolInMemory(4).start();
    const [first, second] = world.servers as [FakeLiteserver, FakeLiteserver];
    first.on(LiteServerLookupBlock, () =>
      errorAnswer(-701, 'cannot apply external message to current state : duplicate'),
    );
    second.on(LiteServerLookupBlock, () => null);
    expect(await world.after(20, world.pool.fanOut(seqnoRequest(40), 4))).toBe(40);
    expect(lookups(world)).toEqual([1, 1, 1, 1]);
  });

  it('end with the refusal when all refuse, and go to no more servers than wanted', async () => {
    const world = await new PoolInMemory(4).start();
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => errorAnswer(-701, 'not accepted'));
    const error = await world.after(20, world.pool.fanOut(seqnoRequest(40), 2)).catch((reason: unknown) => reason);
    expect(isTernError(error, 'lite/answer-error') && error.data).toMatchObject({ code: -701, text: 'not accepted' });
    expect(lookups(world).reduce((sum, count) => sum + count, 0)).toBe(2);
  });

  it('wait for a server, but not longer than the deadline', async () => {
    const world = new PoolInMemory(1);
    const late = world.pool.fanOut(seqnoRequest(40, { deadlineMs: 500 }), 2).catch((reason: Error) => reason.message);
    expect(await world.after(600, late)).toContain('not queried, connecting');
  });

  it('are not sent after all when the deadline or the caller was faster', async () => {
    const world = await new PoolInMemory(1, { maxInFlight: 1 }).start();
    const [server] = world.servers as [FakeLiteserver];
    server.on(LiteServerLookupBlock, ({ id }) => (id.seqno === 1 ? null : headerOf(id.seqno)));
    const busy = world.pool.query(seqnoRequest(1, { deadlineMs: 1_000 })).catch(() => {});
    await world.pass(1);
    const late = world.pool.fanOut(seqnoRequest(2, { deadlineMs: 200 }), 1);
    await expect(world.after(300, late)).rejects.toMatchObject({ code: 'lite/unanswered' });
    const controller = new AbortController();
    const givenUp = world.pool.fanOut(seqnoRequest(3, { signal: controller.signal }), 1);
    controller.abort();
    await expect(world.after(1, givenUp)).rejects.toMatchObject({ code: 'lite/aborted' });
    expect(world.pool.metrics().waiting).toBe(0);
    await world.after(2_000, busy);
    expect(server.count(LiteServerLookupBlock)).toBe(1);
    expect(await world.after(10, world.pool.fanOut(seqnoRequest(4), 1))).toBe(4);
  });

  it('may lose the caller while no server can be asked', async () => {
    const world = new PoolInMemory(1);
    const controller = new AbortController();
    const givenUp = world.pool.fanOut(seqnoRequest(3, { signal: controller.signal }), 1);
    await world.pass(10);
    controller.abort();
    await expect(world.after(1, givenUp)).rejects.toMatchObject({ code: 'lite/aborted' });
    await world.start();
    await world.pass(1_000);
    expect(lookups(world)).toEqual([0]);
    expect(world.pool.metrics().in_flight).toBe(0);
  });
});
