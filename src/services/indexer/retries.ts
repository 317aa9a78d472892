import { isTransient } from '#drivers/store/postgres-error.js';
import { pause } from '#kernel/async/pause.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** Pauses before another attempt, in milliseconds: the first one, doubled each time, up to the last. */
const PASSING = { first: 100, last: 2000 };
const LASTING = { first: 1000, last: 60_000 };

/** Does work until it succeeds, and says once what stands in its way, and once that it goes on. */
export class Retries {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #problems = new Map<object, TernError>();
  /** Code of what was told last; null: that all is well. */
  #told: string | null = null;
  #count = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** What has stood in the way for longest. */
  get problem(): TernError | null {
    for (const problem of this.#problems.values()) return problem;
    return null;
  }

  /** Attempts that failed so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param isFinal errors that another attempt would not change
   * @throws indexer/stopped when the signal is given, and what is final
   */
  async run<T>(
    work: () => Promise<T>,
    signal: AbortSignal,
    isFinal: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const key = {};
    try {
      for (let failures = 0; ; failures++) {
        if (signal.aborted) throw indexerErrors.stopped({});
        try {
          return await work();
        } catch (error) {
          if (signal.aborted) throw indexerErrors.stopped({}, error);
          if (isFinal(error)) throw error;
          this.#count++;
          this.#failed(key, error);
          const { first, last } = isTransient(error) ? PASSING : LASTING;
          await pause(Math.min(first * 2 ** Math.min(failures, 20), last), this.#clock, signal);
        }
      }
    } finally {
      this.#problems.delete(key);
      if (this.#problems.size === 0 && this.#told !== null) {
        this.#told = null;
        if (!signal.aborted) this.#logger.info('the index goes on');
      }
    }
  }

  #failed(key: object, error: unknown): void {
    const problem = isTernError(error)
      ? error
      : indexerErrors.unexpected({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    this.#problems.delete(key);
    this.#problems.set(key, problem);
    if (this.#told === problem.code) return;
    this.#told = problem.code;
    const { code, message, remedy } = problem;
    this.#logger.warn('the index waits', { code, problem: message, remedy });
  }
}
