import type { Clock } from '#kernel/clock.js';

/** Delays of which quantiles are computed: the newest ones. */
const KEPT_DELAYS = 1000;
/** Batches whose delay is measured at the same time; more come only while a thread is far behind. */
const MAX_MEASURED = 1000;

/** Delays of followed batches, in seconds; null before the first. */
export interface DelayMetrics {
  readonly newest: number | null;
  /** Of the newest 1,000. */
  readonly median: number | null;
  readonly p99: number | null;
}

/**
 * The wakes of a background thread that works off what batches leave to it: who waits until it has done so, and how long after a
 * followed batch that was.
 */
export class WakeCounter {
  readonly #clock: Clock;
  readonly #waiting = new Set<{ readonly wake: number; readonly resolve: () => void }>();
  readonly #delays: number[] = [];
  #written = 0;
  #number = 0;
  /** Followed batches that are not done, by the wake that each caused. */
  #measured: { readonly wake: number; readonly at: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of the last wake. */
  get number(): number {
    return this.#number;
  }

  get delays(): DelayMetrics {
    const sorted = [...this.#delays].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
    const newest = this.#delays[(this.#written - 1) % KEPT_DELAYS] ?? null;
    return { newest, median: at(0.5), p99: at(0.99) };
  }

  /** @returns the number of a new wake */
  next(): number {
    this.#number++;
    return this.#number;
  }

  /** As {@link next}, after a batch was written; of a followed one the delay is measured. */
  nextOfBatch(mode: 'follow' | 'fill'): number {
    const wake = this.next();
    if (mode === 'follow' && this.#measured.length < MAX_MEASURED) {
      this.#measured.push({ wake, at: this.#clock.now() });
    }
    return wake;
  }

  /** The thread was lost: what it had left is measured from now on. */
  restartDelays(): void {
    const at = this.#clock.now();
    this.#measured = this.#measured.map(({ wake }) => ({ wake, at }));
  }

  /** The work of all batches up to this wake is done. */
  measure(wake: number): void {
    const now = this.#clock.now();
    for (const batch of this.#measured) {
      if (batch.wake > wake) continue;
      this.#delays[this.#written % KEPT_DELAYS] = (now - batch.at) / 1000;
      this.#written++;
    }
    this.#measured = this.#measured.filter((batch) => batch.wake > wake);
  }

  /** Resolves when {@link resolve} is called for the current wake, or the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const waiting = { wake: this.#number, resolve: end };
      this.#waiting.add(waiting);
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Ends the waits for wakes up to this one. */
  resolve(wake: number): void {
    for (const waiting of [...this.#waiting]) if (waiting.wake <= wake) waiting.resolve();
  }
}

/** Sums by two words: the counts of a thread come with keys of both, `jetton_wallet not-verified`. */
export class CountsByTwo {
  readonly counts: Record<string, Record<string, number>> = {};

  add(sums: Readonly<Record<string, number>>): void {
    for (const [key, count] of Object.entries(sums)) {
      const [first, second] = key.split(' ') as [string, string];
      const inner = this.counts[first] ?? {};
      inner[second] = (inner[second] ?? 0) + count;
      this.counts[first] = inner;
    }
  }
}
