import type { CancelSchedule, Clock } from '#kernel/clock.js';

interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  readonly #scheduled = new Set<Scheduled>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): CancelSchedule {
    const entry = { at: this.#now + Math.max(0, delayMs), order: this.#order++, run };
    this.#scheduled.add(entry);
    return () => this.#scheduled.delete(entry);
  }

  /** How many calls are still to come: 0 when everything has been cleared up. */
  get pending(): number {
    return this.#scheduled.size;
  }

  /** When the next call is due; null when none is to come. */
  get next(): number | null {
    return this.#firstUntil(Number.POSITIVE_INFINITY)?.at ?? null;
  }

  /** Moves on by `ms`; what falls due is called in its order, each at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#firstUntil(end); next !== null; next = this.#firstUntil(end)) {
      this.#scheduled.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }

  #firstUntil(end: number): Scheduled | null {
    let first: Scheduled | null = null;
    for (const each of this.#scheduled) {
      if (each.at > end) continue;
      if (first === null || each.at < first.at || (each.at === first.at && each.order < first.order)) first = each;
    }
    return first;
  }
}
