import type { Cell } from '#formats/cells/cell.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import { BlkMasterInfo, ExtBlkRef, KeyExtBlkRef, KeyMaxLt, ShardIdent } from '#formats/tlb/block-id.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, encodeCell, Lazy, maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bytesKey, hashmap, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bool, cellRef, constrained, int32, uint16, uint32, uint64, unit } from '#formats/tlb/codec/primitives.js';
import { record, union, variant, when } from '#formats/tlb/codec/record.js';
import { ConfigParams } from '#formats/tlb/config/config-params.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';

/**
 * Numbers of blocks: in total, and as exponentially decaying averages over 2048 and 65536 seconds, scaled by 2^32, as of
 * `last_updated` (unix seconds).
 */
export const Counters = record(
  'counters#_ last_updated:uint32 total:uint64 cnt2048:uint64 cnt65536:uint64 = Counters;',
  { last_updated: uint32, total: uint64, cnt2048: uint64, cnt65536: uint64 },
);
export type Counters = ValueOf<typeof Counters>;

/** Blocks created by one validator. */
export const CreatorStats = record('creator_info#4 mc_blocks:Counters shard_blocks:Counters = CreatorStats;', {
  mc_blocks: Counters,
  shard_blocks: Counters,
});
export type CreatorStats = ValueOf<typeof CreatorStats>;

/**
 * Blocks created, by the validator's public key; the all-zero key holds the totals. Networks write the first constructor.
 * The extras of the second are not documented anywhere; here they are the time of the last change below.
 */
export const BlockCreateStats = union('BlockCreateStats', [
  variant('block_create_stats#17 counters:(HashmapE 256 CreatorStats) = BlockCreateStats;', {
    counters: hashmapE(bytesKey(32), CreatorStats),
  }),
  variant('block_create_stats_ext#34 counters:(HashmapAugE 256 CreatorStats uint32) = BlockCreateStats;', {
    counters: hashmapAugE(bytesKey(32), CreatorStats, uint32, {
      empty: 0,
      leaf: (stats) => Math.max(stats.mc_blocks.last_updated, stats.shard_blocks.last_updated),
      combine: Math.max,
    }),
  }),
]);
export type BlockCreateStats = ValueOf<typeof BlockCreateStats>;

/** The validator group that creates the next masterchain blocks. */
export const ValidatorInfo = record(
  'validator_info$_ validator_list_hash_short:uint32 catchain_seqno:uint32 nx_cc_updated:Bool = ValidatorInfo;',
  { validator_list_hash_short: uint32, catchain_seqno: uint32, nx_cc_updated: bool },
);
export type ValidatorInfo = ValueOf<typeof ValidatorInfo>;

/**
 * `_ (HashmapAugE 32 KeyExtBlkRef KeyMaxLt) = OldMcBlocksInfo;`
 * All previous masterchain blocks by seqno; 0 is the zerostate.
 */
export const OldMcBlocksInfo = hashmapAugE(uintKey(32), KeyExtBlkRef, KeyMaxLt, {
  empty: { key: false, max_end_lt: 0n },
  leaf: ({ key, blk_ref }) => ({ key, max_end_lt: blk_ref.end_lt }),
  combine: (left, right) => ({
    key: left.key || right.key,
    max_end_lt: left.max_end_lt > right.max_end_lt ? left.max_end_lt : right.max_end_lt,
  }),
});
export type OldMcBlocksInfo = AugmentedDictionary<number, KeyExtBlkRef, KeyMaxLt>;

/** The anonymous cell of a masterchain state's extra, a separate type because proofs may prune it. */
export const McStateInfo = record(
  `_ flags:(## 16) { flags <= 1 } validator_info:ValidatorInfo prev_blocks:OldMcBlocksInfo after_key_block:Bool
    last_key_block:(Maybe ExtBlkRef) block_create_stats:(flags . 0)?BlockCreateStats = McStateInfo;`,
  {
    flags: constrained(uint16, 'flags <= 1', (flags) => flags <= 1),
    validator_info: ValidatorInfo,
    prev_blocks: OldMcBlocksInfo,
    after_key_block: bool,
    last_key_block: maybe(ExtBlkRef),
    block_create_stats: when('flags', (flags: number) => (flags & 1) === 1, BlockCreateStats),
  },
);
export type McStateInfo = ValueOf<typeof McStateInfo>;

/** The masterchain part of a state. The schema's `^[ … ]` is the field `info` here. */
export const McStateExtra = record(
  `masterchain_state_extra#cc26 shard_hashes:ShardHashes config:ConfigParams info:^McStateInfo
    global_balance:CurrencyCollection = McStateExtra;`,
  { shard_hashes: ShardHashes, config: ConfigParams, info: ref(McStateInfo), global_balance: CurrencyCollection },
);
export type McStateExtra = ValueOf<typeof McStateExtra>;

/** A masterchain library and the ids of the accounts that publish it. */
export const LibDescr = record('shared_lib_descr$00 lib:^Cell publishers:(Hashmap 256 True) = LibDescr;', {
  lib: cellRef,
  publishers: hashmap(bytesKey(32), unit),
});
export type LibDescr = ValueOf<typeof LibDescr>;

/** The anonymous cell of a shard state, a separate type because proofs may prune it. */
export const ShardStateTotals = record(
  `_ overload_history:uint64 underload_history:uint64 total_balance:CurrencyCollection
    total_validator_fees:CurrencyCollection libraries:(HashmapE 256 LibDescr) master_ref:(Maybe BlkMasterInfo)
    = ShardStateTotals;`,
  {
    overload_history: uint64,
    underload_history: uint64,
    total_balance: CurrencyCollection,
    total_validator_fees: CurrencyCollection,
    libraries: hashmapE(bytesKey(32), LibDescr),
    master_ref: maybe(BlkMasterInfo),
  },
);
export type ShardStateTotals = ValueOf<typeof ShardStateTotals>;

/**
 * The state of a shard after a block: accounts and queues. `gen_utime` is that of the block in unix seconds, `gen_lt` its
 * end lt. The schema's `^[ … ]` is the field `totals` here.
 */
export const ShardStateUnsplit = variant(
  `shard_state#9023afe2 global_id:int32 shard_id:ShardIdent seq_no:uint32 vert_seq_no:# gen_utime:uint32 gen_lt:uint64
    min_ref_mc_seqno:uint32 out_msg_queue_info:^OutMsgQueueInfo before_split:(## 1) accounts:^ShardAccounts
    totals:^ShardStateTotals custom:(Maybe ^McStateExtra) = ShardStateUnsplit;`,
  {
    global_id: int32,
    shard_id: ShardIdent,
    seq_no: uint32,
    vert_seq_no: uint32,
    gen_utime: uint32,
    gen_lt: uint64,
    min_ref_mc_seqno: uint32,
    out_msg_queue_info: ref(OutMsgQueueInfo),
    before_split: bool,
    accounts: ref(ShardAccounts),
    totals: ref(ShardStateTotals),
    custom: maybe(ref(McStateExtra)),
  },
);
export type ShardStateUnsplit = ValueOf<typeof ShardStateUnsplit>;

/** The state of a shard, or of two merging shards, from which the first block after a merge starts. */
export const ShardState = union('ShardState', [
  ShardStateUnsplit,
  variant('split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit = ShardState;', {
    left: ref(ShardStateUnsplit as Codec<ShardStateUnsplit>),
    right: ref(ShardStateUnsplit as Codec<ShardStateUnsplit>),
  }),
]);
export type ShardState = ValueOf<typeof ShardState>;

/** The `split_state` from which the Merkle update of the first block after a merge starts. */
export function splitStateCell(left: Cell, right: Cell): Cell {
  return encodeCell(ShardState, {
    kind: 'split_state',
    left: Lazy.ofCell(ShardStateUnsplit as Codec<ShardStateUnsplit>, left),
    right: Lazy.ofCell(ShardStateUnsplit as Codec<ShardStateUnsplit>, right),
  });
}
