import type { Address } from '#formats/address/address.js';
import type { BlockId, BlockPosition } from '#formats/proofs/block-id.js';

/**
 * Which block a read is about: the newest one, a masterchain block by its number, or any block by its place in the chain or
 * by its id. In a place, a prefix stands for the shard that contains it.
 */
export type BlockAt = 'head' | number | BlockPosition | BlockId;

/** What every read can be told. */
export interface ReadOptions {
  /** For the whole read, however many questions it takes; milliseconds. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Whether the answer, with the bytes of its proofs, is wanted back. Default: no. */
  readonly proof?: boolean;
  /** Whether answers that stay true may be kept for others. Default: yes. No for who reads much, and each thing once. */
  readonly keep?: boolean;
  /** Is told of each account that is read, also as a part of something else, and is not there. */
  readonly onAbsent?: (address: Address) => void;
}

/** For reads about one block. */
export interface ReadAt extends ReadOptions {
  /** Default: the newest block. */
  readonly at?: BlockAt;
}

/** What every answer carries. `Answer` is the TL form: `LiteServerAccountState`. */
export interface Answered<Answer> {
  /** The block that the value is about; proven to be in the chain. */
  readonly block: BlockId;
  /** When that block was made, in unix seconds; `null` where nothing that was read tells it. */
  readonly gen_utime: number | null;
  /** What a server answered, if it was asked for. `null`: not asked for, or known without asking. */
  readonly proof: Answer | null;
}
