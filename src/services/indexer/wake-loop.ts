import { type Clock, pause } from '#kernel/clock.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

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

export interface WakeLoopModules {
  readonly clock: Clock;
  /** How often it is looked for what becomes due by time, or was added by another process, in milliseconds. */
  readonly pollMs: number;
  /** A problem that blocks all work; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

const RETRY_MS = 1000;

/**
 * The loop of a thread that works off what is stored: steps while anything is due, then a pause until it is woken, its pace changes, or
 * it is time to look.
 */
export abstract class WakeLoop<Pace> {
  protected pace: Pace;
  readonly #modules: WakeLoopModules;
  readonly #stop = sharedAbortController();
  #pause = sharedAbortController();
  #wake = 0;

  protected constructor(pace: Pace, modules: WakeLoopModules) {
    this.pace = pace;
    this.#modules = modules;
  }

  setPace(pace: Pace): void {
    this.pace = pace;
    this.#pause.abort();
  }

  /** @param number of the wake; they grow */
  wake(number: number): void {
    this.#wake = Math.max(this.#wake, number);
    this.#pause.abort();
  }

  stop(): void {
    this.#stop.abort();
    this.#pause.abort();
  }

  /** Resolves when stopped. Never rejects. */
  async run(): Promise<void> {
    const { clock, onTrouble } = this.#modules;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#round();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        onTrouble(error);
        await pause(RETRY_MS, clock, this.#stop.signal);
      }
    }
  }

  /** Does a part of what is due. @returns whether more may be due */
  protected abstract step(): Promise<boolean>;

  /** Nothing is due. @param wake the last one before this was found out */
  protected abstract idle(wake: number): Promise<void>;

  /** Leaves the processor to others. */
  protected rest(ms: number): Promise<void> {
    return pause(ms, this.#modules.clock, this.#stop.signal);
  }

  async #round(): Promise<void> {
    // A wake that aborted the previous pause is covered by this round.
    this.#pause = sharedAbortController();
    const wake = this.#wake;
    if (await this.step()) return;
    await this.idle(wake);
    if (this.#wake === wake) await pause(this.#modules.pollMs, this.#modules.clock, this.#pause.signal);
  }
}
