import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';

/** A block, or with seqno 0 a zerostate, and the complete state after it (`ShardStateUnsplit`). */
export interface ChainState {
  readonly id: BlockId;
  readonly state: Cell;
}

/** The newest blocks of a chain, which the next blocks follow. */
export interface ChainTip {
  readonly masterchain: ChainState;
  /** The newest block of each shard that the masterchain's state lists, in the order of its `ShardHashes`. */
  readonly shards: readonly ChainState[];
}

/** A zerostate. Its id has seqno 0; the file hash is that of `bytes`. */
export interface Zerostate extends ChainState {
  readonly bytes: Uint8Array;
}

/** A block that was just produced. */
export interface NewBlock extends ChainState {
  /** The block file. */
  readonly bytes: Uint8Array;
  readonly root: Cell;
  /** Previous blocks: two after a merge, the left one first. */
  readonly prev: readonly BlockId[];
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
}

/** A masterchain block and the shard blocks that it newly commits, as produced. */
export interface NewBlockBundle {
  /** Each after the blocks that it follows. */
  readonly shards: readonly NewBlock[];
  readonly masterchain: NewBlock & { readonly key_block: boolean };
  readonly signatures: SignatureSet;
}
