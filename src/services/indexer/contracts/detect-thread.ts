import type { Logger } from '#kernel/logger.js';
import { TernError } from '#kernel/tern-error.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type {
  DetectContract,
  DetectionChain,
  DetectPace,
  DetectStart,
  DetectSums,
} from '#services/indexer/contracts/detect-protocol.js';
import { indexerErrors } from '#services/indexer/errors.js';

export interface DetectThreadModules {
  readonly chain: DetectionChain;
  readonly logger: Logger;
  readonly onDetected: (sums: DetectSums) => void;
  readonly onQueued: (queued: number) => void;
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
  /** Why one detection was postponed, or all detection is blocked. */
  readonly onPostponed: (error: TernError) => void;
  readonly onTrouble: (error: TernError) => void;
}

/** Time to finish a database transaction before the thread is terminated. */
const GIVE_UP_MS = 2000;

/** The thread that detects contracts. */
export class DetectThread {
  readonly #thread: WorkerThread<DetectContract>;

  constructor(start: DetectStart, modules: DetectThreadModules) {
    const { chain, logger, onDetected, onQueued, onIdle, onPostponed, onTrouble } = modules;
    this.#thread = new WorkerThread({
      entry: new URL('./detect-main.js', import.meta.url),
      start,
      host: {
        ...logMethods(logger),
        config: (key_block) => chain.config(key_block),
        library: (hash) => chain.library(hash),
        account: (address) => chain.account(address),
        accountAt: (address, mc_seqno) => chain.accountAt(address, mc_seqno),
        detected: onDetected,
        queued: onQueued,
        idle: onIdle,
        postponed: (error) => onPostponed(TernError.fromPlain(error)),
        trouble: (error) => onTrouble(TernError.fromPlain(error)),
      },
      lost: (problem, thrown) => indexerErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
      closed: () => indexerErrors['thread-lost']({ problem: 'it was stopped' }),
      unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
    });
  }

  /** Rejects when the thread ends otherwise than by {@link stop}. */
  get ended(): Promise<void> {
    return this.#thread.ended;
  }

  setPace(pace: DetectPace): void {
    this.#thread.notify.setPace(pace);
  }

  wake(number: number): void {
    this.#thread.notify.wake(number);
  }

  /** Stops the thread: what is not written stays queued. */
  stop(): Promise<void> {
    return this.#thread.close(this.#thread.isReady ? GIVE_UP_MS : 0);
  }
}
