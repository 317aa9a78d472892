import { describe, expect, it, vi } from 'vitest';
import { LitePool } from '#drivers/lite/pool.js';
import { LiteServer } from '#drivers/lite/server.js';
import { LiteServerGetMasterchainInfoExt, LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { isTernError } from '#kernel/tern-error.js';
import { errorAnswer, headerOf } from '#test/support/fake-liteserver.js';
import { PoolInMemory, seqnoRequest } from '#test/support/lite-pool.js';

/** The code of what a promise rejects with. */
function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    (value) => `no error, but ${String(value)}`,
    (error) => (isTernError(error) ? error.code : String(error)),
  );
}

describe('a pool', () => {
  it('waits for the first server, and knows the head then', async () => {
    const world = new PoolInMemory(2);
    const answer = world.pool.query(seqnoRequest(7));
    expect(world.pool.headSeqno).toBe(0);
    world.pool.start();
    expect(await world.after(50, answer)).toBe(7);
    expect(world.pool.headSeqno).toBe(100);
  });

  it('asks another server when one fails in one way or another, and says in the end what each said', async () => {
    for (const [code, text] of [
      [651, 'block handle not in db'],
      [653, 'cancelled'],
      [-503, 'timeout'],
      [429, 'too many requests'],
      [0, 'Unknown constructor found 0xfac8f71e at 0'],
    ] as const) {
      const world = await new PoolInMemory(3, { hedgeShare: 0 }).start();
      const [good, ...bad] = world.servers as [(typeof world.servers)[0] & object, ...typeof world.servers];
      for (const each of bad) each.on(LiteServerLookupBlock, () => errorAnswer(code, text));
      for (let i = 0; i < 10; i++)
        expect(await world.after(20, world.pool.query(seqnoRequest(80 + i))), text).toBe(80 + i);
      expect(good?.count(LiteServerLookupBlock), text).toBe(10);
      good?.on(LiteServerLookupBlock, () => errorAnswer(code, text));
      const failed = world.pool.query(seqnoRequest(99));
      const failure = world.after(1_000, failed).catch((error: Error) => error.message);
      for (const each of world.servers) {
        expect(await failure).toContain(code === 0 ? each.peer : `${each.peer}: error ${code}: ${text}`);
      }
    }
  });

  it('distinguishes what nobody has, what nobody knows and what nobody answers', async () => {
    const script: [number, string, string][] = [
      [651, 'seqno not in db', 'lite/not-available'],
      [621, 'unknown query', 'lite/unsupported'],
      [-503, 'timeout', 'lite/unanswered'],
    ];
    for (const [code, text, expected] of script) {
      const world = await new PoolInMemory(2).start();
      for (const each of world.servers) each.on(LiteServerLookupBlock, () => errorAnswer(code, text));
      expect(await world.after(2_000, codeOf(world.pool.query(seqnoRequest(90))))).toBe(expected);
    }
  });

  it('gives back a refusal of the request as soon as a second server says so', async () => {
    const world = await new PoolInMemory(3).start();
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => errorAnswer(-400, 'invalid block id'));
    const error = await world.after(10, world.pool.query(seqnoRequest(9))).catch((refusal: unknown) => refusal);
    expect(isTernError(error, 'lite/answer-error') && error.data.code).toBe(-400);
    expect(world.servers.reduce((sum, each) => sum + each.count(LiteServerLookupBlock), 0)).toBe(2);
  });

  it('clips what a server says, and takes control characters out of it', async () => {
    const world = await new PoolInMemory(1).start();
    const said = `\u001b[2Jno\r\u009b such\nblock ${'x'.repeat(1_000_000)}`;
    world.servers[0]!.on(LiteServerLookupBlock, () => errorAnswer(-400, said));
    const error = await world.after(10, world.pool.query(seqnoRequest(9))).catch((refusal: unknown) => refusal);
    const text = isTernError(error, 'lite/answer-error') ? String(error.data.text) : '';
    expect(text).toMatch(/^ \[2Jno {2} such\nblock x+$/);
    expect(text).toHaveLength(4_096);
  });

  it('does not believe a single server that refuses what others answer', async () => {
    const world = await new PoolInMemory(2).start();
    world.servers[0]!.on(LiteServerLookupBlock, () => errorAnswer(-400, 'no'));
    for (let i = 0; i < 20; i++) expect(await world.after(10, world.pool.query(seqnoRequest(1 + i)))).toBe(1 + i);
    const [odd, good] = world.servers.map((each) => each.count(LiteServerLookupBlock));
    expect(odd).toBeGreaterThan(0);
    // It answers nothing, so that it is asked less and less.
    expect(odd).toBeLessThan(good! / 2);
    expect(world.pool.metrics().servers[0]!.errors).toMatchObject({ contradicted: odd });
  });

  it('believes it when nobody else can be asked, without waiting for one', async () => {
    const world = await new PoolInMemory(2).start();
    world.network.unreachable.add(world.servers[1]!.name);
    world.network.cut(world.servers[1]!);
    world.servers[0]!.on(LiteServerLookupBlock, () => errorAnswer(-400, 'invalid block id'));
    const error = await world.after(10, world.pool.query(seqnoRequest(9))).catch((refusal: unknown) => refusal);
    expect(isTernError(error, 'lite/answer-error') && error.data.text).toBe('invalid block id');
  });

  it('asks another server when one is a block behind what its question names', async () => {
    const world = await new PoolInMemory(2).start();
    const behind = 'client knows block (-1,8000000000000000,9):AB:CD newer than the reference masterchain block (-1)';
    for (const each of world.servers) {
      let first = true;
      each.on(LiteServerLookupBlock, ({ id }) => {
        const isFirst = first;
        first = false;
        return isFirst ? errorAnswer(-400, behind) : headerOf(id.seqno);
      });
    }
    expect(await world.after(500, world.pool.query(seqnoRequest(90)))).toBe(90);
  });

  it('does not ask a server again for a function that it does not know', async () => {
    const world = await new PoolInMemory(2, { hedgeShare: 0 }).start();
    const [old] = world.servers;
    old?.on(LiteServerLookupBlock, () => errorAnswer(621, 'unknown query'));
    for (let i = 0; i < 20; i++) await world.after(10, world.pool.query(seqnoRequest(50 + i)));
    expect(old?.count(LiteServerLookupBlock)).toBe(1);
  });

  it('asks once more when a block is not applied yet', async () => {
    const world = await new PoolInMemory(1).start();
    let asked = 0;
    world.servers[0]?.on(LiteServerLookupBlock, () =>
      asked++ === 0 ? errorAnswer(651, 'block is not applied') : headerOf(100),
    );
    expect(await world.after(400, world.pool.query(seqnoRequest(100)))).toBe(100);
    expect(asked).toBe(2);
  });

  it('ends with what it knows when the deadline is over, and leaves nothing behind', async () => {
    const world = await new PoolInMemory(2).start();
    await world.pass(100);
    const before = world.clock.pending;
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => null);
    const request = world.pool.query(seqnoRequest(50, { deadlineMs: 2_000 }));
    const error = await world.after(2_100, request).catch((late: unknown) => late);
    expect(isTernError(error, 'lite/unanswered') && error.message).toMatch(
      /in 2000 ms: .*s[01]:1: no answer after \d+ ms/,
    );
    expect(world.clock.pending).toBe(before);
    expect(world.pool.metrics().in_flight).toBe(0);
  });

  it('takes the next server when one does not answer in time', async () => {
    const world = await new PoolInMemory(2, { attemptTimeoutMs: 500, hedgeShare: 0 }).start();
    const [silent] = world.servers;
    silent?.on(LiteServerLookupBlock, () => null);
    const answers = Array.from({ length: 8 }, (_, i) => world.pool.query(seqnoRequest(60 + i)));
    expect(await world.after(600, Promise.all(answers))).toEqual([60, 61, 62, 63, 64, 65, 66, 67]);
    expect(silent?.count(LiteServerLookupBlock)).toBeGreaterThan(0);
  });

  it('stops when the caller gives the signal, before and during', async () => {
    const world = await new PoolInMemory(1).start();
    world.servers[0]?.on(LiteServerLookupBlock, () => null);
    const controller = new AbortController();
    const request = codeOf(world.pool.query(seqnoRequest(50, { signal: controller.signal })));
    await world.pass(5);
    controller.abort();
    expect(await world.after(1, request)).toBe('lite/aborted');
    expect(await codeOf(world.pool.query(seqnoRequest(50, { signal: controller.signal })))).toBe('lite/aborted');
    expect(world.pool.metrics().in_flight).toBe(0);
  });

  it('ends everything when it is closed', async () => {
    const world = await new PoolInMemory(2).start();
    for (const each of world.servers) each.on(LiteServerLookupBlock, () => null);
    const request = codeOf(world.pool.query(seqnoRequest(50)));
    const sent = codeOf(world.pool.fanOut(seqnoRequest(51), 2));
    const idle = codeOf(world.pool.query(seqnoRequest(60, { waitSeqno: 1_000 })));
    await world.pass(5);
    const closed = world.pool.close();
    expect([await request, await sent, await idle]).toEqual(['lite/closed', 'lite/closed', 'lite/closed']);
    await closed;
    expect(await codeOf(world.pool.query(seqnoRequest(50)))).toBe('lite/closed');
    expect(world.clock.pending).toBe(0);
  });

  it('connects again soon to a server that restarts each second', async () => {
    const world = await new PoolInMemory(1, { reconnectMinMs: 100, reconnectMaxMs: 30_000 }).start();
    for (let i = 0; i < 12; i++) {
      await world.pass(1_000);
      expect(world.pool.metrics().servers[0]?.state, `after restart ${i}`).toBe('healthy');
      world.network.cut(world.servers[0]!);
    }
    expect(world.network.attempts.length).toBe(12);
  });

  it('connects again after ever longer pauses', async () => {
    const world = new PoolInMemory(1, { reconnectMinMs: 100, reconnectMaxMs: 1_000 });
    world.network.unreachable.add('s0');
    world.pool.start();
    await world.pass(20_000);
    const times = world.network.attempts.map(({ at }) => at);
    const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0));
    expect(
      pauses.slice(0, 4).every((each, i) => each >= 50 * 2 ** i && each <= 110 * 2 ** i),
      String(pauses),
    ).toBe(true);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_010);
    expect(world.pool.metrics().servers[0]).toMatchObject({
      state: 'failing',
      errors: { 'adnl/connect-failed': times.length },
    });
    world.network.unreachable.clear();
    await world.pass(1_100);
    expect(world.pool.metrics().servers[0]?.state).toBe('healthy');
  });

  it('refuses options that make no sense', () => {
    const modules = new PoolInMemory(1);
    for (const wrong of [{ deadlineMs: 0 }, { hedgeShare: 2 }, { maxLag: 1.5 }, { cacheBytes: -1 }]) {
      expect(() => new PoolInMemory(1, wrong), JSON.stringify(wrong)).toThrow(/accepted: a/);
    }
    expect(() => new PoolInMemory(0)).toThrow(/at least one server/);
    expect(modules.pool).toBeInstanceOf(LitePool);
  });
});

describe('the head', () => {
  it('is learnt without asking again and again', async () => {
    const world = await new PoolInMemory(1).start();
    const [server] = world.servers;
    for (let i = 0; i < 5; i++) {
      server?.advance();
      await world.pass(200);
      expect(world.pool.headSeqno).toBe(101 + i);
    }
    await world.pass(30_000);
    // One for each block and one for each wait that ended, plus the first.
    expect(server?.count(LiteServerGetMasterchainInfoExt)).toBeLessThanOrEqual(11);
  });

  it('is not taken from a server in quarantine, nor do others lag behind one that boasts', async () => {
    const world = await new PoolInMemory(3, {}, ([liar]) => {
      if (liar !== undefined) liar.boast = 1_000_000;
    }).start();
    const states = () => world.pool.metrics().servers.map(({ state }) => state);
    expect(states()).toEqual(['healthy', 'healthy', 'healthy']);
    expect(world.pool.headSeqno).toBe(100);
    const bad = seqnoRequest(100, { need: { kind: 'head' } });
    world.servers[0]?.on(LiteServerLookupBlock, () => headerOf(1));
    for (let i = 0; i < 8 && states()[0] === 'healthy'; i++) await world.after(10, world.pool.query(bad));
    expect(states()[0]).toBe('quarantined');
    expect(world.pool.headSeqno).toBe(100);
  });

  it.each([true, false])(
    'is not taken from a server whose seqno is impossible (with the newer function: %s)',
    async (hasExt) => {
      for (const seqno of [2 ** 31 - 1, -1]) {
        const world = await new PoolInMemory(2, {}, ([liar]) => {
          if (liar !== undefined) Object.assign(liar, { hasExt, boast: seqno - 100 });
        }).start();
        await world.pass(1_000);
        const states = () => world.pool.metrics().servers.map(({ state }) => state);
        expect(states()).toEqual(['quarantined', 'healthy']);
        expect(world.pool.metrics().servers[0]).toMatchObject({ seqno: 0, reason: `the head has the seqno ${seqno}` });
        expect(world.pool.headSeqno).toBe(100);
        Object.assign(world.servers[0] as object, { boast: 0 });
        await world.pass(120_000);
        expect(states()).toEqual(['healthy', 'healthy']);
      }
    },
  );

  it('is followed again after an answer that nobody expected', async () => {
    const world = await new PoolInMemory(1).start();
    const [server] = world.servers;
    vi.spyOn(LiteServer.prototype, 'recordHead').mockImplementationOnce(() => {
      throw new RangeError('nobody expected this');
    });
    server?.advance();
    await world.pass(200);
    expect(world.pool.metrics().servers[0]).toMatchObject({
      state: 'quarantined',
      reason: 'not monitored: nobody expected this',
    });
    vi.restoreAllMocks();
    await world.pass(120_000);
    expect(world.pool.metrics().servers[0]).toMatchObject({ state: 'healthy', seqno: 101 });
  });

  it('moves requests away from a server that stays behind', async () => {
    const world = await new PoolInMemory(2, { maxLag: 3, hedgeShare: 0 }).start();
    const [slow, fast] = world.servers;
    fast?.advance(120);
    await world.pass(200);
    expect(world.pool.metrics().servers[0]).toMatchObject({ state: 'lagging', lag: 20 });
    for (let i = 0; i < 10; i++)
      await world.after(10, world.pool.query(seqnoRequest(90 - i, { need: { kind: 'head' } })));
    expect(slow?.count(LiteServerLookupBlock)).toBe(0);
    for (let i = 0; i < 20; i++) await world.after(10, world.pool.query(seqnoRequest(60 + i)));
    // What it has it may be asked for.
    expect(slow?.count(LiteServerLookupBlock)).toBeGreaterThan(0);
  });

  it('is that of the first server that has it, but not what a single one of three claims far ahead of the others', async () => {
    const world = await new PoolInMemory(3, { maxLag: 3 }).start();
    const [first, ...others] = world.servers;
    for (const [seqno, head] of [
      [101, 101],
      [103, 103],
      [104, 100],
      [1_000_000, 100],
    ] as const) {
      first?.advance(seqno);
      await world.pass(200);
      expect(world.pool.headSeqno).toBe(head);
    }
    for (const other of others) other.advance(102);
    await world.pass(200);
    expect(world.pool.headSeqno).toBe(102);
  });

  it('is had from old servers, too', async () => {
    const world = await new PoolInMemory(1, {}, ([old]) => {
      if (old !== undefined) old.hasExt = false;
    }).start();
    await world.pass(500);
    expect(world.pool.headSeqno).toBe(100);
    world.servers[0]?.advance();
    await world.pass(300);
    expect(world.pool.headSeqno).toBe(101);
  });

  it('shows whose clock is wrong', async () => {
    const world = await new PoolInMemory(2, {}, ([, wrong]) => {
      if (wrong !== undefined) wrong.now = 5_000;
    }).start();
    expect(world.pool.metrics().servers[1]?.clock_skew_seconds).toBe(4_000);
  });
});
