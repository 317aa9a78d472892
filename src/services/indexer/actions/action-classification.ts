import { TernError } from '#kernel/tern-error.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import type {
  ClassifyContract,
  ClassifyPace,
  ClassifyStart,
  ClassifySums,
} from '#services/indexer/actions/classify-protocol.js';
import type { FailedTrace } from '#services/indexer/actions/trace-classification.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';
import { CountsByTwo, type DelayMetrics, WakeCounter } from '#services/indexer/wake-loop.js';

/** Metrics of the classification of traces into actions. Sums only grow. */
export interface ActionClassificationMetrics {
  readonly traces: number;
  readonly transactions: number;
  readonly actions: number;
  /** Traces whose classification failed: a defect. */
  readonly failed: number;
  readonly seconds: number;
  /** Traces and masterchain blocks that wait, as last counted; null before. */
  readonly left: number | null;
  /** From a followed batch until its traces were classified. */
  readonly delays: DelayMetrics;
  /** Near misses by pattern and kind of reason. */
  readonly nearMisses: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface ActionClassificationModules extends Pick<IndexerContext, 'retries' | 'clock' | 'logger'> {
  /** Called when earlier states of contracts are to be read. */
  readonly onPastWanted: () => void;
}

/** Time to finish a database transaction before a thread is terminated. */
const GIVE_UP_MS = 2000;
/** Failed traces of the same pattern are logged once. */
const MAX_LOGGED_FAILURES = 1000;

/** The threads that classify traces into actions: one, and one more while there are long traces. */
export class ActionClassification {
  readonly #start: Omit<ClassifyStart, 'isLong'>;
  readonly #work: ActionClassificationModules;
  readonly #wakes: WakeCounter;
  readonly #nearMisses = new CountsByTwo();
  readonly #logged = new Set<string>();
  /** Short traces, then long ones. */
  readonly #threads: [WorkerThread<ClassifyContract> | null, WorkerThread<ClassifyContract> | null] = [null, null];
  #long: { readonly begin: () => void } | null = null;
  #isLongBusy = false;
  /** The last wake after which no short trace was left. */
  #idleSince = -1;
  #pace: ClassifyPace = { freshFrom: null };
  #lost = 0;
  #sums = { traces: 0, transactions: 0, actions: 0, failed: 0, seconds: 0 };
  #left: number | null = null;

  constructor(start: Omit<ClassifyStart, 'isLong'>, work: ActionClassificationModules) {
    this.#start = start;
    this.#work = work;
    this.#wakes = new WakeCounter(work.clock);
  }

  get metrics(): ActionClassificationMetrics {
    return {
      ...this.#sums,
      left: this.#left,
      delays: this.#wakes.delays,
      nearMisses: this.#nearMisses.counts,
    };
  }

  /** Threads lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps the threads running until the signal is aborted. @throws indexer/stopped */
  async run(signal: AbortSignal): Promise<void> {
    // The threads of a run before this one ended without a word about what they had left.
    this.#isLongBusy = false;
    const long = new Promise<void>((begin) => {
      this.#long = { begin };
    });
    const parts = [
      this.#runThread(false, signal),
      long.then(() => (signal.aborted ? undefined : this.#runThread(true, signal))),
    ];
    signal.addEventListener('abort', () => this.#long?.begin(), { once: true });
    await Promise.all(parts);
  }

  /** @param freshFrom see {@link ClassifyPace} */
  setPace(freshFrom: number | null): void {
    this.#pace = { freshFrom };
    for (const thread of this.#threads) thread?.notify.setPace(this.#pace);
  }

  /** A batch was written. */
  onWritten(mode: 'follow' | 'fill'): void {
    this.#notify(this.#wakes.nextOfBatch(mode));
  }

  /** Something was written that traces may wait for. */
  wake(): void {
    this.#notify(this.#wakes.next());
  }

  /** Resolves when all due traces are classified, or the signal is aborted. */
  async drain(signal: AbortSignal): Promise<void> {
    this.wake();
    await this.#wakes.wait(signal);
  }

  #notify(wake: number): void {
    for (const thread of this.#threads) thread?.notify.wake(wake);
  }

  async #runThread(isLong: boolean, signal: AbortSignal): Promise<void> {
    const { retries, logger } = this.#work;
    const place = isLong ? 1 : 0;
    await retries.run(async () => {
      const thread = new WorkerThread<ClassifyContract>({
        entry: new URL('./classify-main.js', import.meta.url),
        start: { ...this.#start, isLong },
        host: {
          ...logMethods(logger),
          classified: (sums) => this.#onClassified(sums),
          queuedLong: () => this.#onLong(),
          idle: (wake, left) => this.#onIdle(isLong, wake, left),
          failed: (traces) => this.#onFailed(traces),
          trouble: (error) => {
            const { code, message, remedy } = TernError.fromPlain(error);
            logger.warn('classification of traces is blocked; it is retried', { code, problem: message, remedy });
          },
        },
        lost: (problem, thrown) => indexerErrors['thread-lost']({ problem: thrown?.stack ?? problem }),
        closed: () => indexerErrors['thread-lost']({ problem: 'it was stopped' }),
        unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
      });
      this.#threads[place] = thread;
      thread.notify.setPace(this.#pace);
      thread.notify.wake(this.#wakes.number);
      const stop = (): void => void thread.close(thread.isReady ? GIVE_UP_MS : 0);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        await thread.ended;
      } catch (error) {
        this.#lost++;
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
        this.#threads[place] = null;
      }
    }, signal);
  }

  #onClassified({ nearMisses, past, ...sums }: ClassifySums): void {
    if (past > 0) this.#work.onPastWanted();
    const before = this.#sums;
    this.#sums = {
      traces: before.traces + sums.traces,
      transactions: before.transactions + sums.transactions,
      actions: before.actions + sums.actions,
      failed: before.failed + sums.failed,
      seconds: before.seconds + sums.seconds,
    };
    this.#nearMisses.add(nearMisses);
  }

  #onFailed(traces: readonly FailedTrace[]): void {
    for (const { trace_id, pattern, problem } of traces) {
      const key = `${pattern} ${problem}`;
      if (this.#logged.has(key) || this.#logged.size >= MAX_LOGGED_FAILURES) continue;
      this.#logged.add(key);
      this.#work.logger.warn('the classification of a trace failed; its basic actions are stored', {
        ...{ trace_id, problem },
        pattern: pattern ?? 'none',
      });
    }
  }

  #onLong(): void {
    this.#isLongBusy = true;
    this.#long?.begin();
    this.#threads[1]?.notify.wake(this.#wakes.number);
  }

  #onIdle(isLong: boolean, wake: number, left: number): void {
    if (isLong) this.#isLongBusy = left > 0;
    else {
      this.#left = left;
      if (left === 0) this.#idleSince = wake;
      this.#wakes.measure(wake);
    }
    if (this.#isLongBusy) return;
    this.#wakes.resolve(this.#idleSince);
  }
}
