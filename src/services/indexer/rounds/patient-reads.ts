import { pause } from '#kernel/async/pause.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError, type TernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';
import { isNotAvailable, isServersFailure } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import type { ReadOptions } from '#services/chain/read-options.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { RoundOptions } from '#services/indexer/rounds/options.js';

/** What is read, for reports. */
export interface Wanted {
  /** `block (0,8000000000000000,12)`; made when it is needed. */
  readonly name: () => string;
  /** The round that needs it. */
  readonly round: number;
}

/** Errors of a moment besides those of {@link isServersFailure}. */
const PASSING = new Set(['chain/deadline', 'lite/overloaded', 'lite/busy', 'lite/not-connected']);

/** So many failures of one read are nothing to speak of. */
const QUIET_FAILURES = 2;

/** Reads that go on until they have what they want. */
export class PatientReads {
  readonly #options: RoundOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #problems = new Map<Wanted, TernError>();
  #reported = Number.NEGATIVE_INFINITY;

  constructor(options: RoundOptions, clock: Clock, logger: Logger) {
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
    wanted: Wanted,
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

  #failed(wanted: Wanted, error: TernError): void {
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
  return isServersFailure(error) || (isTernError(error) && PASSING.has(error.code));
}

/** @throws chain/aborted */
function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw chainErrors.aborted({});
}
