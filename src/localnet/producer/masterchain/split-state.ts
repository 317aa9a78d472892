import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';

/**
 * The state that a half of a shard starts from: what the first block after a split works on. (The Merkle update of that
 * block leads on from the whole state of the parent.)
 *
 * @param parent the state after the block with `before_split`
 * @param shard the half, uint64 with the tag bit
 * @throws producer/states-apart when it is no half of the parent
 */
export declare function splitState(parent: ShardStateUnsplit, shard: bigint): ShardStateUnsplit;
