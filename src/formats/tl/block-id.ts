import type { TonNodeBlockId, TonNodeBlockIdExt } from '#formats/tl/lite-api.js';

/** A shard id as an unsigned 64-bit number; TL has signed numbers only (`long`). */
export function unsignedShard(shard: bigint): bigint {
  return BigInt.asUintN(64, shard);
}

/** The inverse of {@link unsignedShard}. */
export function signedShard(shard: bigint): bigint {
  return BigInt.asIntN(64, shard);
}

/** The same block id with shard (64 bits) and seqno (32 bits) unsigned; seqno 0xffffffff requests the latest state. */
export function blockIdFromTl(id: TonNodeBlockIdExt): TonNodeBlockIdExt {
  const { workchain, shard, seqno, root_hash, file_hash } = id;
  return { workchain, shard: unsignedShard(shard), seqno: seqno >>> 0, root_hash, file_hash };
}

/** The inverse of {@link blockIdFromTl}. */
export function blockIdToTl(id: TonNodeBlockIdExt): TonNodeBlockIdExt {
  const { workchain, shard, seqno, root_hash, file_hash } = id;
  return { workchain, shard: signedShard(shard), seqno: seqno | 0, root_hash, file_hash };
}

/** A block position (`tonNode.blockId`) with signed numbers, as TL encodes it. */
export function blockPositionToTl({ workchain, shard, seqno }: TonNodeBlockId): TonNodeBlockId {
  return { workchain, shard: signedShard(shard), seqno: seqno | 0 };
}

/** The inverse of {@link blockPositionToTl}. */
export function blockPositionFromTl({ workchain, shard, seqno }: TonNodeBlockId): TonNodeBlockId {
  return { workchain, shard: unsignedShard(shard), seqno: seqno >>> 0 };
}
