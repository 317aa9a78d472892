import type { PlainError } from '#kernel/errors/tern-error.js';
import type { BatchReport, Zerostate } from '#services/indexer/work/batch-writer.js';
import type { PackedRounds } from '#services/indexer/work/packed-rounds.js';

/** What a thread is started with. */
export interface ThreadStart {
  /** Of the database. */
  readonly url: string;
  readonly partition_rounds: number;
  /** Keys of the accounts that are indexed; null: all. */
  readonly accounts: BigInt64Array | null;
}

export type ToThread =
  | {
      readonly kind: 'batch';
      readonly packed: PackedRounds;
      readonly zerostates: readonly Zerostate[] | null;
      readonly alone: boolean;
    }
  /** It is the batch's turn; or it is to be given up. */
  | { readonly kind: 'turn'; readonly refused: PlainError | null }
  | { readonly kind: 'version'; readonly key_block: number; readonly version: number | PlainError };

export type FromThread =
  | { readonly kind: 'started' }
  /** Most of the batch is written; it waits for its turn. */
  | { readonly kind: 'turn' }
  /** The version of the rules that a key block set is wanted. */
  | { readonly kind: 'version'; readonly key_block: number }
  | { readonly kind: 'done'; readonly report: BatchReport }
  | { readonly kind: 'failed'; readonly error: PlainError };
