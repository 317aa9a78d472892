import { isTransient } from '#drivers/store/connection.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';
import { isNotAvailable, isServersFailure, type ReadOptions } from '#services/chain/read-context.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { FetchOptions } from '#services/indexer/options.js';

const CONTRADICTIONS: ReadonlySet<string> = new Set([
  indexerErrors['other-branch'].code,
  indexerErrors['broken-link'].code,
]);

/** Pauses before another attempt, in milliseconds: `first`, doubled each time, up to `last`. */
const TRANSIENT_PAUSES_MS = { first: 100, last: 2000 };
const LASTING_PAUSES_MS = { first: 1000, last: 60_000 };

/** Retries database work until it succeeds; logs a problem once, and once that work continues. */
export class Retries {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #problems = new Map<object, TernError>();
  /** Code of the problem logged last; null: none. */
  #told: string | null = null;
  #count = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The problem that has lasted longest. */
  get problem(): TernError | null {
    for (const problem of this.#problems.values()) return problem;
    return null;
  }

  /** The contradiction between chain and index that stops indexing; null: none. */
  get contradiction(): TernError | null {
    for (const problem of this.#problems.values()) if (CONTRADICTIONS.has(problem.code)) return problem;
    return null;
  }

  /** Failed attempts so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param work may report that a problem is over before it ends itself
   * @param isFinal whether an error must not be retried
   * @throws indexer/stopped when the signal is aborted; final errors
   */
  async run<T>(
    work: (recovered: () => void) => Promise<T>,
    signal: AbortSignal,
    isFinal: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const key = {};
    let failures = 0;
    const recovered = (): void => {
      failures = 0;
      this.#solved(key, signal);
    };
    try {
      for (; ; failures++) {
        if (signal.aborted) throw indexerErrors.stopped({});
        try {
          return await work(recovered);
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
      this.#solved(key, signal);
    }
  }

  #solved(key: object, signal: AbortSignal): void {
    this.#problems.delete(key);
    if (this.#problems.size > 0 || this.#told === null) return;
    this.#told = null;
    if (!signal.aborted) this.#logger.info('indexing continues');
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
    this.#logger.warn('indexing is waiting for a retry', { code, problem: message, remedy });
  }
}

/** What a read wants, for reports. */
export interface WantedRead {
  /** `block (0,8000000000000000,12)`; formatted on demand. */
  readonly name: () => string;
  /** Seqno of the masterchain block whose bundle needs it. */
  readonly mc_seqno: number;
}

/** Transient errors besides those of {@link isServersFailure}. */
const TRANSIENT_ERRORS = new Set(['chain/deadline', 'lite/overloaded', 'lite/busy', 'lite/not-connected']);

/** This many failures of one read are not reported. */
const QUIET_FAILURES = 2;

/** Chain reads that are retried until they succeed. */
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
    const options: ReadOptions = { deadlineMs, cache: false, ...(signal === undefined ? {} : { signal }) };
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
    const { mc_seqno } = wanted;
    const data = { wanted: wanted.name(), mc_seqno, problem: error.message };
    const kind = isNotAvailable(error) ? 'block-missing' : 'block-unanswered';
    const problem = indexerErrors[kind](data, error);
    this.#problems.set(wanted, problem);
    const now = this.#clock.now();
    if (now - this.#reported < this.#options.reportEveryMs) return;
    this.#reported = now;
    const { code, message, remedy } = problem;
    this.#logger.warn('a masterchain block cannot be read yet', { code, mc_seqno, problem: message, remedy });
  }
}

function isPassing(error: unknown): error is TernError {
  return isServersFailure(error) || (isTernError(error) && TRANSIENT_ERRORS.has(error.code));
}

/** @throws chain/aborted */
function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw chainErrors.aborted({});
}
