import { BlockCreateStats } from '#formats/tlb/block-create-stats.js';
import { ExtBlkRef, KeyExtBlkRef, KeyMaxLt } from '#formats/tlb/block-ref.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { maybe, ref } from '#formats/tlb/codec/composites.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { bool, constrained, uint16, uint32 } from '#formats/tlb/codec/primitives.js';
import { record, when } from '#formats/tlb/codec/record.js';
import { ConfigParams } from '#formats/tlb/config/config-params.js';
import { CurrencyCollection } from '#formats/tlb/currency.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';

/** Which validators make the next masterchain blocks. */
export const ValidatorInfo = record(
  'validator_info$_ validator_list_hash_short:uint32 catchain_seqno:uint32 nx_cc_updated:Bool = ValidatorInfo;',
  { validator_list_hash_short: uint32, catchain_seqno: uint32, nx_cc_updated: bool },
);
export type ValidatorInfo = ValueOf<typeof ValidatorInfo>;

/**
 * `_ (HashmapAugE 32 KeyExtBlkRef KeyMaxLt) = OldMcBlocksInfo;`
 * All masterchain blocks before this one by sequence number, 0 being the zerostate.
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

/** The anonymous cell of a masterchain state's extra, under a name of its own, since proofs may leave it out. */
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

/** What only masterchain states have. Of the schema's `^[ … ]`, this makes the field `info`. */
export const McStateExtra = record(
  `masterchain_state_extra#cc26 shard_hashes:ShardHashes config:ConfigParams info:^McStateInfo
    global_balance:CurrencyCollection = McStateExtra;`,
  { shard_hashes: ShardHashes, config: ConfigParams, info: ref(McStateInfo), global_balance: CurrencyCollection },
);
export type McStateExtra = ValueOf<typeof McStateExtra>;
