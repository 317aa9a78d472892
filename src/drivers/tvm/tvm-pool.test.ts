import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import { LeakyBucket } from '#drivers/tvm/leaky-bucket.js';
import type { TvmOptions } from '#drivers/tvm/options.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { TvmThreads } from '#drivers/tvm/tvm-threads.js';
import type { Cell } from '#formats/cells/cell.js';
import { vmInt } from '#formats/tlb/vm-stack.js';
import { systemClock } from '#kernel/clock.js';
import { ownThreadCpuTime } from '#kernel/os-thread.js';
import { codeOf, getMethodRequest } from '#test/support/tvm-contract.js';
import { startTvm, withPool } from '#test/support/tvm-pool.js';

/** A tuple of itself twice, 40 times over: little gas, but a result that takes for ever to write. Only time ends it. */
const endless = getMethodRequest(codeOf(`70${'206f02'.repeat(40)}`));
/** A million gas: some tenths of a second. */
const long = getMethodRequest(codeOf('90ea'));
const quick = getMethodRequest(codeOf('3079'));

async function until(reached: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !reached(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(reached()).toBe(true);
}

/** Threads of this process that others go before. */
function threadsBehind(): number {
  const own = getPriority(process.pid);
  return readdirSync('/proc/self/task').filter((thread) => getPriority(Number(thread)) > own).length;
}

describe('the pool', () => {
  it('stops a run that takes too long, and goes on with the same worker', () =>
    withPool({ workers: 1 }, async (pool) => {
      const runaway = pool.runGetMethod(endless, { timeoutMs: 200 });
      const waits = pool.runGetMethod(quick);
      await expect(runaway).rejects.toMatchObject({ code: 'tvm/timeout', class: 'overloaded', data: { afterMs: 200 } });
      expect((await waits).stack).toEqual([vmInt(9)]);
      expect(pool.metrics()).toMatchObject({ workers: 1, busy: 0, failures: { 'tvm/timeout': 1 } });
      expect(pool.metrics()).toMatchObject({ interrupted: 1, replaced: 0 });
    }));

  it('does so again and again', () =>
    withPool({ workers: 1, spares: 0, timeoutMs: 100 }, async (pool) => {
      const runaways = [1, 2].map(() => pool.runGetMethod(endless));
      for (const each of runaways) await expect(each).rejects.toMatchObject({ code: 'tvm/timeout' });
      expect((await pool.runGetMethod(quick, { timeoutMs: 120_000 })).stack).toEqual([vmInt(9)]);
      expect(pool.metrics()).toMatchObject({ workers: 1, interrupted: 2, replaced: 0 });
    }));

  it('interrupts a run whose client has gone', () =>
    withPool({ workers: 1 }, async (pool) => {
      const client = new AbortController();
      const left = pool.runGetMethod(endless, { signal: client.signal });
      const waits = pool.runGetMethod(quick);
      await until(() => pool.metrics().busy === 1);
      client.abort();
      await expect(left).rejects.toMatchObject({ code: 'tvm/aborted' });
      expect((await waits).stack).toEqual([vmInt(9)]);
      expect(pool.metrics()).toMatchObject({ interrupted: 1, replaced: 0 });
    }));

  it('refuses runs when too many wait, or one waits too long', () =>
    withPool({ workers: 1, maxWaiting: 1, queueTimeoutMs: 50 }, async (pool) => {
      const first = pool.runGetMethod(endless, { timeoutMs: 400 });
      const second = pool.runGetMethod(quick);
      const third = pool.runGetMethod(quick);
      await expect(third).rejects.toMatchObject({ code: 'tvm/overloaded', class: 'overloaded' });
      await expect(second).rejects.toMatchObject({ code: 'tvm/waited-too-long', class: 'overloaded' });
      await expect(first).rejects.toMatchObject({ code: 'tvm/timeout' });
    }));

  it('calls off a run by signal: one that waits, one under way, one not begun', () =>
    withPool({ workers: 1 }, async (pool) => {
      const running = new AbortController();
      const waiting = new AbortController();
      const first = pool.runGetMethod(long, { signal: running.signal });
      const second = pool.runGetMethod(quick, { signal: waiting.signal });
      const third = pool.runGetMethod(quick);
      await new Promise((resolve) => setTimeout(resolve, 5));
      waiting.abort();
      running.abort();
      await expect(first).rejects.toMatchObject({ code: 'tvm/aborted' });
      await expect(second).rejects.toMatchObject({ code: 'tvm/aborted' });
      expect((await third).exit_code).toBe(0);
      await expect(pool.runGetMethod(quick, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'tvm/aborted',
      });
      expect(pool.metrics().replaced).toBe(0);
    }));

  it('fails what runs and what waits when it is closed, and what comes later', async () => {
    const pool = await startTvm({ workers: 1 });
    const runs = [pool.runGetMethod(endless), pool.runGetMethod(quick), pool.runGetMethod(quick)];
    const failed = Promise.allSettled(runs);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await pool.close();
    for (const result of await failed)
      expect(result).toMatchObject({ reason: { code: 'tvm/closed', class: 'shutting-down' } });
    await expect(pool.runGetMethod(quick)).rejects.toMatchObject({ code: 'tvm/closed' });
    expect(pool.metrics()).toMatchObject({ workers: 0, spares: 0, busy: 0, waiting: 0, replaced: 0 });
    await pool.close();
  });

  it('can be closed while it starts', async () => {
    const pool = new TvmPool({ workers: 2, spares: 1 }, { clock: systemClock });
    const started = pool.start();
    started.catch(() => {});
    await pool.close();
    await started.catch((error) => expect(error).toMatchObject({ code: 'tvm/closed' }));
    expect(pool.metrics()).toMatchObject({ workers: 0, spares: 0 });
  });

  it('runs many at a time, each with its own result', () =>
    withPool({ workers: 2 }, async (pool) => {
      await until(() => pool.metrics().workers === 2);
      const runs = Array.from({ length: 200 }, (_, i) =>
        pool.runGetMethod(getMethodRequest(codeOf('30'), { stack: [vmInt(i)] })),
      );
      const results = (await Promise.all(runs)).map(({ stack }) => stack[0]);
      expect(results).toEqual(runs.map((_, i) => vmInt(i)));
      expect(pool.metrics()).toMatchObject({ get_methods: 200, runs: 200, busy: 0, waiting: 0 });
    }));

  it('takes as many arguments for an account without code as for others', async () => {
    const pool = new TvmPool({}, { clock: systemClock });
    const run = (code: Cell | null, length: number) =>
      pool.runGetMethod({ ...getMethodRequest(codeOf('30')), code, stack: Array(length).fill(vmInt(1)) });
    expect((await run(null, 1_000)).stack).toHaveLength(1_001);
    for (const code of [null, codeOf('30')]) {
      const data = { field: 'stack', found: '1001 values', accepted: 'at most 1000' };
      await expect(run(code, 1_001)).rejects.toMatchObject({ code: 'tvm/bad-request', data });
    }
  });

  it('tries a method on a thread of low priority, although workers may try it again a moment later', () =>
    withPool({ workers: 1, slowWorkers: 1, queueTimeoutMs: 5_000 }, async (pool) => {
      const level = vi.spyOn(LeakyBucket.prototype, 'level', 'get').mockReturnValue(1_000);
      const original = TvmThreads.prototype.takeSlow;
      const takeSlow = vi.spyOn(TvmThreads.prototype, 'takeSlow').mockImplementation(function (this: TvmThreads) {
        const thread = original.call(this);
        if (thread !== undefined) level.mockReturnValue(0);
        return thread;
      });
      expect((await pool.runGetMethod(quick)).stack).toEqual([vmInt(9)]);
      takeSlow.mockRestore();
      level.mockRestore();
    }));

  it('lets the main thread go before its workers, unless told otherwise', async () => {
    if (ownThreadCpuTime() === null) return;
    const before = threadsBehind();
    await withPool({ workers: 2, nice: 0 }, async () => expect(threadsBehind()).toBe(before));
    await withPool({ workers: 2 }, () => until(() => threadsBehind() === before + 2));
  });

  it('checks its options', () => {
    const make = (options: TvmOptions) => () => new TvmPool(options, { clock: systemClock });
    const bad = (option: string) =>
      expect.objectContaining({ code: 'tvm/bad-option', data: expect.objectContaining({ option }) });
    expect(make({ workers: 0 })).toThrow(bad('workers'));
    expect(make({ spares: 17 })).toThrow(bad('spares'));
    expect(make({ nice: 20 })).toThrow(bad('nice'));
    expect(make({ timeoutMs: 1.5 })).toThrow(bad('timeoutMs'));
    expect(make({ emulatorBytes: 1 })).toThrow(bad('emulatorBytes'));
    expect(make({})).not.toThrow();
  });
});
