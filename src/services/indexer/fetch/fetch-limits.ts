import { chainErrors } from '#services/chain/errors.js';

interface WaitingForPermit {
  readonly rank: number;
  readonly grant: () => void;
}

/** A number of permits; of those who wait, the one with the lowest rank is next. */
export class PrioritySemaphore {
  readonly #waiting = new Set<WaitingForPermit>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Does some work as soon as it is its turn. @throws chain/aborted when the signal comes first */
  async take<Value>(rank: number, work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    if (signal.aborted) throw chainErrors.aborted({});
    if (this.#free > 0) this.#free--;
    else await this.#turn(rank, signal);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(rank: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: WaitingForPermit = {
        rank,
        grant: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting.delete(waiting);
        reject(chainErrors.aborted({}));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Passes a permit on; among equals the one who has waited longest is next. */
  #next(): void {
    let next: WaitingForPermit | null = null;
    for (const waiting of this.#waiting) if (next === null || waiting.rank < next.rank) next = waiting;
    if (next === null) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.grant();
  }
}

/** Bytes that are held, and who waits for some to be given back. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  take(bytes: number): void {
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
    this.wake();
  }

  /**
   * Waits until less than the limit is held.
   * @param isExempt whether there is no need to wait; looked at again with each {@link ByteBudget.wake}
   * @throws chain/aborted
   */
  async room(isExempt: () => boolean, signal: AbortSignal): Promise<void> {
    while (this.#held >= this.#limit && !isExempt()) {
      if (signal.aborted) throw chainErrors.aborted({});
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Lets all who wait look again. To be called when a signal is given, too. */
  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const look of waiting) look();
  }
}

/** What a round is taken to need before any has come. */
const FIRST_GUESS_BYTES = 128 * 1024;

/** How long a file is taken to need before any has come. */
const FIRST_GUESS_MS = 50;

/** What one more counts for in a mean. */
const ANSWER_SHARE = 1 / 16;
const BUNDLES_SHARE = 1 / 2;

/** How large rounds are and how fast files come, as seen lately. */
export class FetchRates {
  #roundBytes = FIRST_GUESS_BYTES;
  #answerMs = FIRST_GUESS_MS;

  get roundBytes(): number {
    return this.#roundBytes;
  }

  /** Without the time in which a file waits for its turn. */
  get answerMs(): number {
    return this.#answerMs;
  }

  answered(ms: number): void {
    this.#answerMs += (ms - this.#answerMs) * ANSWER_SHARE;
  }

  /** Some rounds have come. */
  came(count: number, bytes: number): void {
    this.#roundBytes += (bytes / count - this.#roundBytes) * BUNDLES_SHARE;
  }
}
