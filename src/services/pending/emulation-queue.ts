/** Runs work in the order in which it comes, some of it at once. */
export class EmulationQueue {
  readonly #atOnce: number;
  readonly #most: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  /** @param most that wait; the oldest is left out then: what is newest is worth most */
  constructor(atOnce: number, most: number) {
    this.#atOnce = atOnce;
    this.#most = most;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** @param work must not reject */
  add(work: () => Promise<void>): void {
    if (this.#isClosed) return;
    this.#waiting.push(work);
    if (this.#waiting.length > this.#most) this.#waiting.shift();
    this.#next();
  }

  /** Begins nothing more, and waits for what runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await Promise.all(this.#running);
  }

  #next(): void {
    while (this.#running.size < this.#atOnce) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      const run = work().finally(() => {
        this.#running.delete(run);
        this.#next();
      });
      this.#running.add(run);
    }
  }
}
