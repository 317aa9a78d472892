import type { PlainError } from '#kernel/tern-error.js';
import type { LogMethods } from '#kernel/worker-side.js';

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
export interface DetectHost extends DetectionChain, LogMethods {
  looked(sums: DetectSums): void;
  queued(queued: number): void;
  /** Nothing is due. `wake`: number of the last wake before this was found out. */
  idle(wake: number, queued: number, soon: number): void;
  /** Why one contract could not be detected now. */
  postponed(error: PlainError): void;
  /** Why nothing can be done now; it is tried again. */
  trouble(error: PlainError): void;
}

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
