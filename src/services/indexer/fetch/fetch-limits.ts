import { chainErrors } from '#services/chain/errors.js';

interface WaitingForPermit {
  readonly rank: number;
  readonly grant: () => void;
}

/** A semaphore whose waiting calls are served by lowest rank first. */
export class PrioritySemaphore {
  readonly #waiting = new Set<WaitingForPermit>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Runs work as soon as a permit is free. @throws chain/aborted when the signal is aborted before that */
  async run<Value>(rank: number, work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
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

  /** Passes a permit on; equal ranks are served in order of arrival. */
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

/** A limit of held bytes, with waiting for room. */
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

  release(bytes: number): void {
    this.#held -= bytes;
    this.wake();
  }

  /**
   * Resolves when less than the limit is held.
   * @param isExempt whether there is no need to wait; checked again with each {@link ByteBudget.wake}
   * @throws chain/aborted
   */
  async waitForRoom(isExempt: () => boolean, signal: AbortSignal): Promise<void> {
    while (this.#held >= this.#limit && !isExempt()) {
      if (signal.aborted) throw chainErrors.aborted({});
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Lets all waiting calls check again. Must also be called when a signal is aborted. */
  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const look of waiting) look();
  }
}

/** Assumed size of a bundle before one is fetched. */
const FIRST_GUESS_BYTES = 128 * 1024;

/** Assumed duration of a file query before one is answered. */
const FIRST_GUESS_MS = 50;

/** Weight of a new sample in the moving averages. */
const ANSWER_SHARE = 1 / 16;
const BUNDLES_SHARE = 1 / 2;

/** Moving averages of bundle size and of query duration. */
export class FetchRates {
  #bundleBytes = FIRST_GUESS_BYTES;
  #answerMs = FIRST_GUESS_MS;

  get bundleBytes(): number {
    return this.#bundleBytes;
  }

  /** Without the time waiting for a permit. */
  get answerMs(): number {
    return this.#answerMs;
  }

  answered(ms: number): void {
    this.#answerMs += (ms - this.#answerMs) * ANSWER_SHARE;
  }

  /** Records fetched bundles. */
  fetched(count: number, bytes: number): void {
    this.#bundleBytes += (bytes / count - this.#bundleBytes) * BUNDLES_SHARE;
  }
}
