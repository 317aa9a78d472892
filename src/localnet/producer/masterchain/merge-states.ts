import type { Cell } from '#formats/cells/cell.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';

/**
 * The state that two halves start from as one: what the first block after a merge works on.
 * @throws producer/states-apart when they are not the left and the right half of a shard
 */
export declare function mergeStates(left: ShardStateUnsplit, right: ShardStateUnsplit): ShardStateUnsplit;

/** The `split_state` that the Merkle update of the first block after a merge leads on from. */
export declare function splitStateCell(left: Cell, right: Cell): Cell;
