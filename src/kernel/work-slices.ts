import type { Clock } from '#kernel/clock.js';

/** Longest slice of work on a thread that also serves others, in milliseconds. */
const SLICE_MS = 10;

/**
 * Divides work without I/O into slices, between which the event loop gets its turn.
 *
 * @example
 * slices.begin();
 * for (const row of rows) {
 *   if (slices.isOver) await slices.next();
 *   write(row);
 * }
 */
export class WorkSlices {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #began = 0;

  /** @param signal calls the work off */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Begins a slice, after I/O. */
  begin(): void {
    this.#began = this.#clock.now();
  }

  /** Whether the slice has taken its time; costs about 50 ns. */
  get isOver(): boolean {
    return this.#clock.now() - this.#began >= SLICE_MS;
  }

  /** Resolves after a turn of the event loop. @throws the reason of the signal when it is aborted */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
    this.begin();
  }
}
