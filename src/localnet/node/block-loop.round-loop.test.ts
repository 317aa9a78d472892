import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { ChainTip, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { BlockLoop, type MiningMode } from '#localnet/node/block-loop.js';
import { ExternalMessagePool } from '#localnet/node/external-messages.js';
import { NetworkTime } from '#localnet/node/network-time.js';
import type {
  BlockRequest,
  ExternalInOutcome,
  ProducedBundle,
  StateOverride,
} from '#localnet/producer/block-request.js';
import { FakeClock } from '#test/support/fake-clock.js';

const WHOLE = 1n << 63n;
const idOf = (seqno: number, shard = WHOLE, workchain = -1): BlockId => {
  const hash = new Uint8Array(32).fill(seqno);
  return { workchain, shard, seqno, root_hash: hash, file_hash: hash };
};
const shard = { workchain: 0, shard: WHOLE };
const account: StateOverride = { kind: 'library', library: EMPTY_CELL };

/** A loop over a producer that counts: what it was asked for, and what it is to fail with. */
function loopOf(
  options: {
    blockTimeMs?: number;
    paused?: boolean;
    mining?: MiningMode;
    make?: (request: BlockRequest) => Partial<ProducedBundle>;
  } = {},
) {
  const clock = new FakeClock();
  const pool = new ExternalMessagePool(clock);
  const requests: BlockRequest[] = [];
  const bundles: NewBlockBundle[] = [];
  const troubles: unknown[] = [];
  const dropped: number[] = [];
  const queued = { left: 0 };
  let tip: ChainTip = {
    masterchain: { id: idOf(0), state: EMPTY_CELL },
    shards: [{ id: idOf(0, WHOLE, 0), state: EMPTY_CELL }],
  };
  const loop = new BlockLoop(
    {
      blockTimeMs: options.blockTimeMs ?? 400,
      paused: options.paused ?? false,
      mining: options.mining ?? 'steady',
    },
    {
      clock,
      time: new NetworkTime(() => 1_000_000 + clock.now()),
      pool,
      zerostates: [],
      tip: () => tip,
      produce: async (request) => {
        requests.push(request);
        const parts = options.make?.(request) ?? {};
        const masterchain = { id: idOf(tip.masterchain.id.seqno + 1) } as NewBlockBundle['masterchain'];
        const counts = { transactions: 0, emulateMs: 0, totalMs: 0 };
        return { bundle: { masterchain } as NewBlockBundle, externals: [], failed: [], counts, ...parts };
      },
      append: (bundle) => {
        bundles.push(bundle);
        tip = { ...tip, masterchain: { id: bundle.masterchain.id, state: EMPTY_CELL } };
      },
      hasQueued: () => queued.left-- > 0,
      onProduced: () => {},
      onDropped: (messages) => dropped.push(messages),
      onTrouble: (error) => troubles.push(error),
    },
  );
  const setTip = (change: Partial<ChainTip>) => {
    tip = { ...tip, ...change };
  };
  /** Moves the clock in steps, with time for what is asynchronous between them. */
  const pass = async (ms: number, step = 10): Promise<void> => {
    for (let gone = 0; gone < ms; gone += step) {
      clock.advance(step);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
  };
  return { loop, clock, pool, requests, bundles, troubles, dropped, queued, setTip, pass };
}

const message = (number: number) => ({
  message: new Builder().storeUint(number, 32).endCell(),
  dest: Address.ofParts(0, new Uint8Array(32)),
});

describe('the pace of a local network', () => {
  it('is a masterchain block each block time, at the time of the network', async () => {
    const { loop, requests, pass } = loopOf();
    loop.start();
    await pass(2_000);
    expect(requests.map(({ now }) => now)).toEqual([1_000, 1_000, 1_001, 1_001, 1_002]);
    await loop.close();
    await pass(2_000);
    expect(requests).toHaveLength(5);
  });

  it('can be paused, gone on with, and changed', async () => {
    const { loop, requests, pass } = loopOf({ paused: true });
    loop.start();
    await pass(2_000);
    expect(requests).toHaveLength(0);
    void loop.setPaused(false);
    await pass(900);
    expect(requests).toHaveLength(3);
    loop.setBlockTime(100);
    await pass(1_000);
    expect(requests.length).toBe(13);
    void loop.setPaused(true);
    await pass(2_000);
    expect(requests.length).toBe(13);
  });

  it('is, in automatic mode, a block as soon as a message waits, and otherwise one every few seconds', async () => {
    const included = ({ externals }: BlockRequest): Partial<ProducedBundle> => ({
      externals: externals.map((each): ExternalInOutcome => ({ message: each, kind: 'included' })),
    });
    const { loop, pool, requests, pass } = loopOf({ mining: 'auto', make: included });
    loop.start();
    await pass(4_900);
    expect(requests).toHaveLength(0);
    pool.add(message(1));
    loop.wake();
    await pass(20);
    expect(requests.map(({ externals }) => externals.length)).toEqual([1]);
    await pass(4_900);
    expect(requests).toHaveLength(1);
    await pass(10_000);
    expect(requests.map(({ externals }) => externals.length)).toEqual([1, 0, 0]);
  });

  it('is, in automatic mode, a block each 5 s, and each 9 s after a minute without messages, until there is one', async () => {
    const { loop, requests, pass } = loopOf({ mining: 'auto' });
    loop.start();
    await pass(60_100);
    expect(requests).toHaveLength(12);
    await pass(90_000);
    expect(requests).toHaveLength(22);
    loop.wake();
    await pass(10_100);
    expect(requests).toHaveLength(25);
  });

  it('follows queued messages without a pause, and at the block time when they do not end', async () => {
    const { loop, queued, requests, pass } = loopOf({ mining: 'auto', paused: true });
    queued.left = 3;
    await loop.makeBlock();
    await pass(1_000);
    // A pause holds for them as well.
    expect(requests).toHaveLength(1);
    queued.left = 3;
    void loop.setPaused(false);
    await pass(1_000);
    expect(requests).toHaveLength(5);
    queued.left = 1_000_000;
    loop.wake();
    await pass(1_200);
    const quick = requests.length;
    expect(quick).toBeGreaterThanOrEqual(100);
    await pass(4_000);
    expect(requests.length - quick).toBe(10);
  });

  it('becomes steady by a block time, and automatic again', async () => {
    const { loop, requests, pass } = loopOf({ mining: 'auto' });
    loop.start();
    loop.setBlockTime(100);
    await pass(1_000);
    expect([loop.mining, requests.length]).toEqual(['steady', 10]);
    loop.setMining('auto');
    await pass(4_000);
    expect([loop.mining, requests.length]).toEqual(['auto', 10]);
  });

  it('is paused when the masterchain block under way is made', async () => {
    const { loop, bundles } = loopOf();
    const made = loop.makeBlock();
    expect(bundles).toHaveLength(0);
    await loop.setPaused(true);
    expect(bundles).toEqual([await made]);
  });

  it('makes blocks on demand, one after the other', async () => {
    const { loop, bundles } = loopOf({ paused: true });
    const made = await Promise.all([loop.makeBlock(), loop.makeBlock(), loop.makeBlock()]);
    expect(made.map(({ masterchain }) => masterchain.id.seqno)).toEqual([1, 2, 3]);
    expect(bundles).toEqual(made);
  });

  it('refuses masterchain blocks when it is closed', async () => {
    const { loop } = loopOf();
    await loop.close();
    await expect(loop.makeBlock()).rejects.toMatchObject({ code: 'localnet/closing' });
    await expect(loop.makeBlockWith([account])).rejects.toMatchObject({ code: 'localnet/closing' });
  });
});

describe('what a masterchain block is made of', () => {
  it('are the messages that wait, and their senders are notified', async () => {
    const outcome = (request: BlockRequest): readonly ExternalInOutcome[] => [
      { message: request.externals[0]!, kind: 'included' },
    ];
    const { loop, pool, requests } = loopOf({ make: (request) => ({ externals: outcome(request) }) });
    pool.add(message(1));
    pool.add(message(2));
    await loop.makeBlock();
    expect(requests[0]!.externals).toEqual([message(1), message(2)]);
    expect(pool.messages()).toEqual([message(2)]);
  });

  it('are overrides, each in one masterchain block; a failed one is reported to its caller', async () => {
    const bad: StateOverride = { kind: 'library', library: new Builder().storeBit(true).endCell() };
    const make = ({ overrides }: BlockRequest) => ({
      failed: overrides.filter((each) => each === bad).map((override) => ({ override, problem: 'no' })),
    });
    const { loop, requests } = loopOf({ make, paused: true });
    const [good, failed] = [loop.makeBlockWith([account]), loop.makeBlockWith([bad])];
    await expect(failed).rejects.toMatchObject({ code: 'localnet/not-made' });
    expect((await good).masterchain.id.seqno).toBe(1);
    expect(requests.flatMap(({ overrides }) => overrides)).toEqual([account, bad]);
  });

  it('are the wishes of all who ask before it begins', async () => {
    const { loop, requests, pass } = loopOf({ paused: true });
    const underWay = loop.makeBlock();
    await pass(10);
    const shared = [loop.nextBlock(), loop.makeBlockWith([account]), loop.makeBlockWith([account]), loop.nextBlock()];
    const made = await Promise.all([underWay, ...shared]);
    expect(made.map(({ masterchain }) => masterchain.id.seqno)).toEqual([1, 2, 2, 2, 2]);
    expect(requests.map(({ overrides }) => overrides.length)).toEqual([0, 2]);
    expect((await loop.nextBlock()).masterchain.id.seqno).toBe(3);
  });

  it('are overrides as of the tip that it follows, before messages are taken; one that throws is rejected alone', async () => {
    const { loop, pool, requests, pass } = loopOf({ paused: true });
    pool.add(message(1));
    const seen: number[] = [];
    const underWay = loop.makeBlock();
    await pass(10);
    const [late, failed] = [
      loop.makeBlockWith(({ masterchain }) => {
        seen.push(masterchain.id.seqno);
        pool.clear();
        return [account];
      }),
      loop.makeBlockWith(() => {
        throw new TypeError('not now');
      }),
    ];
    await expect(failed).rejects.toThrow('not now');
    expect((await late).masterchain.id).toEqual(idOf(2));
    await underWay;
    expect(seen).toEqual([1]);
    expect(requests.map(({ externals, overrides }) => [externals.length, overrides.length])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('ends when three quarters of the block time are over, and later when it is made on demand', async () => {
    for (const [messages, paused, blockTimeMs, budgetMs] of [
      ['external', false, 1_000, 750],
      ['internal', false, 1_000, 750],
      ['external', false, 100, 300],
      ['external', true, 1_000, 1_000],
      ['internal', true, 1_000, 5_000],
    ] as const) {
      const { loop, clock, requests } = loopOf({ paused, blockTimeMs });
      await loop.makeBlock();
      const { full } = requests[0]!;
      clock.advance(budgetMs - 1);
      for (let i = 0; i < 40; i++) expect(full(messages)).toBe(false);
      clock.advance(1);
      expect(full(messages)).toBe(true);
    }
  });

  it('has room for a message of each kind, on demand also for what it causes, however slow the machine is', async () => {
    for (const [messages, paused, room] of [
      ['external', false, 1],
      ['internal', false, 1],
      ['external', true, 1],
      ['internal', true, 32],
    ] as const) {
      const { loop, clock, requests } = loopOf({ paused });
      await loop.makeBlock();
      clock.advance(60_000);
      const answers = Array.from({ length: 40 }, () => requests[0]!.full(messages));
      expect(answers).toEqual(answers.map((_, i) => i >= room));
    }
  });

  it('are wishes of shards, until they have come true', async () => {
    const wants = { split: [shard], merge: [] };
    const { loop, requests, setTip, pass } = loopOf({ paused: true });
    const happened = ({ shards }: ChainTip) => shards.length === 2;
    const reshaped = loop.splitOrMerge({ wants, happened }, 10);
    await pass(250);
    setTip({
      shards: [
        { id: idOf(1, WHOLE >> 1n, 0), state: EMPTY_CELL },
        { id: idOf(1, WHOLE, 0), state: EMPTY_CELL },
      ],
    });
    await pass(200);
    expect((await reshaped)?.masterchain.id.seqno).toBe(requests.length);
    expect(requests.every((request) => request.wants.split[0] === shard)).toBe(true);
    await loop.makeBlock();
    expect(requests.at(-1)!.wants).toEqual({ split: [], merge: [] });
  });

  it('are given up when they do not come true', async () => {
    const { loop, pass } = loopOf({ paused: true });
    const reshaped = loop.splitOrMerge({ wants: { split: [shard], merge: [] }, happened: () => false }, 3);
    await pass(500);
    expect(await reshaped).toBeNull();
  });
});

describe('a masterchain block that cannot be made', () => {
  it('is made without the messages that wait, which are given up when it is always they', async () => {
    const make = ({ externals }: BlockRequest) => {
      if (externals.length > 0) throw new TypeError('a defect');
      return {};
    };
    const { loop, pool, requests, bundles, troubles, dropped, pass } = loopOf({ make });
    const reported: unknown[] = [];
    pool.add(message(1), (outcome) => reported.push(outcome));
    const wished = loop.makeBlockWith([account]);
    loop.start();
    await expect(wished).rejects.toMatchObject({ code: 'localnet/round-failed' });
    await pass(1_700);
    expect(reported).toEqual([]);
    await pass(400);
    expect(reported).toEqual([null]);
    expect(dropped).toEqual([1]);
    expect(requests.map(({ externals }) => externals.length)).toEqual([1, 0, 1, 0, 1, 0]);
    expect(bundles).toHaveLength(3);
    expect(troubles).toHaveLength(2);
  });

  it('keeps the messages that wait when they are not the reason', async () => {
    let broken = true;
    const make = () => {
      if (broken) throw new TypeError('the other network is away');
      return {};
    };
    const { loop, pool, bundles, dropped, pass } = loopOf({ make });
    pool.add(message(1));
    loop.start();
    await pass(4_000);
    expect(bundles).toEqual([]);
    broken = false;
    await pass(1_000);
    expect(bundles.length).toBeGreaterThan(0);
    expect(pool.size).toBe(1);
    expect(dropped).toEqual([]);
  });
});
