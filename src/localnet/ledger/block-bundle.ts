import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';

/** A block, or with seqno 0 a zerostate, and the state after it (`ShardStateUnsplit`, whole). */
export interface ChainState {
  readonly id: BlockId;
  readonly state: Cell;
}

/** Where a chain stands: what the next blocks follow. */
export interface ChainTip {
  readonly masterchain: ChainState;
  /** The newest block of each shard that the masterchain's state lists, in the order of its `ShardHashes`. */
  readonly shards: readonly ChainState[];
}

/** The state with which a chain begins. Its id has seqno 0; the file hash is that of `bytes`. */
export interface Zerostate extends ChainState {
  readonly bytes: Uint8Array;
}

/** A block that was just made. */
export interface NewBlock extends ChainState {
  /** The file. */
  readonly bytes: Uint8Array;
  readonly root: Cell;
  /** The blocks before: two after a merge, left one first. */
  readonly prev: readonly BlockId[];
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
}

/** One step of a chain: a masterchain block, and all blocks of shards that it newly commits. */
export interface NewBlockBundle {
  /** Each after those that it follows. */
  readonly shards: readonly NewBlock[];
  readonly masterchain: NewBlock & { readonly key_block: boolean };
  readonly signatures: SignatureSet;
}
