import type { LogFields } from '#kernel/logger.js';
import type { PlainError } from '#kernel/tern-error.js';

/** What looking at contracts asks of the chain, besides what is indexed. All of it goes to another thread and back. */
export interface DetectionChain {
  /**
   * The configuration that a key block of the masterchain brought (0: that of the zerostate), as a BoC; the newest one where no
   * server has that block any more, and for null.
   */
  config(key_block: number | null): Promise<Uint8Array>;
  /** The library that the masterchain publishes under a hash, as a BoC; null: there is none. */
  library(hash: Uint8Array): Promise<Uint8Array | null>;
  /** An account that is not indexed; null: there is none. */
  account(address: Uint8Array): Promise<UnindexedAccount | null>;
}

/** An account as the newest masterchain block has it. */
export interface UnindexedAccount {
  /** `Account`, as a BoC. */
  readonly boc: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  /** Of that masterchain block. */
  readonly mc_seqno: number;
  /** When the newest block of the account's shard was made, in unix seconds. */
  readonly gen_utime: number;
}

export type DetectionQuery = {
  readonly [Name in keyof DetectionChain]: { readonly name: Name; readonly of: Parameters<DetectionChain[Name]>[0] };
}[keyof DetectionChain];

/** What the thread that looks at contracts is started with. */
export interface DetectStart {
  /** Of the database. */
  readonly url: string;
  /** Threads for running get methods. */
  readonly tvmWorkers: number;
  /** Whether only some accounts are indexed: others are looked up, and not kept. */
  readonly selected: boolean;
  /** Collections of domains, raw, besides those that everybody knows. */
  readonly dnsRoots: readonly { readonly collection: string; readonly zone: string }[];
}

/** How it works: following comes first, filling leaves it a share of the machine. */
export interface DetectPace {
  readonly newestFirst: boolean;
  /** Of its time that it works, 1 at most. */
  readonly share: number;
}

export type ToDetector =
  | { readonly kind: 'pace'; readonly pace: DetectPace }
  /** Something has been written; what is due is to be looked at until `idle` gives the number back. */
  | { readonly kind: 'wake'; readonly number: number }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'stop' };

export type FromDetector =
  | { readonly kind: 'started' }
  | { readonly kind: 'question'; readonly id: number; readonly question: DetectionQuery }
  | { readonly kind: 'looked'; readonly sums: DetectSums }
  /** Nothing is due; `number` of the last wake that came before it was looked. */
  | { readonly kind: 'queued'; readonly queued: number }
  | { readonly kind: 'idle'; readonly number: number; readonly queued: number; readonly soon: number }
  /** Why a contract could not be asked now. */
  | { readonly kind: 'postponed'; readonly error: PlainError }
  /** What stands in the way of everything; it is tried again. */
  | { readonly kind: 'trouble'; readonly error: PlainError }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string; readonly fields: LogFields }
  /** The thread ends, since it cannot begin. */
  | { readonly kind: 'ended'; readonly error: PlainError };

/** What was done since it was told last. */
export interface DetectSums {
  readonly looked: number;
  /** Get methods that were read from data, and those that were run. */
  readonly natively: number;
  readonly runs: number;
  readonly postponed: number;
  readonly seconds: number;
  /** By kind and reason, `jetton_wallet not-verified`. */
  readonly refused: Readonly<Record<string, number>>;
}
