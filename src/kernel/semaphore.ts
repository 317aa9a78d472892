import { LinkedList } from '#kernel/linked-list.js';

/** Releases the permit; does nothing when called again. */
export type Release = () => void;

interface Waiting {
  readonly grant: (release: Release) => void;
  readonly refuse: (reason: unknown) => void;
  readonly detach: () => void;
}

/** A fixed number of permits, granted in first-in, first-out order. */
export class Semaphore {
  readonly #permits: number;
  readonly #maxWaiting: number;
  #taken = 0;
  readonly #waiting = new LinkedList<Waiting>();

  /** @param maxWaiting maximum number of waiting callers; further ones are refused */
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
   * A permit in first-in, first-out order; null when the queue is full.
   *
   * @param signal removes the caller from the queue; the promise then rejects with the signal's reason
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
        this.#waiting.remove(place);
        reject(signal?.reason);
      };
      const entry: Waiting = { grant, refuse: reject, detach: () => signal?.removeEventListener('abort', onAbort) };
      signal?.addEventListener('abort', onAbort, { once: true });
      const place = this.#waiting.add(entry);
    });
  }

  /** Rejects all waiting callers. */
  refuseWaiting(reason?: unknown): void {
    for (const { refuse, detach } of this.#waiting.clear()) {
      detach();
      refuse(reason);
    }
  }

  #release(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.take();
      if (next === undefined) {
        this.#taken--;
        return;
      }
      next.detach();
      next.grant(this.#release());
    };
  }
}
