import { type Clock, pause } from '#kernel/clock.js';

/** Does something again and again, from its start until it is closed. */
export class Polling {
  readonly #once: (signal: AbortSignal) => Promise<number>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** @param once resolves to the milliseconds until the next time; it must not reject */
  constructor(once: (signal: AbortSignal) => Promise<number>, clock: Clock) {
    this.#once = once;
    this.#clock = clock;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Aborts the signal, and waits for what is under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) await pause(await this.#once(signal), this.#clock, signal);
  }
}
