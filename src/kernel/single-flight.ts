import type { Clock } from '#kernel/clock.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';
import { OpenEntries } from '#kernel/open-entries.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

/** Shared work that several callers may await. */
export interface Flight {
  /** Aborted when no caller is waiting any more. */
  readonly signal: AbortSignal;
  /** Latest deadline of the waiting callers, in clock time. */
  readonly until: number;
}

class SharedFlight<Value> implements Flight {
  readonly controller = sharedAbortController();
  readonly signal = this.controller.signal;
  until = 0;
  waiting = 0;
  result: Promise<Value> | null = null;
}

/** Coalesces concurrent work with the same key. A caller that gives up does not affect the others. */
export class SingleFlight<Value> {
  readonly #clock: Clock;
  readonly #flights = new OpenEntries<string, SharedFlight<Value>>();
  #joined = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of keys in flight. */
  get size(): number {
    return this.#flights.size;
  }

  /** Number of calls that joined work already in flight. */
  get joined(): number {
    return this.#joined;
  }

  /**
   * Returns the result of the work for this key, starting it unless it is already in flight.
   *
   * @param start must reject rather than throw
   * @returns the result; rejects as the work does, or with the errors of `deadline`
   */
  async do(key: string, start: (flight: Flight) => Promise<Value>, deadline: Deadline): Promise<Value> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = new SharedFlight<Value>();
      flight.until = deadline.until;
      this.#flights.set(key, flight);
      const started = flight;
      flight.result = start(flight).finally(() => this.#remove(key, started));
    } else {
      this.#joined++;
      flight.until = Math.max(flight.until, deadline.until);
    }
    flight.waiting++;
    try {
      return await withDeadline(flight.result as Promise<Value>, deadline, this.#clock);
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
