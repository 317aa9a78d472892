import { hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { bytesKey } from '#formats/tlb/codec/dictionary-key.js';
import { uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

/**
 * How many blocks: in total, and as averages that fade over 2048 and 65536 seconds, both times 2^32 as of `last_updated`
 * (unix seconds).
 */
export const Counters = record(
  'counters#_ last_updated:uint32 total:uint64 cnt2048:uint64 cnt65536:uint64 = Counters;',
  { last_updated: uint32, total: uint64, cnt2048: uint64, cnt65536: uint64 },
);
export type Counters = ValueOf<typeof Counters>;

/** Blocks that one validator made. */
export const CreatorStats = record('creator_info#4 mc_blocks:Counters shard_blocks:Counters = CreatorStats;', {
  mc_blocks: Counters,
  shard_blocks: Counters,
});
export type CreatorStats = ValueOf<typeof CreatorStats>;

/**
 * Blocks made, by the validator's public key; the key of zeros stands for all. Networks write the first constructor; how
 * extras of the second are made is written down nowhere, here they are the time of the last change below.
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
