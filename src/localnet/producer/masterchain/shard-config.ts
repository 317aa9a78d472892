import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import type { ShardFees } from '#formats/tlb/shard-fees.js';
import type { ShardHashes } from '#formats/tlb/shard-hashes.js';

/** The newest block of a shard in a round, with sums over it and the blocks of the round that it follows. */
export interface ShardTop {
  readonly id: BlockId;
  readonly info: BlockInfo;
  /** `fees_collected` of the blocks' value flows. */
  readonly fees_collected: CurrencyCollection;
  /** `created` of the blocks' value flows. */
  readonly funds_created: CurrencyCollection;
}

/** What a masterchain block registers, before it is known whether it is a key block. */
export interface RegisteredShards {
  /** Not yet those of the block: {@link adjustShards} makes them. */
  readonly shard_hashes: ShardHashes;
  readonly shard_fees: ShardFees;
}

/** What shards are registered with. */
export interface RegistrationContext {
  /** The configuration in the state before. */
  readonly config: ConfigDictionary;
  /** Of the masterchain block that is made. */
  readonly mc_seqno: number;
  /** Of the masterchain block that is made, unix seconds. */
  readonly gen_utime: number;
}

/**
 * Registers the newest blocks of shards, and the zerostates of workchains that begin. To be called before the
 * transactions of the masterchain block: the fees of the shards are among what these may recover, and the block's
 * start_lt follows the tops' end_lt.
 *
 * @param before `ShardHashes` of the state before
 * @param tops at most one for each shard; after a split both halves
 * @throws producer/shard-not-next, producer/shard-unknown
 */
export declare function registerShards(
  before: ShardHashes,
  tops: readonly ShardTop[],
  context: RegistrationContext,
): RegisteredShards;

/** What shards are adjusted with. */
export interface AdjustmentContext {
  /** The configuration in the state after: that of the block if it is a key block. */
  readonly config: ConfigDictionary;
  readonly key_block: boolean;
  /** Of the masterchain block that is made, unix seconds. */
  readonly gen_utime: number;
  /** Of the masterchain block (or zerostate) before. */
  readonly prev_utime: number;
}

/**
 * Plans, begins and calls off splits and merges, and goes over to new sessions of validators (`next_catchain_seqno`):
 * the last step to the `ShardHashes` of a masterchain block and of the state after it.
 */
export declare function adjustShards(registered: ShardHashes, context: AdjustmentContext): ShardHashes;
