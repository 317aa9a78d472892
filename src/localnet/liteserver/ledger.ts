import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';

/** A block that the ledger holds, checked. */
export interface LedgerBlock {
  readonly id: BlockId;
  /** The file. */
  readonly bytes: Uint8Array;
  /** The root of the block, whole. It may be read anew each time it is asked for. */
  readonly root: Cell;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** The masterchain block that commits it; its own seqno for a block of the masterchain. */
  readonly mc_seqno: number;
}

/**
 * What a liteserver serves: a chain from its zerostates to a head, with the state after each block. It grows only, by
 * whole masterchain blocks: what a new head commits is there from the moment on that it is the head.
 */
export interface Ledger {
  /** The zerostate of the masterchain. */
  readonly zerostate: BlockId;
  /** The newest masterchain block; `null` while there is nothing but zerostates. */
  readonly head: LedgerBlock | null;
  /** The block with just this id; `null` when it is unknown, not committed yet, or of seqno 0. */
  block(id: BlockId): LedgerBlock | null;
  /** The first block of the shards that a prefix belongs to that has the seqno, or reaches the lt or the time. */
  lookup(query: BlockQuery): LedgerBlock | null;
  /** Whether any block of a workchain is known. */
  hasWorkchain(workchain: number): boolean;
  /** The state after a block, whole. */
  state(block: LedgerBlock): Cell;
  /** The newest key block up to a seqno, or the zerostate of the masterchain when there is none. */
  keyBlockUpTo(seqno: number): BlockId;
  /** The oldest key block from a seqno on, up to the head; `null` when there is none. */
  keyBlockFrom(seqno: number): BlockId | null;
  /** The file of the zerostate with just this id. */
  zerostateFile(id: BlockId): Uint8Array | null;
  /** Who signed a masterchain block; `null` when that is not known. */
  signatures(block: LedgerBlock): SignatureSet | null;
  /** Calls after the head has moved. @returns takes the subscription back */
  onHead(listener: () => void): () => void;
}
