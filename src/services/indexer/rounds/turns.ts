import { chainErrors } from '#services/chain/errors.js';

interface Waiting {
  readonly rank: number;
  readonly grant: () => void;
}

/** A number of permits; of those who wait, the one with the lowest rank is next. */
export class Turns {
  readonly #waiting = new Set<Waiting>();
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
      const waiting: Waiting = {
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
    let next: Waiting | null = null;
    for (const waiting of this.#waiting) if (next === null || waiting.rank < next.rank) next = waiting;
    if (next === null) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.grant();
  }
}
