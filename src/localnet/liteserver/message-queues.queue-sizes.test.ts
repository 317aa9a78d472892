import { describe, expect, it } from 'vitest';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { decodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { DispatchQueue, OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { queueSizeHandlers } from '#localnet/liteserver/message-queues.js';
import { blockAt, contextOf, genesisLedger, refusal, withStates } from '#test/support/genesis-ledger.js';

const { 'liteServer.getOutMsgQueueSizes': getSizes, 'liteServer.getBlockOutMsgQueueSize': getSize } = queueSizeHandlers;
const plain = genesisLedger();
/** Every queue has as many messages as its block has a seqno. */
const ledger = withStates(plain, (state) => {
  const extra = { dispatch_queue: DispatchQueue.of([]), out_queue_size: state.seq_no };
  return { ...state, out_msg_queue_info: Lazy.ofValue(OutMsgQueueInfo, { ...state.out_msg_queue_info.value, extra }) };
});
const context = contextOf(ledger);
const WHOLE = -(1n << 63n);

describe('sizes of the queues of outgoing messages', () => {
  it('are those of the masterchain and of all shards, or of those that meet one', () => {
    const sizes = (mode: number, wc: number | null = null, shard: bigint | null = null) =>
      getSizes({ mode, wc, shard }, context).shards.map(({ id, size }) => `${id.workchain} ${id.seqno} ${size}`);
    const [masterchain, basechain] = sizes(0);
    expect(masterchain).toBe('-1 9 9');
    expect(basechain).toMatch(/^0 (\d+) \1$/);
    expect(sizes(1, -1, WHOLE)).toEqual([masterchain]);
    expect(sizes(1, 0, WHOLE)).toEqual([basechain]);
    expect(sizes(1, 0, 1n << 62n)).toEqual([basechain]);
    expect(sizes(1, 5, WHOLE)).toEqual([]);
    expect(getSizes({ mode: 0, wc: null, shard: null }, context).ext_msg_queue_size_limit).toBe(8000);
  });

  it('are counted where states do not keep them', () => {
    const { shards } = getSizes({ mode: 0, wc: null, shard: null }, contextOf(plain));
    const counted = shards.map(({ id }) => {
      const state = decodeCell(ShardStateUnsplit, plain.state(blockAt(plain, id.seqno, id.workchain)));
      return [...state.out_msg_queue_info.value.out_queue].length;
    });
    expect(shards.map(({ size }) => size)).toEqual(counted);
  });

  it('are those of one block, with a proof if that is wanted', () => {
    const block = blockAt(plain, 4);
    const args = { id: blockIdToTl(block.id), want_proof: false };
    expect(getSize({ ...args, mode: 0 }, context)).toMatchObject({ size: 4n, proof: null });
    expect(refusal(() => getSize({ ...args, mode: 0 }, contextOf(plain)))).toBe(
      '-400 no out_msg_queue_size in shard state',
    );
    expect(refusal(() => getSize({ ...args, id: { ...args.id, shard: 0n }, mode: 0 }, context))).toBe(
      '-400 invalid BlockIdExt',
    );
  });
});
