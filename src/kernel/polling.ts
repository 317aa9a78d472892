import { type Clock, pause } from '#kernel/clock.js';

/** Does something again and again, from its start until it is closed. */
export class Polling {
  readonly #once: (signal: AbortSignal) => Promise<number>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** @param once resolves to the milliseconds until the next time; it must not reject */
  constructor(once: (signal: AbortSignal) => Promise<number>, clock: Clock) {
    this.#once = once;
    this.#clock = clock;
  }

  /** @param afterMs until the first time */
  start(afterMs = 0): void {
    this.#running = this.#run(afterMs);
  }

  /** Does not wait for the next time. */
  wake(): void {
    this.#pause.abort();
  }

  /** Aborts the signal, and waits for what is under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#running;
  }

  async #run(afterMs: number): Promise<void> {
    const { signal } = this.#stop;
    if (afterMs > 0) await pause(afterMs, this.#clock, this.#pause.signal);
    while (!signal.aborted) {
      this.#pause = new AbortController();
      const delayMs = await this.#once(signal);
      if (!signal.aborted) await pause(delayMs, this.#clock, this.#pause.signal);
    }
  }
}
