import type { TonNodeBlockId, TonNodeBlockIdExt } from '#formats/tl/lite-api.js';

/** TL has signed numbers only. A shard (`long`) is elsewhere an unsigned number of 64 bits. */
export function unsignedShard(shard: bigint): bigint {
  return BigInt.asUintN(64, shard);
}

/** The inverse of {@link unsignedShard}. */
export function signedShard(shard: bigint): bigint {
  return BigInt.asIntN(64, shard);
}

/** The same block with shard (64 bits) and seqno (32 bits) unsigned; seqno 0xffffffff asks for the latest state. */
export function blockIdFromTl(id: TonNodeBlockIdExt): TonNodeBlockIdExt {
  const { workchain, shard, seqno, root_hash, file_hash } = id;
  return { workchain, shard: unsignedShard(shard), seqno: seqno >>> 0, root_hash, file_hash };
}

/** The inverse of {@link blockIdFromTl}: as TL writes it. */
export function blockIdToTl(id: TonNodeBlockIdExt): TonNodeBlockIdExt {
  const { workchain, shard, seqno, root_hash, file_hash } = id;
  return { workchain, shard: signedShard(shard), seqno: seqno | 0, root_hash, file_hash };
}

/** A place in a shard chain, from unsigned numbers to what TL writes. */
export function blockPositionToTl({ workchain, shard, seqno }: TonNodeBlockId): TonNodeBlockId {
  return { workchain, shard: signedShard(shard), seqno: seqno | 0 };
}

/** The inverse of {@link blockPositionToTl}. */
export function blockPositionFromTl({ workchain, shard, seqno }: TonNodeBlockId): TonNodeBlockId {
  return { workchain, shard: unsignedShard(shard), seqno: seqno >>> 0 };
}
