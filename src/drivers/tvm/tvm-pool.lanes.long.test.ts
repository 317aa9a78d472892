import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { TvmOptions } from '#drivers/tvm/options.js';
import type { RunOptions, TvmCost, TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { vmInt } from '#formats/tlb/vm-stack.js';
import { fromBase64 } from '#kernel/bytes.js';
import { FULL } from '#test/support/full-depth.js';
import { codeOf, getMethodRequest } from '#test/support/tvm-contract.js';
import { startTvm } from '#test/support/tvm-pool.js';

/** `ACCEPT`, and an empty loop without end. */
const ACCEPT_AND_LOOP = parseBocRoot(fromBase64('te6cckEBAQEABgAACPgAkOox23hy')!);
/** Without end whatever the gas limit: writing its result takes for ever. @param id makes it another code */
const endless = (id: number) =>
  getMethodRequest(codeOf(`70${'206f02'.repeat(40)}81${id.toString(16).padStart(4, '0')}`), {
    address: Address.ofParts(0, new Uint8Array(32).fill(id)),
  });
const quick = (value: number) => getMethodRequest(codeOf('30'), { stack: [vmInt(value)] });

const LANES: TvmOptions = { workers: 2, slowWorkers: 1, spares: 1, slowMs: 10, rememberMs: 600_000 };

let pool: TvmPool;

const error = (name: keyof typeof tvmErrors) => ({ code: tvmErrors[name].code });
const stranger = (client: string, more: RunOptions = {}): RunOptions => ({ client, cpuMs: 100, ...more });

beforeAll(async () => {
  pool = await startTvm(LANES);
});

afterAll(() => pool.close());

describe('a limit of CPU time', () => {
  it('ends a run whatever it does, and reports what it took', async () => {
    const costs: TvmCost[] = [];
    const run = pool.runGetMethod(endless(1), stranger('a', { onCost: (cost) => costs.push(cost) }));
    await expect(run).rejects.toMatchObject({ ...error('cpu-time'), class: 'caller', data: { limitMs: 100 } });
    expect(costs).toEqual([{ gas: 0, cpuMs: expect.any(Number) }]);
    expect(costs[0]!.cpuMs).toBeGreaterThanOrEqual(100);
  });

  it('holds for all runs of a request together', async () => {
    const request = getMethodRequest(ACCEPT_AND_LOOP, { gas_limit: 100_000_000 });
    await expect(pool.runGetMethod(request, stranger('b', { cpuMs: 1 }))).rejects.toMatchObject(error('cpu-time'));
  });
});

describe('memory', () => {
  it('answers the same run again, for everybody, without a worker', async () => {
    const { runs, remembered } = pool.metrics();
    for (const client of ['a', 'c']) {
      await expect(pool.runGetMethod(endless(1), stranger(client))).rejects.toMatchObject({
        ...error('ran-out-before'),
        class: 'caller',
        data: { limit: 'time', isExact: true },
      });
    }
    expect(pool.metrics()).toMatchObject({ runs, remembered: remembered + 2 });
  });

  it('gives the result of a run that was out of gas, and says how old it is', async () => {
    const gas_limit = FULL ? 1_000_000 : 200_000;
    const request = getMethodRequest(codeOf('f80090ea'), { method: 'loop', gas_limit });
    const costs: TvmCost[] = [];
    const onCost = (cost: TvmCost) => void costs.push(cost);
    const first = await pool.runGetMethod(request, { client: 'd', onCost });
    expect(first).toMatchObject({ exit_code: -14, gas_used: gas_limit + 3, remembered_ms: null });
    expect(costs).toEqual([{ gas: gas_limit + 3, cpuMs: expect.any(Number) }]);
    const second = await pool.runGetMethod(request, { client: 'e', onCost });
    expect(second).toEqual({ ...first, remembered_ms: expect.any(Number) });
    expect(costs).toHaveLength(1);
  });
});

describe('lanes', () => {
  it('keep a run of a known method from waiting for endless ones of many clients and contracts', async () => {
    await pool.runGetMethod(quick(0), { client: 'honest' });
    // The attack goes on for as long as honest runs are asked for: behind it they would never be answered.
    let isOver = false;
    let next = 10;
    const outcomes: unknown[] = [];
    const attack = Array.from({ length: 24 }, async (_, i) => {
      do {
        const run = pool.runGetMethod(endless(next++), stranger(`attacker ${i % 6}`, { cpuMs: 50 }));
        outcomes.push(...(await Promise.allSettled([run])));
      } while (!isOver);
    });
    for (let i = 0; i < 40; i++) {
      expect((await pool.runGetMethod(quick(i), { client: 'honest' })).stack).toEqual([vmInt(i)]);
    }
    isOver = true;
    await Promise.all(attack);
    for (const each of outcomes) {
      expect(each).toMatchObject({ status: 'rejected', reason: error('cpu-time') });
    }
    expect(pool.metrics()).toMatchObject({ waiting: 0, replaced: 0 });
    await expect.poll(() => pool.metrics().busy).toBe(0);
    expect(pool.metrics().workers).toBeLessThanOrEqual(2);
    expect(pool.metrics().slow_workers).toBeLessThanOrEqual(1);
  });

  it('try no more than two slow runs of a client on the workers, and replace no thread for them', async () => {
    const before = pool.metrics();
    const attack = Array.from({ length: 10 }, async (_, client) => {
      for (let i = 0; i < (FULL ? 10 : 3); i++) {
        const run = pool.runGetMethod(endless(1_000 + client * 10 + i), stranger(`hundred ${client}`, { cpuMs: 50 }));
        await expect(run).rejects.toMatchObject(error('cpu-time'));
      }
    });
    await Promise.all(attack);
    const { demoted, replaced } = pool.metrics();
    expect(demoted - before.demoted).toBeLessThanOrEqual(20);
    expect(replaced).toBe(before.replaced);
  });

  it('are closed to unknown methods of a client whose runs were stopped too often', async () => {
    const strict = await startTvm({ ...LANES, endedCpuMs: 100 });
    try {
      await strict.runGetMethod(quick(0), { client: 'honest' });
      await expect(strict.runGetMethod(endless(1), stranger('a'))).rejects.toMatchObject(error('cpu-time'));
      await expect(strict.runGetMethod(endless(3), stranger('a'))).rejects.toMatchObject({
        ...error('ended-too-often'),
        class: 'overloaded',
        data: { limitMs: 100, retryAfterSeconds: expect.any(Number) },
      });
      expect((await strict.runGetMethod(quick(1), { client: 'a' })).stack).toEqual([vmInt(1)]);
      await expect(strict.runGetMethod(endless(3), stranger('b'))).rejects.toMatchObject(error('cpu-time'));
    } finally {
      await strict.close();
    }
  });

  it('let a fresh method of another client go before', async () => {
    const attack = Array.from({ length: 8 }, (_, i) => pool.runGetMethod(endless(100 + i), stranger('attacker 0')));
    const failed = Promise.allSettled(attack);
    const fresh = getMethodRequest(codeOf('3077'));
    expect((await pool.runGetMethod(fresh, { client: 'newcomer' })).stack).toEqual([vmInt(7)]);
    expect(pool.metrics().waiting_slow).toBeGreaterThan(0);
    await failed;
  });
});

describe('bounds of the queue', () => {
  it('are those of the client first', async () => {
    const small = await startTvm({ workers: 1, maxWaitingOfClient: 2, maxWaiting: 100 });
    try {
      const running = small.runGetMethod(endless(1), { client: 'a', cpuMs: 200 });
      const waiting = [1, 2, 3].map((i) => small.runGetMethod(quick(i), { client: 'a' }));
      const other = small.runGetMethod(quick(4), { client: 'b' });
      await expect(waiting[2]).rejects.toMatchObject({ ...error('overloaded'), data: { ofClient: true } });
      await expect(running).rejects.toMatchObject(error('cpu-time'));
      expect((await other).stack).toEqual([vmInt(4)]);
      expect((await waiting[1]!).stack).toEqual([vmInt(2)]);
    } finally {
      await small.close();
    }
  });
});

describe('memory of the emulator', () => {
  it('is bounded: a run that needs more is ended, and the next one finds a fresh emulator', async () => {
    const small = await startTvm({ workers: 1, maxEmulatorBytes: 32 * 2 ** 20 });
    try {
      await expect(small.runGetMethod(getMethodRequest(codeOf('90ea')))).rejects.toMatchObject(error('out-of-memory'));
      expect((await small.runGetMethod(quick(1))).stack).toEqual([vmInt(1)]);
      expect(small.metrics()).toMatchObject({ replaced: 0 });
    } finally {
      await small.close();
    }
  });
});

describe('a gas limit', () => {
  it('holds whatever the code does, whatever the limit', async () => {
    // ACCEPT; SETGASLIMIT of 2^62; both in a child VM of the contract's own; after COMMIT
    const codes = ['f80090ea', '833df80190ea', 'f8008101e890f80090eadb4090ea', 'f80ff80090ea'];
    for (const hex of codes) {
      for (const gas_limit of FULL ? [10_000, 999_999, 1_000_000, 1_200_000] : [10_000, 100_000]) {
        const { exit_code, gas_used } = await pool.runGetMethod(
          getMethodRequest(codeOf(`30${hex}`), { gas_limit, method: `limit ${gas_limit}` }),
          { cpuMs: 60_000 },
        );
        expect(exit_code, `${hex} ${gas_limit}`).toBe(-14);
        expect(gas_used, `${hex} ${gas_limit}`).toBeLessThan(gas_limit + 1_000);
      }
    }
  });
});
