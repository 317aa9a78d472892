import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type BlockId, type Shard, sameShard } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, unsignedShard } from '#formats/tl/block-id.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { openMcState, openState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { headOf, isValidId, loadBlock, refused } from '#localnet/liteserver/find-block.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';
import { lowestBit } from '#localnet/liteserver/shard-links.js';

/** With more messages in its queue, a shard takes no external messages. */
const EXT_MSG_QUEUE_SIZE_LIMIT = 8000;

const WITH_PROOF = 1;

/** How many messages wait in the queues of shards. */
export const queueSizeHandlers: LiteHandlers<'liteServer.getOutMsgQueueSizes' | 'liteServer.getBlockOutMsgQueueSize'> =
  {
    'liteServer.getOutMsgQueueSizes': ({ wc, shard }, { ledger }) => {
      const wanted = wc === null || shard === null ? null : { workchain: wc, shard: unsignedShard(shard) };
      const head = headOf(ledger);
      const { extra } = openMcState(ledger.state(head));
      const all = [head.id, ...[...shardDescrs(extra.shard_hashes)].map(blockOfShard)];
      const shards = all
        .filter((id) => wanted === null || intersect(wanted, id))
        .map((id) => ({ id: blockIdToTl(id), size: countOf(stateOf(ledger, id)) }));
      return { shards, ext_msg_queue_size_limit: EXT_MSG_QUEUE_SIZE_LIMIT };
    },

    'liteServer.getBlockOutMsgQueueSize': ({ id: idTl, mode }, { ledger }) => {
      const id = blockIdFromTl(idTl);
      if (!isValidId(id)) throw refused('invalid BlockIdExt');
      const block = loadBlock(ledger, id);
      const reader = new MerkleReader(ledger.state(block));
      const size = sizeOf(openState(reader.root));
      if (size === null) throw refused('no out_msg_queue_size in shard state');
      const proof = (mode & WITH_PROOF) === 0 ? null : serializeBoc([stateRootProof(block.root), reader.proof()]);
      return { mode, id: idTl, size: BigInt(size), proof };
    },
  };

function sizeOf(state: ShardStateUnsplit): number | null {
  return state.out_msg_queue_info.value.extra?.out_queue_size ?? null;
}

/** Servers count the messages where the state does not. */
function countOf(state: ShardStateUnsplit): number {
  return sizeOf(state) ?? state.out_msg_queue_info.value.out_queue.count();
}

function stateOf(ledger: Ledger, id: BlockId): ShardStateUnsplit {
  return openState(ledger.state(loadBlock(ledger, id)));
}

/** Whether two shards have accounts in common. The one that a client names may be any number. */
function intersect(wanted: Shard, id: BlockId): boolean {
  if (wanted.workchain !== id.workchain) return false;
  if (sameShard(wanted, id)) return true;
  const tag = lowestBit(wanted.shard) > lowestBit(id.shard) ? lowestBit(wanted.shard) : lowestBit(id.shard);
  return ((wanted.shard ^ id.shard) & BigInt.asUintN(64, -(tag << 1n))) === 0n;
}
