/** Bounds of the requests to one host. */
export interface HostLimits {
  /** Requests at the same time. */
  readonly atOnce: number;
  /** The host is not used for a while after so many failures in a row. */
  readonly failures: number;
  /** How long, at first; doubled with each further failure up to `maxBackoffMs`. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

export const HOST_LIMITS: HostLimits = { atOnce: 4, failures: 5, backoffMs: 60_000, maxBackoffMs: 3_600_000 };

interface HostState {
  running: number;
  /** Failures since the last response. */
  failures: number;
  /** No request before this time. */
  backoffUntil: number;
  /** The next time that has not been given to a caller yet. */
  nextSlot: number;
  /** How long a request takes, smoothed. */
  tookMs: number;
}

const MOST_HOSTS = 20_000;
const FIRST_GUESS_MS = 500;
const LEAST_MS = 50;

/** Limits requests per host: a few at the same time, later ones in order, and a growing pause for a host that fails. */
export class HostThrottle {
  readonly #limits: HostLimits;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #hosts = new Map<string, HostState>();

  /** @param now in milliseconds */
  constructor(limits: HostLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Hosts that are not used at the moment because they failed. */
  get backingOff(): number {
    const now = this.#now();
    let count = 0;
    for (const { backoffUntil } of this.#hosts.values()) if (backoffUntil > now) count++;
    return count;
  }

  /**
   * Starts a request, if the host may be used now.
   *
   * @returns 0: it may, and {@link done} or {@link release} must be called; else the milliseconds after which to try again
   */
  take(host: string): number {
    const state = this.#state(host);
    const now = this.#now();
    if (state.backoffUntil > now) return state.backoffUntil - now;
    if (state.running < this.#limits.atOnce) {
      state.running++;
      return 0;
    }
    // Each caller gets a time of its own, so that the host is free then, however many callers there are.
    state.nextSlot = Math.max(state.nextSlot, now) + Math.max(state.tookMs, LEAST_MS) / this.#limits.atOnce;
    return Math.max(1, state.nextSlot - now);
  }

  /** Ends a request. @param responded whether the host responded at all; null: that is not known, and changes nothing */
  done(host: string, tookMs: number, responded: boolean | null): void {
    const state = this.#state(host);
    state.running = Math.max(0, state.running - 1);
    state.tookMs = (3 * state.tookMs + tookMs) / 4;
    if (responded === null) return;
    state.failures = responded ? 0 : state.failures + 1;
    const { failures, backoffMs, maxBackoffMs } = this.#limits;
    if (state.failures < failures) return;
    const pauseMs = Math.min(backoffMs * 2 ** Math.min(state.failures - failures, 20), maxBackoffMs);
    state.backoffUntil = this.#now() + pauseMs;
  }

  /** Ends a request that was not sent. */
  release(host: string): void {
    const state = this.#state(host);
    state.running = Math.max(0, state.running - 1);
  }

  #state(host: string): HostState {
    const known = this.#hosts.get(host);
    const state = known ?? { running: 0, failures: 0, backoffUntil: 0, nextSlot: 0, tookMs: FIRST_GUESS_MS };
    if (known !== undefined) this.#hosts.delete(host);
    else if (this.#hosts.size >= MOST_HOSTS) this.#forgetOne();
    this.#hosts.set(host, state);
    return state;
  }

  #forgetOne(): void {
    for (const [host, { running }] of this.#hosts) {
      if (running > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}
