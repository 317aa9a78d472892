import { expect, it } from 'vitest';
import { NO_KEYS } from '#drivers/store/event-log.js';
import { hashKey } from '#drivers/store/keys.js';
import type { IndexedTransaction } from '#drivers/store/read/index-types.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type ExternalInMessage, readExternalInMessage } from '#formats/tlb/message.js';
import { silentLogger } from '#kernel/logger.js';
import { WakeSignal } from '#kernel/wake-signal.js';
import { FollowIndex } from '#services/pending/follow-blocks.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';
import { PendingTraces } from '#services/pending/pending-traces.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { externalTo, liveTransaction, NO_STATE } from '#test/support/live-cells.js';
import { signingWallet } from '#test/support/signing-wallets.js';

const ROOT = 7n;

function indexed({ cell, mc_seqno, block }: LiveTransaction): IndexedTransaction {
  return {
    ...{ id: ROOT, hash_key: hashKey(cell.hash()), trace_root: ROOT, trace_id: cell.hash() },
    ...{ mc_seqno, block, global_version: 13, cell, isFinal: true },
    ...{ state_before: null, state_after: null },
  };
}

/** Looks at the awaited messages so often: each 5 s. */
async function look(clock: FakeClock, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    clock.advance(5_000);
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('finds messages of which no event comes: they were committed before the first event was read', async () => {
  const clock = new FakeClock();
  const traces = new PendingTraces(
    {},
    {
      ...{ emulation: null, classification: null, wallets: { read: async () => null }, newestSeqno: () => 1, clock },
      ...{ unixTimeMs: () => 1_000, logger: silentLogger },
    },
  );
  const message = externalTo(1, 77);
  const received = indexed(liveTransaction(message.cell, [], { lt: 1_000n, mc_seqno: 3 }));
  const index = new FakeIndex({ transactions: [received], ofTraces: new Map([[ROOT, [received]]]) });
  const following = new FollowIndex({
    ...{ traces, index, clock, logger: silentLogger, head: () => null, newestSeqno: () => null },
    // Nothing is committed any more.
    feed: { subscribe: async function* () {} },
  });
  following.start();
  try {
    clock.advance(60_000);
    await settled();
    expect(index.asked).toEqual([]);
    traces.submit(message, 'sent');
    for (let i = 0; i < 2; i++) {
      clock.advance(5_000);
      await settled();
    }
    expect(traces.status(message.cell.hash())).toMatchObject({ kind: 'live', stage: 'finalized' });
    expect(traces.isIdle).toBe(true);
  } finally {
    await following.close();
    await traces.close();
  }
});

/** Live traces of messages to wallets, of which each is emulated to send nothing. */
function emulatedTraces(clock: FakeClock): PendingTraces {
  return new PendingTraces(
    {},
    {
      ...{ classification: null, wallets: { read: async () => null }, newestSeqno: () => 1, clock },
      ...{ unixTimeMs: () => 1_000, logger: silentLogger },
      emulation: {
        emulateTrace: async ({ message }) => ({
          ...{
            message,
            mc_seqno: 1,
            global_version: 13,
            rand_seed: new Uint8Array(32),
            bytes: 0,
            is_incomplete: false,
          },
          transactions: [{ ...liveTransaction(message, [], { lt: 1_000n }), before: NO_STATE, after: NO_STATE }],
        }),
      },
    },
  );
}

/** A message to a wallet. */
function walletMessage(valid_until: number): ExternalInMessage {
  const wallet = signingWallet('wallet_v3r2', { seqno: 0, wallet_id: 9 });
  const cell = wallet.message({ seqno: 0, wallet_id: 9, valid_until }, { init: wallet.init });
  return readExternalInMessage(cell, serializeBoc(cell));
}

it('lets messages expire when all blocks before their time were read, not when the index has later ones', async () => {
  const clock = new FakeClock();
  const traces = emulatedTraces(clock);
  const committed = new WakeSignal();
  let seqno = 100;
  const following = new FollowIndex({
    ...{ traces, index: new FakeIndex(), clock, logger: silentLogger, newestSeqno: () => null },
    head: () => ({ mc_seqno: 102, gen_utime: 2_000 }),
    feed: {
      subscribe: async function* (_, signal) {
        for (;;) {
          await committed.next;
          if (signal.aborted) return;
          const touched = { ...NO_KEYS };
          yield [{ id: BigInt(seqno), kind: 'committed', range: { from: seqno, to: seqno }, touched }];
        }
      },
    },
  });
  const message = walletMessage(1_100);
  traces.start();
  following.start();
  try {
    traces.submit(message, 'sent');
    await settled();
    for (seqno = 101; seqno <= 102; seqno++) {
      expect(traces.status(message.cell.hash())).toMatchObject({ stage: 'pending' });
      committed.wake();
      await settled();
    }
    expect(traces.status(message.cell.hash())).toMatchObject({ kind: 'ended', invalidation: { reason: 'expired' } });
  } finally {
    const closed = following.close();
    committed.wake();
    await closed;
    await traces.close();
  }
});

it('lets messages expire while the network makes no blocks, only when that is known', async () => {
  const clock = new FakeClock();
  const traces = emulatedTraces(clock);
  const head = { mc_seqno: 9, gen_utime: 1_000 };
  let newestSeqno: number | null = null;
  const following = new FollowIndex({
    ...{ traces, index: new FakeIndex(), clock, logger: silentLogger, head: () => head },
    newestSeqno: () => newestSeqno,
    feed: { subscribe: async function* () {} },
  });
  const message = walletMessage(1_100);
  const hash = message.cell.hash();
  traces.start();
  following.start();
  try {
    traces.submit(message, 'sent');
    await settled();
    expect(traces.status(hash)).toMatchObject({ stage: 'pending' });
    // No liteserver answers; then there are blocks that the index does not have yet.
    await look(clock, 40);
    newestSeqno = 10;
    await look(clock, 40);
    expect(traces.status(hash)).toMatchObject({ stage: 'pending' });
    newestSeqno = 9;
    await look(clock, 21);
    expect(traces.status(hash)).toMatchObject({ stage: 'pending' });
    await look(clock, 2);
    expect(traces.status(hash)).toMatchObject({ kind: 'ended', invalidation: { reason: 'expired' } });
  } finally {
    await following.close();
    await traces.close();
  }
});
