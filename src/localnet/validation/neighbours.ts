import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { OutMsgQueue } from '#formats/tlb/out-msg-queue.js';
import { shardSibling, shardsIntersect } from '#formats/tlb/shard-ident.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { ProcessedList } from '#localnet/validation/processed-upto.js';
import { isShardHalf } from '#localnet/validation/routing.js';
import { queueOfHalf, type ShardBefore } from '#localnet/validation/shard-before.js';

/** A shard whose messages a block may take in: its queue, and what it has received, as of one of its blocks. */
export interface Neighbour {
  readonly shard: Shard;
  readonly end_lt: bigint;
  readonly queue: OutMsgQueue;
  readonly processed: ProcessedList;
}

/** A shard's newest block as the masterchain knows it, and the state after it. */
export interface ListedShard {
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
}

/**
 * All shards from which a block may take in messages. The block's own shard counts as it is before the block, which may
 * be newer than what is listed. Where the list has its parent, the other half is made of that; where it has its halves,
 * the merged shard takes their place.
 *
 * @param listed the newest blocks of all shards; of those that are needed, the states are asked for
 * @param sibling of the first block after a split, what the other half starts from
 */
export function neighboursOf(
  listed: readonly BlockId[],
  stateAfter: (block: BlockId) => ListedShard,
  before: ShardBefore,
  sibling: ShardBefore | null,
): readonly Neighbour[] {
  const { shard } = before;
  const all: Neighbour[] = [ownQueue(before)];
  for (const id of listed) {
    if (id.workchain !== shard.workchain || !shardsIntersect(id.shard, shard.shard))
      all.push(listedQueue(stateAfter(id)));
    else if (isShardHalf(shard.shard, id.shard))
      all.push(sibling === null ? otherHalf(listedQueue(stateAfter(id)), shard) : ownQueue(sibling));
  }
  return all;
}

function listedQueue({ id, state }: ListedShard): Neighbour {
  const { out_queue, proc_info } = state.out_msg_queue_info.value;
  const shard = { workchain: id.workchain, shard: id.shard };
  return { shard, end_lt: state.gen_lt, queue: out_queue, processed: ProcessedList.of(shard, proc_info) };
}

function ownQueue({ shard, gen_lt, queue, processed }: ShardBefore): Neighbour {
  return { shard, end_lt: gen_lt, queue, processed };
}

function otherHalf(parent: Neighbour, { workchain, shard }: Shard): Neighbour {
  const half = { workchain, shard: shardSibling(shard) };
  return {
    shard: half,
    end_lt: parent.end_lt,
    queue: queueOfHalf(parent.queue, half),
    processed: parent.processed.split(half),
  };
}
