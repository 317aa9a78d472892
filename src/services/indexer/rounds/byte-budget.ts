import { chainErrors } from '#services/chain/errors.js';

/** Bytes that are held, and who waits for some to be given back. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  take(bytes: number): void {
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
    this.wake();
  }

  /**
   * Waits until less than the limit is held.
   * @param isExempt whether there is no need to wait; looked at again with each {@link ByteBudget.wake}
   * @throws chain/aborted
   */
  async room(isExempt: () => boolean, signal: AbortSignal): Promise<void> {
    while (this.#held >= this.#limit && !isExempt()) {
      if (signal.aborted) throw chainErrors.aborted({});
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Lets all who wait look again. To be called when a signal is given, too. */
  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const look of waiting) look();
  }
}
