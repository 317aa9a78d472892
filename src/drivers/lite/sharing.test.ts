import { describe, expect, it } from 'vitest';
import { type LiteServerBlockHeader, LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { isTernError } from '#kernel/tern-error.js';
import { type FakeLiteserver, headerOf } from '#test/support/fake-liteserver.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

const lookups = (world: PoolInMemory) =>
  world.servers.reduce((sum, each) => sum + each.count(LiteServerLookupBlock), 0);

describe('equal requests', () => {
  it('share one query; each verifies for itself unless it says what it verifies to', async () => {
    const world = await new PoolInMemory(1).start();
    let verified = 0;
    const verify = ({ id }: LiteServerBlockHeader) => {
      verified++;
      return id.seqno;
    };
    // A check of its own each time, as callers write them.
    const text = () => seqnoRequest(7, { verify: (answer) => verify(answer) });
    const answers = [1, 2, 3].map(() => world.pool.query(text()));
    expect(await world.after(10, Promise.all(answers))).toEqual([7, 7, 7]);
    expect([lookups(world), verified]).toEqual([1, 3]);
    const named = [1, 2, 3].map(() => world.pool.query({ ...text(), verifiedAs: 'seqno' }));
    expect(await world.after(10, Promise.all(named))).toEqual([7, 7, 7]);
    expect([lookups(world), verified]).toEqual([2, 4]);
    expect(world.pool.metrics().single_flight_joins).toBe(4);
  });

  it('do not share with others: another need, wait or name', async () => {
    const world = await new PoolInMemory(1).start();
    const asked = [
      {},
      { need: { kind: 'head' } as const },
      { waitSeqno: 50 },
      { verifiedAs: 'x' },
      { verifiedAs: 'y' },
    ];
    await world.after(10, Promise.all(asked.map((rest) => world.pool.query(seqnoRequest(7, rest)))));
    expect(lookups(world)).toBe(5);
  });

  it('go on for the others when one gives up', async () => {
    const world = await new PoolInMemory(1).start();
    (world.servers[0] as FakeLiteserver).delayMs = 50;
    const controller = new AbortController();
    const first = world.pool.query(seqnoRequest(7, { signal: controller.signal })).catch((error: Error) => error);
    const hasty = world.pool.query(seqnoRequest(7, { deadlineMs: 10 })).catch((error: Error) => error);
    const patient = world.pool.query(seqnoRequest(7));
    await world.pass(20);
    controller.abort();
    expect(isTernError(await first, 'lite/aborted')).toBe(true);
    expect(isTernError(await hasty, 'lite/unanswered')).toBe(true);
    expect(await world.after(60, patient)).toBe(7);
    expect(lookups(world)).toBe(1);
  });

  it('are asked again by one whose own check finds the shared answer false', async () => {
    const world = await new PoolInMemory(2).start();
    let doubts = 0;
    const sceptic = seqnoRequest(7, {
      verify: (answer) => {
        if (doubts++ === 0) return seqnoRequest(8).verify(answer);
        return 7;
      },
    });
    const trusting = world.pool.query(seqnoRequest(7));
    const doubting = world.pool.query(sceptic);
    expect(await world.after(20, Promise.all([trusting, doubting]))).toEqual([7, 7]);
    expect(lookups(world)).toBe(2);
    expect(world.pool.metrics().servers.filter(({ state }) => state === 'quarantined')).toHaveLength(1);
  });
});

describe('immutable answers', () => {
  it('are asked for once', async () => {
    const world = await new PoolInMemory(1).start();
    for (let i = 0; i < 5; i++) {
      const request = seqnoRequest(7, { immutable: true, need: i % 2 === 0 ? { kind: 'head' } : { kind: 'archive' } });
      expect(await world.after(10, world.pool.query(request))).toBe(7);
    }
    expect(lookups(world)).toBe(1);
    expect(world.pool.metrics()).toMatchObject({ cache_hits: 4, cache_misses: 1, cache_entries: 1 });
  });

  it('take no more memory than allowed', async () => {
    const world = await new PoolInMemory(1, { cacheBytes: 5_000 }).start();
    for (let i = 1; i <= 60; i++) {
      await world.after(5, world.pool.query(seqnoRequest(i, { immutable: true })));
      expect(world.pool.metrics().cache_bytes).toBeLessThanOrEqual(5_000);
    }
    const { cache_entries, cache_evictions } = world.pool.metrics();
    expect(cache_entries).toBeGreaterThan(5);
    expect(cache_entries + cache_evictions).toBe(60);
    // A value that says that it is larger than all is not kept.
    const huge = seqnoRequest(61, { immutable: true, verifiedAs: 'huge', size: () => 10_000 });
    await world.after(5, world.pool.query(huge));
    expect(world.pool.metrics().cache_entries).toBe(cache_entries);
  });

  it('are not kept when others than immutable', async () => {
    const world = await new PoolInMemory(1).start();
    for (let i = 0; i < 3; i++) await world.after(5, world.pool.query(seqnoRequest(7)));
    expect(lookups(world)).toBe(3);
    expect(world.pool.metrics().cache_entries).toBe(0);
  });
});

describe('too many requests', () => {
  it('wait for their turn, and are refused when too many wait', async () => {
    const world = await new PoolInMemory(1, { maxInFlight: 4, maxWaiting: 3, hedgeShare: 0 }).start();
    const [server] = world.servers as [FakeLiteserver];
    server.delayMs = 20;
    const answers = Array.from({ length: 10 }, (_, i) =>
      world.pool.query(seqnoRequest(1 + i)).catch((error: unknown) => (isTernError(error) ? error.code : 'other')),
    );
    await world.pass(5);
    expect(world.pool.metrics()).toMatchObject({ in_flight: 4, waiting: 3, overloads: 3 });
    expect(await world.after(60, Promise.all(answers))).toEqual([
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      'lite/overloaded',
      'lite/overloaded',
      'lite/overloaded',
    ]);
    expect(world.pool.metrics()).toMatchObject({ in_flight: 0, waiting: 0 });
  });

  it('are given to a server only so many at a time', async () => {
    const world = await new PoolInMemory(1, { maxInFlightPerServer: 3, hedgeShare: 0 }).start();
    const [server] = world.servers as [FakeLiteserver];
    server.delayMs = 10;
    let open = 0;
    let most = 0;
    server.on(LiteServerLookupBlock, async ({ id }) => {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => void world.clock.schedule(10, resolve));
      open--;
      return headerOf(id.seqno);
    });
    const answers = Array.from({ length: 12 }, (_, i) => world.pool.query(seqnoRequest(1 + i)));
    await world.after(200, Promise.all(answers));
    expect(most).toBeLessThanOrEqual(3);
    expect(most).toBeGreaterThan(1);
  });
});
