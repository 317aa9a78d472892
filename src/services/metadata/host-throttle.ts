/** How much is asked of one host. */
export interface HostLimits {
  /** At the same time. */
  readonly atOnce: number;
  /** It is left alone after so many failures one after the other. */
  readonly failures: number;
  /** At first, and doubled with each further failure up to the last. Milliseconds. */
  readonly restMs: number;
  readonly longestRestMs: number;
}

export const HOST_LIMITS: HostLimits = { atOnce: 4, failures: 5, restMs: 60_000, longestRestMs: 3_600_000 };

interface HostState {
  running: number;
  /** Failures since it last answered. */
  failures: number;
  /** It is not asked before. */
  restsUntil: number;
  /** When the next turn is that nobody has been told of yet. */
  nextTurn: number;
  /** How long it takes to answer, smoothed. */
  tookMs: number;
}

const MOST_HOSTS = 20_000;
const FIRST_GUESS_MS = 500;
const LEAST_MS = 50;

/** Gives out turns at hosts: a few at once, in a row for those who come later, and none for a while to a host that fails. */
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

  /** Hosts that are left alone at this moment. */
  get resting(): number {
    const now = this.#now();
    let count = 0;
    for (const { restsUntil } of this.#hosts.values()) if (restsUntil > now) count++;
    return count;
  }

  /** Takes a turn: 0, and {@link done} has to be called; else in how many milliseconds to come again. */
  take(host: string): number {
    const state = this.#state(host);
    const now = this.#now();
    if (state.restsUntil > now) return state.restsUntil - now;
    if (state.running < this.#limits.atOnce) {
      state.running++;
      return 0;
    }
    // Whoever is told to come later finds it free then, even if there are very many.
    state.nextTurn = Math.max(state.nextTurn, now) + Math.max(state.tookMs, LEAST_MS) / this.#limits.atOnce;
    return Math.max(1, state.nextTurn - now);
  }

  /** @param answers whether the host answers at all */
  done(host: string, tookMs: number, answers: boolean): void {
    const state = this.#state(host);
    state.running = Math.max(0, state.running - 1);
    state.tookMs = (3 * state.tookMs + tookMs) / 4;
    state.failures = answers ? 0 : state.failures + 1;
    const { failures, restMs, longestRestMs } = this.#limits;
    if (state.failures < failures) return;
    const rest = Math.min(restMs * 2 ** Math.min(state.failures - failures, 20), longestRestMs);
    state.restsUntil = this.#now() + rest;
  }

  /** Gives a turn back that was not used. */
  release(host: string): void {
    const state = this.#state(host);
    state.running = Math.max(0, state.running - 1);
  }

  #state(host: string): HostState {
    const known = this.#hosts.get(host);
    const state = known ?? { running: 0, failures: 0, restsUntil: 0, nextTurn: 0, tookMs: FIRST_GUESS_MS };
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
