import type { Clock } from '#kernel/clock.js';

/** An amount that drains at a constant rate. */
export class LeakyBucket {
  readonly #perMs: number;
  readonly #clock: Clock;
  #amount = 0;
  #at = 0;

  constructor(perSecond: number, clock: Clock) {
    this.#perMs = perSecond / 1000;
    this.#clock = clock;
  }

  get level(): number {
    return Math.max(0, this.#amount - (this.#clock.now() - this.#at) * this.#perMs);
  }

  add(amount: number): void {
    this.#amount = this.level + amount;
    this.#at = this.#clock.now();
  }

  /** Milliseconds until the level is at most this. */
  untilMs(level: number): number {
    return Math.max(0, (this.level - level) / this.#perMs);
  }
}
