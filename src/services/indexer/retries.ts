import { isTransient } from '#drivers/store/connection.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';
import { isNotAvailable, isServersFailure, type ReadOptions } from '#services/chain/read-context.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { FetchOptions } from '#services/indexer/options.js';

/** Pauses before another attempt, in milliseconds: the first one, doubled each time, up to the last. */
const TRANSIENT_PAUSES_MS = { first: 100, last: 2000 };
const LASTING_PAUSES_MS = { first: 1000, last: 60_000 };

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
          const { first, last } = isTransient(error) ? TRANSIENT_PAUSES_MS : LASTING_PAUSES_MS;
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

/** What is read, for reports. */
export interface WantedRead {
  /** `block (0,8000000000000000,12)`; made when it is needed. */
  readonly name: () => string;
  /** The round that needs it. */
  readonly round: number;
}

/** Errors of a moment besides those of {@link isServersFailure}. */
const TRANSIENT_ERRORS = new Set(['chain/deadline', 'lite/overloaded', 'lite/busy', 'lite/not-connected']);

/** So many failures of one read are nothing to speak of. */
const QUIET_FAILURES = 2;

/** Reads that go on until they have what they want. */
export class RetryingReads {
  readonly #options: FetchOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #problems = new Map<WantedRead, TernError>();
  #reported = Number.NEGATIVE_INFINITY;

  constructor(options: FetchOptions, clock: Clock, logger: Logger) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** What has not come for the longest time, in spite of being asked for again; `null` when all is well. */
  get problem(): TernError | null {
    for (const problem of this.#problems.values()) return problem;
    return null;
  }

  /**
   * Reads until it succeeds. What servers did wrong is asked for again, after longer and longer pauses.
   * @throws chain/aborted when the signal is given, and what asking again does not change
   */
  async read<Value>(
    wanted: WantedRead,
    read: (options: ReadOptions) => Promise<Value>,
    signal: AbortSignal | undefined,
  ): Promise<Value> {
    const { deadlineMs, retryMinMs, retryMaxMs } = this.#options;
    const options: ReadOptions = { deadlineMs, keep: false, ...(signal === undefined ? {} : { signal }) };
    try {
      for (let failures = 1; ; failures++) {
        checkSignal(signal);
        try {
          return await read(options);
        } catch (error) {
          checkSignal(signal);
          if (!isPassing(error)) throw error;
          if (failures >= QUIET_FAILURES) this.#failed(wanted, error);
        }
        const delay = Math.min(retryMinMs * 2 ** Math.min(failures - 1, 30), retryMaxMs);
        await pause(delay, this.#clock, signal);
      }
    } finally {
      this.#problems.delete(wanted);
    }
  }

  #failed(wanted: WantedRead, error: TernError): void {
    const { round } = wanted;
    const data = { wanted: wanted.name(), round, problem: error.message };
    const kind = isNotAvailable(error) ? 'block-missing' : 'block-unanswered';
    const problem = indexerErrors[kind](data, error);
    this.#problems.set(wanted, problem);
    const now = this.#clock.now();
    if (now - this.#reported < this.#options.reportEveryMs) return;
    this.#reported = now;
    const { code, message, remedy } = problem;
    this.#logger.warn('a round cannot be read yet', { code, round, problem: message, remedy });
  }
}

function isPassing(error: unknown): error is TernError {
  return isServersFailure(error) || (isTernError(error) && TRANSIENT_ERRORS.has(error.code));
}

/** @throws chain/aborted */
function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw chainErrors.aborted({});
}
