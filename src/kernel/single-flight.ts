import type { Clock } from '#kernel/clock.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';

/** Work that several may wait for. */
export interface Flight {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Until when the most patient of those who wait does so: a moment of the clock. */
  readonly until: number;
}

class SharedFlight<Value> implements Flight {
  readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  until = 0;
  waiting = 0;
  result: Promise<Value> | null = null;
}

/** Does equal work once, for all who want it at the same time. Who gives up does not disturb the others. */
export class SingleFlight<Value> {
  readonly #clock: Clock;
  readonly #flights = new Map<string, SharedFlight<Value>>();
  #joined = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many pieces of work are under way. */
  get size(): number {
    return this.#flights.size;
  }

  /** How often somebody was spared work because it was under way already. */
  get joined(): number {
    return this.#joined;
  }

  /**
   * The result of the work with this key, which is begun unless it is under way.
   *
   * @param start must not throw, but reject
   * @returns what the work gives; rejects as the work does, or as `patience` says when it ends before
   */
  async do(key: string, start: (flight: Flight) => Promise<Value>, patience: Deadline): Promise<Value> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = new SharedFlight<Value>();
      flight.until = patience.until;
      this.#flights.set(key, flight);
      const begun = flight;
      flight.result = start(flight).finally(() => this.#remove(key, begun));
    } else {
      this.#joined++;
      flight.until = Math.max(flight.until, patience.until);
    }
    flight.waiting++;
    try {
      return await withDeadline(flight.result as Promise<Value>, patience, this.#clock);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0 && this.#flights.get(key) === flight) {
        this.#remove(key, flight);
        flight.controller.abort();
      }
    }
  }

  #remove(key: string, flight: SharedFlight<Value>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
