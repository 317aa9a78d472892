import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';

/** A checked block of the ledger. */
export interface LedgerBlock {
  readonly id: BlockId;
  /** The block file. */
  readonly bytes: Uint8Array;
  /** The root of the complete block. Each access may parse it again. */
  readonly root: Cell;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** The masterchain block that commits it; for a masterchain block its own seqno. */
  readonly mc_seqno: number;
}

/**
 * What a liteserver serves: a chain from its zerostates to a head, with the state after each block. It only grows, by
 * whole masterchain blocks: everything that a new head commits is available once it is the head.
 */
export interface Ledger {
  /** The zerostate of the masterchain. */
  readonly zerostate: BlockId;
  /** The newest masterchain block; `null` while there are only zerostates. */
  readonly head: LedgerBlock | null;
  /** The block with exactly this id; `null` when it is unknown, not committed yet, or of seqno 0. */
  block(id: BlockId): LedgerBlock | null;
  /** The first block, among all shards that contain the prefix, that has the seqno, or reaches the lt or the time. */
  lookup(query: BlockQuery): LedgerBlock | null;
  /** Whether any block of a workchain is known. */
  hasWorkchain(workchain: number): boolean;
  /** The complete state after a block. */
  state(block: LedgerBlock): Cell;
  /** The newest key block up to a seqno, or the masterchain zerostate if there is none. */
  keyBlockUpTo(seqno: number): BlockId;
  /** The oldest key block from a seqno up to the head; `null` if there is none. */
  keyBlockFrom(seqno: number): BlockId | null;
  /** The file of the zerostate with exactly this id. */
  zerostateFile(id: BlockId): Uint8Array | null;
  /** The signatures of a masterchain block; `null` when they are not known. */
  signatures(block: LedgerBlock): SignatureSet | null;
  /** Registers a listener that is called after the head has moved. @returns removes the listener */
  onHead(listener: () => void): () => void;
}
