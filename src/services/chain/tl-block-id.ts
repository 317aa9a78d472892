import { type BlockId, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import type { TonNodeBlockIdExt } from '#formats/tl/generated/ton-node.js';

/** The form of a block id in queries: shard and seqno are signed there. */
export function toTlBlockId(id: BlockId): TonNodeBlockIdExt {
  const { workchain, root_hash, file_hash } = id;
  return { workchain, shard: toTlShard(id.shard), seqno: id.seqno | 0, root_hash, file_hash };
}

/** A block id out of an answer. Its hashes are copied: they outlive the answer. */
export function fromTlBlockId(id: TonNodeBlockIdExt): BlockId {
  const { workchain } = id;
  const shard = BigInt.asUintN(64, id.shard);
  return { workchain, shard, seqno: id.seqno >>> 0, root_hash: id.root_hash.slice(), file_hash: id.file_hash.slice() };
}

/** uint64 to `long`. */
export function toTlShard(shard: bigint): bigint {
  return BigInt.asIntN(64, shard);
}

/** Checks that an answer is about the block that was asked for. @throws proofs/other-block */
export function expectBlock(found: TonNodeBlockIdExt, expected: BlockId): void {
  const id = fromTlBlockId(found);
  if (sameBlock(id, expected)) return;
  throw proofsErrors['other-block']({ expected: printBlockId(expected), found: printBlockId(id) });
}
