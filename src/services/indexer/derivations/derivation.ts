import type { ClientBase } from 'pg';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import type { CompleteTrace } from '#drivers/store/write/derivations.js';
import type { BatchEncoder } from '#drivers/store/write/write-batch.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';

/** Rows that follow from indexed rows alone: written with each batch, and derived again without fetching blocks. */
export type Derivation = McBlockDerivation | TraceDerivation | EndedTraceDerivation | AccountDerivation;

interface DerivationBase {
  /** The NAME of `tern index --rederive NAME`. */
  readonly name: string;
  /** Increase it when the same input gives other rows: indexes then derive everything again by themselves. */
  readonly version: number;
  /** The tables that its rows are in. */
  readonly tables: readonly string[];
  /** Derivations that are restarted with this one. */
  readonly restarts?: readonly string[];
}

/** Rows of the transactions and messages of masterchain blocks and their shard blocks. */
export interface McBlockDerivation extends DerivationBase {
  readonly input: 'mc-blocks';
  /** Its part in the transaction that writes a batch of bundles. */
  inBatch(bundles: readonly BundleRows[]): DerivationBatch;
  /**
   * Writes the rows of indexed masterchain blocks from what is stored of them, in place of existing rows; in a transaction.
   *
   * @returns the amount of work (decoded transactions), by which the next range is sized
   */
  rederive(client: ClientBase, range: SeqnoRange): Promise<number>;
}

/** A derivation in the transaction of one batch; called in this order. */
export interface DerivationBatch {
  /** Reads what the rows depend on, concurrently with other batches. */
  read(client: ClientBase): Promise<void>;
  /** Adds its rows to those that are copied. */
  encode(encoder: BatchEncoder): void;
  /** Under the trace lock, after all rows, accounts and traces of the batch are written. */
  finish(client: ClientBase): Promise<void>;
  /** Keys of the tokens of transactions by id, for the event log. */
  readonly tokens?: ReadonlyMap<bigint, bigint>;
}

/**
 * Rows of complete traces: those without a pending message whose root is not an orphan. A complete trace does not change any
 * more, so each is written once, by the batch that completes it.
 */
export interface TraceDerivation extends DerivationBase {
  readonly input: 'complete-traces';
  /** Writes the rows of traces, in place of existing rows of the same roots; in a transaction, under the trace lock. */
  write(client: ClientBase, traces: readonly CompleteTrace[]): Promise<void>;
}

/**
 * Rows of complete traces that threads of their own derive, by the masterchain block in which a trace ends: blocks that are indexed
 * and not derived are their queue.
 */
export interface EndedTraceDerivation extends DerivationBase {
  readonly input: 'ended-traces';
  /** Called with the roots of traces that a batch completes though they end in a masterchain block outside of it; in its transaction. */
  completedLater(client: ClientBase, roots: readonly bigint[]): Promise<void>;
  /** Called when it is derived again, in the same transaction. */
  restarted?(client: ClientBase): Promise<void>;
}

/** Rows of the newest state of accounts (or of what belongs to them: contracts, codes), in the order of a binary key. */
export interface AccountDerivation extends DerivationBase {
  readonly input: 'changed-accounts';
  /**
   * Called with the stored addresses whose state a batch changes, under the trace lock, after the states are merged. Absent:
   * the statements that merge the states write its rows, or queue them.
   */
  changed?(client: ClientBase, addresses: readonly Uint8Array[]): Promise<void>;
  /**
   * Derives a page of stored rows, in a transaction.
   *
   * @param after the key of the last derived row; empty: none
   * @returns the key of the last row of the page; null: no more rows
   */
  rederive(client: ClientBase, after: Uint8Array, page: AccountPage): Promise<Uint8Array | null>;
  /** `detection`: the thread of contract detection runs it, when it has nothing else to do. Default: the index leader. */
  readonly runBy?: 'detection';
  /** After this time rows that could not be derived are tried again. Milliseconds; default: never. */
  readonly repeatMs?: number;
}

interface AccountPage {
  /** Whether everything was derived before, and only rows that could not be derived then are missing. */
  readonly isRepeat: boolean;
  /** Unix seconds. */
  readonly now: number;
}

/** The key of a derivation in the table `derivations`: another version has its own progress. */
export function progressKey({ name, version }: Pick<Derivation, 'name' | 'version'>): string {
  return version === 1 ? name : `${name}@${version}`;
}
