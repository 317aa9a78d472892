import { BlkMasterInfo } from '#formats/tlb/block-ref.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { hashmap } from '#formats/tlb/codec/inline-dictionary.js';
import { bool, cellRef, int32, uint32, uint64, unit } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardAccounts } from '#formats/tlb/shard-account.js';
import { ShardIdent } from '#formats/tlb/shard-ident.js';

/** A library of the masterchain and the ids of the accounts that keep it published. */
export const LibDescr = record('shared_lib_descr$00 lib:^Cell publishers:(Hashmap 256 True) = LibDescr;', {
  lib: cellRef,
  publishers: hashmap(bytesKey(32), unit),
});
export type LibDescr = ValueOf<typeof LibDescr>;

/** The anonymous cell of a shard state, under a name of its own, since proofs may leave it out. */
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
 * The state of a shard after a block: accounts, queues. `gen_utime` is that block's, in unix seconds, `gen_lt` its end lt.
 * Of the schema's `^[ … ]`, this makes the field `totals`.
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

/** The state of a shard, or of two that are about to merge: what the first block after a merge starts from. */
export const ShardState = union('ShardState', [
  ShardStateUnsplit,
  variant('split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit = ShardState;', {
    left: ref(ShardStateUnsplit as Codec<ShardStateUnsplit>),
    right: ref(ShardStateUnsplit as Codec<ShardStateUnsplit>),
  }),
]);
export type ShardState = ValueOf<typeof ShardState>;
