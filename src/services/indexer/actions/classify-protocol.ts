import type { PlainError } from '#kernel/tern-error.js';
import type { LogMethods } from '#kernel/worker-side.js';
import type { FailedTrace } from '#services/indexer/actions/trace-classification.js';

/** `workerData` of a classification thread. */
export interface ClassifyStart {
  /** Connection URL of the database. */
  readonly url: string;
  /** As of `WakeLoop`. */
  readonly pollMs: number;
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
  /** Classifies the long traces of the queue only; otherwise all others. */
  readonly isLong: boolean;
}

/** Scheduling of classification relative to following and filling. */
export interface ClassifyPace {
  /**
   * Traces that end in this masterchain block or after it are classified at once; older ones when contract detection has nothing to
   * do, so that each is classified once. Null: nothing is followed.
   */
  readonly freshFrom: number | null;
}

/** The two sides of a classification thread: see `WorkerContract`. */
export interface ClassifyContract {
  readonly start: ClassifyStart;
  readonly host: ClassifyHost;
  readonly methods: {
    setPace(pace: ClassifyPace): void;
    /** Something has been written: what is due is classified, until {@link ClassifyHost.idle} returns the number. */
    wake(number: number): void;
  };
  readonly ready: undefined;
}

/** What a classification thread calls. */
interface ClassifyHost extends LogMethods {
  classified(sums: ClassifySums): void;
  /** Long traces are queued. */
  queuedLong(): void;
  /** Nothing is due. `wake`: number of the last wake before this was found out; `left`: traces and blocks that are not due yet. */
  idle(wake: number, left: number): void;
  /** Traces whose classification failed: a defect. */
  failed(traces: readonly FailedTrace[]): void;
  /** Why nothing can be done now; it is tried again. */
  trouble(error: PlainError): void;
}

/** Work done since the last report. */
export interface ClassifySums {
  readonly traces: number;
  readonly transactions: number;
  readonly actions: number;
  readonly failed: number;
  /** Contracts whose earlier state is to be read for them. */
  readonly past: number;
  readonly seconds: number;
  /** As in `ClassifiedPage`. */
  readonly nearMisses: Readonly<Record<string, number>>;
}
