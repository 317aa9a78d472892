import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { MsgEnvelope } from '#formats/tlb/block-messages.js';
import { decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import {
  AccountDispatchQueue,
  DispatchQueue,
  type EnqueuedMsg,
  OutMsgQueue,
  OutMsgQueueInfo,
  outMsgQueueKey,
  ProcessedInfo,
  processedInfoKey,
} from '#formats/tlb/out-msg-queue.js';
import { shardKey } from '#formats/tlb/shard-hashes.js';
import { itRefuses, roundTrip } from '#test/support/codec-harness.js';
import { errorCode } from '#test/support/error-code.js';

const message: EnqueuedMsg = { enqueued_lt: 9n, out_msg: Lazy.ofCell(MsgEnvelope, new Builder().endCell()) };
const noMessages = decodeCell(AccountDispatchQueue, new Builder().storeUint(0, 49).endCell());
const waiting = (...lts: bigint[]): AccountDispatchQueue => ({
  messages: lts.reduce((queue, lt) => queue.set(lt, message), noMessages.messages),
  count: lts.length,
});
const sender = (id: number) => new Uint8Array(32).fill(id);

describe('queues of deferred messages', () => {
  it('know the least lt of all', () => {
    const queue = DispatchQueue.of([
      [sender(1), waiting(50n, 40n, 60n)],
      [sender(2), waiting(45n)],
    ]);
    const read = roundTrip(DispatchQueue, encodeCell(DispatchQueue, queue));
    expect(read.extra).toBe(40n);
    expect(read.delete(sender(1)).extra).toBe(45n);
    expect([...read.entriesWithExtra()].map(([, { count }, extra]) => [count, extra])).toEqual([
      [3, 40n],
      [1, 45n],
    ]);
  });

  it('of one account without messages count as later than all others', () => {
    expect(DispatchQueue.of([[sender(1), noMessages]]).extra).toBe(2n ** 64n - 1n);
    expect(DispatchQueue.of([]).extra).toBe(0n);
  });
});

describe('OutMsgQueueInfo', () => {
  it('is read with and without deferred messages', () => {
    const plain: OutMsgQueueInfo = { out_queue: OutMsgQueue.of([]), proc_info: ProcessedInfo.of([]), extra: null };
    roundTrip(OutMsgQueueInfo, encodeCell(OutMsgQueueInfo, plain));
    const extra = { dispatch_queue: DispatchQueue.of([[sender(7), waiting(3n)]]), out_queue_size: 12 };
    const read = roundTrip(OutMsgQueueInfo, encodeCell(OutMsgQueueInfo, { ...plain, extra }));
    expect([read.extra?.out_queue_size, read.extra?.dispatch_queue.get(sender(7))?.count]).toEqual([12, 1]);
  });

  itRefuses(OutMsgQueueInfo, [
    {
      id: 'another tag of its extra',
      cell: new Builder().storeBit(false).storeUint(0, 64).storeBit(false).storeBit(true).storeUint(1, 4).endCell(),
      code: 'tlb/constructor-tag',
      path: 'extra',
    },
  ]);
});

describe('keys of several parts', () => {
  const hash = sender(7);
  it('are read as they were written', () => {
    const key = { workchain: -1, prefix: 1n << 63n, hash };
    expect(outMsgQueueKey.decode(outMsgQueueKey.encode(key))).toEqual(key);
    expect(processedInfoKey.decode(processedInfoKey.encode({ shard: 5n, mc_seqno: 2 ** 32 - 1 }))).toEqual({
      shard: 5n,
      mc_seqno: 2 ** 32 - 1,
    });
    expect(shardKey.decode(shardKey.encode({ workchain: -2, shard: 3n }))).toEqual({ workchain: -2, shard: 3n });
  });

  it.each([
    ['a short hash', () => outMsgQueueKey.encode({ workchain: 0, prefix: 0n, hash: hash.subarray(1) })],
    ['a long hash', () => outMsgQueueKey.encode({ workchain: 0, prefix: 0n, hash: new Uint8Array(33) })],
    ['a workchain beyond int32', () => outMsgQueueKey.encode({ workchain: 2 ** 31, prefix: 0n, hash })],
    ['a negative prefix', () => outMsgQueueKey.encode({ workchain: 0, prefix: -1n, hash })],
    ['a shard beyond uint64', () => processedInfoKey.encode({ shard: 1n << 64n, mc_seqno: 0 })],
    ['a negative seqno', () => processedInfoKey.encode({ shard: 0n, mc_seqno: -1 })],
    ['a workchain that is no integer', () => shardKey.encode({ workchain: 0.5, shard: 0n })],
  ])('are refused with %s', (_, encode) => {
    expect(errorCode(encode)).toBe('tlb/constraint');
  });
});
