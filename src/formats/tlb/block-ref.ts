import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bits256, bool, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { ShardIdent } from '#formats/tlb/shard-ident.js';

/** A block of a shard that the context names: its end lt, and what identifies it. */
export const ExtBlkRef = record(
  'ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash:bits256 file_hash:bits256 = ExtBlkRef;',
  { end_lt: uint64, seq_no: uint32, root_hash: bits256, file_hash: bits256 },
);
export type ExtBlkRef = ValueOf<typeof ExtBlkRef>;

/** A block's full identity. */
export const BlockIdExt = record(
  'block_id_ext$_ shard_id:ShardIdent seq_no:uint32 root_hash:bits256 file_hash:bits256 = BlockIdExt;',
  { shard_id: ShardIdent, seq_no: uint32, root_hash: bits256, file_hash: bits256 },
);
export type BlockIdExt = ValueOf<typeof BlockIdExt>;

/** The masterchain block that a shard block or state was made on. */
export const BlkMasterInfo = record('master_info$_ master:ExtBlkRef = BlkMasterInfo;', { master: ExtBlkRef });
export type BlkMasterInfo = ValueOf<typeof BlkMasterInfo>;

/** `BlkPrevInfo 0`: the one previous block. */
export const PrevBlkInfo = variant('prev_blk_info$_ prev:ExtBlkRef = BlkPrevInfo 0;', { prev: ExtBlkRef });
export type PrevBlkInfo = ValueOf<typeof PrevBlkInfo>;

/** `BlkPrevInfo 1`: after a merge, the last blocks of the left and the right shard. */
export const PrevBlksInfo = variant('prev_blks_info$_ prev1:^ExtBlkRef prev2:^ExtBlkRef = BlkPrevInfo 1;', {
  prev1: ref(ExtBlkRef),
  prev2: ref(ExtBlkRef),
});
export type PrevBlksInfo = ValueOf<typeof PrevBlksInfo>;

export type BlkPrevInfo = PrevBlkInfo | PrevBlksInfo;

/** `BlkPrevInfo after_merge`: which constructor it is, a flag elsewhere tells. */
export function blkPrevInfo(afterMerge: boolean): Codec<BlkPrevInfo> {
  return (afterMerge ? PrevBlksInfo : PrevBlkInfo) as Codec<BlkPrevInfo>;
}

/** The previous block, or the two after a merge, left one first. */
export function previousBlocks(info: BlkPrevInfo): readonly ExtBlkRef[] {
  return info.kind === 'prev_blk_info' ? [info.prev] : [info.prev1.value, info.prev2.value];
}

/** A masterchain block, and whether it is a key block. */
export const KeyExtBlkRef = record('_ key:Bool blk_ref:ExtBlkRef = KeyExtBlkRef;', { key: bool, blk_ref: ExtBlkRef });
export type KeyExtBlkRef = ValueOf<typeof KeyExtBlkRef>;

/** Of a set of masterchain blocks: whether one is a key block, and the greatest end lt. */
export const KeyMaxLt = record('_ key:Bool max_end_lt:uint64 = KeyMaxLt;', { key: bool, max_end_lt: uint64 });
export type KeyMaxLt = ValueOf<typeof KeyMaxLt>;
