import { setMaxListeners } from 'node:events';

/** A signal that many may listen to: given when another one is, or by its owner. */
export class StopSignal {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => this.stop();

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    // What is read at the same time is limited elsewhere: many listeners are no leak.
    setMaxListeners(0, this.signal);
    if (outer?.aborted === true) this.#controller.abort();
    else outer?.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Gives it, and listens to the other one no more. */
  stop(): void {
    this.#outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }
}
