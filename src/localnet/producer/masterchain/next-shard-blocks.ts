import type { Shard } from '#formats/proofs/block-id.js';
import type { ShardEntry, ShardHashes } from '#formats/tlb/shard-hashes.js';

/** How the next block of a shard begins, on the newest masterchain block. */
export interface NextShardBlock extends Shard {
  /** The registered blocks that it follows: two after a merge, left one first. */
  readonly prev: readonly ShardEntry[];
  readonly after_split: boolean;
  readonly after_merge: boolean;
  /** Whether it must be the last one before a split. */
  readonly before_split: boolean;
  readonly seq_no: number;
  readonly gen_catchain_seqno: number;
}

/**
 * The next block of each shard: one for most, one for each half after a block with `before_split`, one for both halves
 * when the masterchain has let them merge (`before_merge`).
 *
 * @param hashes of the newest masterchain state, on which the blocks are made
 * @param gen_utime of the blocks, unix seconds
 * @returns in the order of `hashes`, from left to right
 */
export declare function nextShardBlocks(hashes: ShardHashes, gen_utime: number): readonly NextShardBlock[];
