/** Gives the permit back; does nothing when called again. */
export type Release = () => void;

interface Waiting {
  readonly grant: (release: Release) => void;
  readonly refuse: (reason: unknown) => void;
  readonly detach: () => void;
}

/** A number of permits, given out in the order in which they are asked for. */
export class Semaphore {
  readonly #permits: number;
  readonly #maxWaiting: number;
  #taken = 0;
  /** A set keeps the order and lets go of any member at once. */
  readonly #waiting = new Set<Waiting>();

  /** @param maxWaiting how many may wait for a permit; more are refused */
  constructor(permits: number, maxWaiting: number = Number.POSITIVE_INFINITY) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A permit if one is free now, else null. */
  tryAcquire(): Release | null {
    if (this.#taken >= this.#permits) return null;
    this.#taken++;
    return this.#release();
  }

  /**
   * A permit when it is this one's turn; null when too many wait already.
   *
   * @param signal takes it out of the queue; the promise then rejects with the signal's reason
   */
  acquire(signal?: AbortSignal): Promise<Release> | null {
    const release = this.tryAcquire();
    if (release !== null) return Promise.resolve(release);
    if (this.#waiting.size >= this.#maxWaiting) return null;
    return new Promise((grant, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        this.#waiting.delete(entry);
        reject(signal?.reason);
      };
      const entry: Waiting = { grant, refuse: reject, detach: () => signal?.removeEventListener('abort', onAbort) };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(entry);
    });
  }

  /** Rejects for all who wait. */
  refuseWaiting(reason?: unknown): void {
    for (const { refuse, detach } of this.#waiting) {
      detach();
      refuse(reason);
    }
    this.#waiting.clear();
  }

  #release(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#taken--;
        return;
      }
      this.#waiting.delete(next);
      next.detach();
      next.grant(this.#release());
    };
  }
}
