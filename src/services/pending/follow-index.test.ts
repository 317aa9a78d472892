import { expect, it } from 'vitest';
import { hashKey } from '#drivers/store/keys.js';
import type { IndexedTransaction } from '#drivers/store/read/index-types.js';
import { silentLogger } from '#kernel/logger.js';
import { FollowIndex } from '#services/pending/follow-index.js';
import type { LiveTransaction } from '#services/pending/live-trace.js';
import { PendingTraces } from '#services/pending/pending-traces.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { externalTo, liveTransaction } from '#test/support/live-cells.js';

const ROOT = 7n;

function indexed({ cell, mc_seqno, block }: LiveTransaction): IndexedTransaction {
  return {
    ...{ id: ROOT, hash_key: hashKey(cell.hash()), trace_root: ROOT, trace_id: cell.hash() },
    ...{ mc_seqno, block, global_version: 13, cell, isFinal: true },
    ...{ state_before: null, state_after: null },
  };
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
    ...{ traces, index, clock, logger: silentLogger, head: () => null },
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
