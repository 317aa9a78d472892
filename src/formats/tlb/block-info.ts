import { BlkMasterInfo, blkPrevInfo, PrevBlkInfo } from '#formats/tlb/block-ref.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { bool, constrained, uint8, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, record, when } from '#formats/tlb/codec/record.js';
import { GlobalVersion } from '#formats/tlb/global-version.js';
import { ShardIdent } from '#formats/tlb/shard-ident.js';

const vertSeqNo: Readonly<Record<'true' | 'false', Codec<number>>> = {
  true: constrained(uint32, 'vert_seq_no >= vert_seqno_incr', (no) => no >= 1),
  false: uint32,
};
const prevRef = { true: ref(blkPrevInfo(true)), false: ref(blkPrevInfo(false)) } as const;

/**
 * A block's header. `gen_utime` is in unix seconds and may repeat in the next block; `start_lt < lt < end_lt` for each of
 * its transactions and messages. `min_ref_mc_seqno` is the oldest masterchain block that it needs, not the one it was made
 * on (that is `master_ref`, absent in masterchain blocks).
 */
export const BlockInfo = record(
  `block_info#9bc7a987 version:uint32 not_master:(## 1) after_merge:(## 1) before_split:(## 1) after_split:(## 1)
    want_split:Bool want_merge:Bool key_block:Bool vert_seqno_incr:(## 1) flags:(## 8) { flags <= 1 }
    seq_no:# vert_seq_no:# { vert_seq_no >= vert_seqno_incr } { prev_seq_no:# } { ~prev_seq_no + 1 = seq_no }
    shard:ShardIdent gen_utime:uint32 start_lt:uint64 end_lt:uint64
    gen_validator_list_hash_short:uint32 gen_catchain_seqno:uint32 min_ref_mc_seqno:uint32 prev_key_block_seqno:uint32
    gen_software:flags . 0?GlobalVersion master_ref:not_master?^BlkMasterInfo
    prev_ref:^(BlkPrevInfo after_merge) prev_vert_ref:vert_seqno_incr?^(BlkPrevInfo 0) = BlockInfo;`,
  {
    version: constrained(uint32, 'version = 0', (version) => version === 0),
    not_master: bool,
    after_merge: bool,
    before_split: bool,
    after_split: bool,
    want_split: bool,
    want_merge: bool,
    key_block: bool,
    vert_seqno_incr: bool,
    flags: constrained(uint8, 'flags <= 1', (flags) => flags <= 1),
    seq_no: constrained(uint32, 'prev_seq_no + 1 = seq_no', (no) => no >= 1),
    vert_seq_no: dependent('vert_seqno_incr', (incr: boolean) => vertSeqNo[`${incr}`]),
    shard: ShardIdent,
    gen_utime: uint32,
    start_lt: uint64,
    end_lt: uint64,
    gen_validator_list_hash_short: uint32,
    gen_catchain_seqno: uint32,
    min_ref_mc_seqno: uint32,
    prev_key_block_seqno: uint32,
    gen_software: when('flags', (flags: number) => (flags & 1) === 1, GlobalVersion),
    master_ref: when('not_master', (notMaster: boolean) => notMaster, ref(BlkMasterInfo)),
    prev_ref: dependent('after_merge', (afterMerge: boolean) => prevRef[`${afterMerge}`]),
    prev_vert_ref: when('vert_seqno_incr', (incr: boolean) => incr, ref(PrevBlkInfo)),
  },
);
export type BlockInfo = ValueOf<typeof BlockInfo>;
