/** Wakes those that wait for the next change. */
export class WakeSignal {
  #resolve: () => void = () => {};
  #next = this.#begin();

  /** Resolves with the next {@link wake}. Take it before looking whether there is something to do, then nothing is missed. */
  get next(): Promise<void> {
    return this.#next;
  }

  /** Wakes all that wait now. */
  wake(): void {
    const resolve = this.#resolve;
    this.#next = this.#begin();
    resolve();
  }

  #begin(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}
