/** An execution is slow when it takes so many times as long as the quickest ones, and so many milliseconds longer. */
const SLOW_FACTOR = 1.5;
const SLOW_MS = 100;
/** By so much what counts as quick grows with each execution, so that a server that becomes slower for good is not held back. */
const QUICK_GROWTH = 1.01;

/**
 * How many executions a server gets at a time. One that has more than it can execute answers each of them later, and who comes
 * last waits for all before: so the limit is halved when executions become slow, and grows by one while that many in a row are not.
 */
export class ExecutionLimit {
  readonly #most: number;
  #limit: number;
  /** Milliseconds that the quickest of the last executions took. */
  #quickMs = Number.POSITIVE_INFINITY;
  #halvedAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  get now(): number {
    return Math.floor(this.#limit);
  }

  /** An execution took from `since` to `now`. */
  took(since: number, now: number): void {
    const ms = now - since;
    this.#quickMs = Math.min(ms, this.#quickMs * QUICK_GROWTH);
    if (ms <= this.#quickMs * SLOW_FACTOR + SLOW_MS) {
      this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
    } else if (since >= this.#halvedAt) {
      // Those that were sent before the limit was halved say nothing about the new one.
      this.#limit = Math.max(1, this.#limit / 2);
      this.#halvedAt = now;
    }
  }
}

/** Reads that are looked at together: of reads of all sizes, the quickest tells whether they wait in the server. */
const WINDOW = 16;
/** Reads that a server always gets at a time; how long they take then is what it needs. */
const LEAST = 4;
const GROWTH = 4;
/** The quickest of a window has waited when it takes so many times as long as with few reads, and so many milliseconds longer. */
const WAITED_FACTOR = 2;
const WAITED_MS = 50;

/**
 * How many reads a server gets at a time. What it cannot work on at once waits there, first come first served, whoever it is for;
 * here, clients take turns. So the limit is halved while even the quickest reads wait, and grows while they do not.
 */
export class ReadLimit {
  readonly #most: number;
  readonly #least: number;
  #limit: number;
  /** Milliseconds that the quickest of a window took when few were sent. */
  #quickMs = Number.POSITIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #bestMs = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#least = Math.min(most, LEAST);
    this.#limit = most;
  }

  get now(): number {
    return this.#limit;
  }

  /** A read took from `since` to `now`. */
  took(since: number, now: number): void {
    // Those that were sent before the limit was halved have waited for the others then.
    if (since < this.#changedAt) return;
    this.#bestMs = Math.min(this.#bestMs, now - since);
    if (++this.#count < WINDOW) return;
    const best = this.#bestMs;
    this.#count = 0;
    this.#bestMs = Number.POSITIVE_INFINITY;
    if (best < this.#quickMs || this.#limit === this.#least) this.#quickMs = best;
    if (best <= this.#quickMs * WAITED_FACTOR + WAITED_MS) {
      this.#limit = Math.min(this.#most, this.#limit + GROWTH);
    } else {
      this.#limit = Math.max(this.#least, Math.floor(this.#limit / 2));
      this.#changedAt = now;
    }
  }
}
