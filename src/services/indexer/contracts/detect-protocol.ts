import type { PlainError } from '#kernel/tern-error.js';
import type { LogMethods } from '#kernel/worker-side.js';

/** Chain reads of contract detection, for what is not indexed. Calls and results cross a thread boundary. */
export interface DetectionChain {
  /**
   * The configuration set by a key block (0: the zerostate), as a BoC; the newest configuration if no server has that block any
   * more, or for null.
   */
  config(key_block: number | null): Promise<Uint8Array>;
  /** A library published on the masterchain, as a BoC; null: none. */
  library(hash: Uint8Array): Promise<Uint8Array | null>;
  /** The state of an account that is not indexed; null: it does not exist. */
  account(address: Uint8Array): Promise<UnindexedAccount | null>;
  /** The state of an account after a masterchain block. Null: it did not exist; `unavailable`: no server has that state any more. */
  accountAt(address: Uint8Array, mc_seqno: number): Promise<UnindexedAccount | null | 'unavailable'>;
}

/** State of an account as of a masterchain block. */
export interface UnindexedAccount {
  /** `Account`, as a BoC. */
  readonly boc: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  /** Seqno of that masterchain block. */
  readonly mc_seqno: number;
  /** Unix time of the newest block of the account's shard. */
  readonly gen_utime: number;
}

/** `workerData` of the detection thread. */
export interface DetectStart {
  /** Connection URL of the database. */
  readonly url: string;
  /** As of `WakeLoop`. */
  readonly pollMs: number;
  /** TVM workers for get-methods. */
  readonly tvmWorkers: number;
  /** Whether only selected accounts are indexed: other accounts are read from the chain and not stored. */
  readonly selected: boolean;
  /** DNS collections (raw addresses) besides the well-known ones. */
  readonly dnsRoots: readonly { readonly collection: string; readonly zone: string }[];
}

/** Scheduling of detection relative to following and filling. */
export interface DetectPace {
  readonly newestFirst: boolean;
  /** Share of time that detection may use, at most 1. */
  readonly share: number;
}

/** The two sides of the detection thread: see `WorkerContract`. */
export interface DetectContract {
  readonly start: DetectStart;
  readonly host: DetectHost;
  readonly methods: {
    setPace(pace: DetectPace): void;
    /** Something has been written: what is due is detected, until {@link DetectHost.idle} returns the number. */
    wake(number: number): void;
  };
  readonly ready: undefined;
}

/** What the detection thread calls. */
interface DetectHost extends DetectionChain, LogMethods {
  detected(sums: DetectSums): void;
  queued(queued: number): void;
  /** Nothing is due. `wake`: number of the last wake before this was found out. */
  idle(wake: number, queued: number, soon: number): void;
  /** Why one contract could not be detected now. */
  postponed(error: PlainError): void;
  /** Why nothing can be done now; it is tried again. */
  trouble(error: PlainError): void;
}

/** Work done since the last report. */
export interface DetectSums {
  readonly detected: number;
  /** Get-method results read natively from contract data, and get-methods run in the TVM. */
  readonly natively: number;
  readonly runs: number;
  readonly postponed: number;
  readonly seconds: number;
  /** Refusals by interface and reason: `jetton_wallet not-verified`. */
  readonly refused: Readonly<Record<string, number>>;
}
