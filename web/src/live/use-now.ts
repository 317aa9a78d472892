import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 5_000;

/** The time that all ages on the page are counted from: one for all of them, so that of two moments the later one is never older. */
class SharedNow {
  #now = Date.now();
  #timer = 0;
  readonly #listeners = new Set<(now: number) => void>();

  get now(): number {
    if (this.#listeners.size === 0) this.#now = Date.now();
    return this.#now;
  }

  /** Calls the listener with each tick. @returns what ends that */
  listen(listener: (now: number) => void): () => void {
    if (this.#listeners.size === 0) this.#start();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  }

  #start(): void {
    this.#tick();
    this.#timer = window.setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    this.#now = Date.now();
    for (const listener of this.#listeners) listener(this.#now);
  }
}

const shared = new SharedNow();

/**
 * Now, in milliseconds of unix time, the same for all who ask until the next tick.
 *
 * @param isAsked false: the value is not used, and causes no drawing
 */
export function useNow(isAsked: boolean): number {
  const [, setNow] = useState(shared.now);
  useEffect(() => {
    if (!isAsked) return;
    const end = shared.listen(setNow);
    setNow(shared.now);
    return end;
  }, [isAsked]);
  return shared.now;
}
