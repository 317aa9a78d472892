import { expect, it } from 'vitest';
import { liteErrors } from '#drivers/lite/errors.js';
import { silentLogger } from '#kernel/logger.js';
import { FollowShards } from '#services/pending/follow-blocks.js';
import { PendingTraces } from '#services/pending/pending-traces.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { externalTo } from '#test/support/live-cells.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('asks for pending shard blocks only while messages are pending, and seldom where servers do not list them', async () => {
  const clock = new FakeClock();
  const traces = new PendingTraces(
    {},
    {
      ...{ emulation: null, classification: null, wallets: { read: async () => null }, newestSeqno: () => 1, clock },
      ...{ unixTimeMs: () => 1_000, logger: silentLogger },
    },
  );
  let asked = 0;
  let isSupported = true;
  const shards = new FollowShards({
    ...{ traces, clock, logger: silentLogger },
    chain: {
      provenSeqno: 1,
      pendingShardBlocks: async () => {
        asked++;
        if (isSupported) return [];
        throw liteErrors['answer-error']({ server: 'a', function: 'f', code: 0, text: 'unknown' });
      },
      pendingShardBlock: () => Promise.reject(new RangeError('none is listed')),
    },
  });
  const pass = async (times: number) => {
    for (let i = 0; i < times; i++) {
      clock.advance(150);
      await settled();
    }
  };
  shards.start();
  try {
    await pass(20);
    expect(asked).toBe(0);
    traces.submit(externalTo(1, 77), 'sent');
    await settled();
    expect(asked).toBe(1);
    await pass(3);
    expect(asked).toBe(4);
    isSupported = false;
    await pass(20);
    expect(asked).toBe(5);
    traces.submit(externalTo(2, 78), 'sent');
    await settled();
    expect(asked).toBe(5);
  } finally {
    await shards.close();
    await traces.close();
  }
});
