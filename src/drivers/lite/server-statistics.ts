import { RoundTrips } from '#drivers/lite/round-trips.js';
import type { Clock } from '#kernel/clock/clock.js';

/** Least weight of the newest measurement in a mean. */
const LATENCY_WEIGHT = 0.2;
const SUCCESS_WEIGHT = 0.1;
/** What was measured so long ago has lost 63 % of its weight, however few measurements came since. */
const MEMORY_MS = 5_000;
/** From so many measurements of a function on, its own quantiles are used. */
const ENOUGH = 16;
/** More functions than there are would be a fault elsewhere. */
const MAX_FUNCTIONS = 64;
/** Servers choose the codes of their errors: those beyond so many are counted together. */
const MAX_CODES = 32;
const OTHER_CODES = 'other';

/** What is known of how a server answers. */
export class ServerStatistics {
  requests = 0;
  answers = 0;
  hedges = 0;
  /** By code of `liteServer.error`, or by name of what happened. */
  readonly errors = new Map<string, number>();
  readonly #all = new RoundTrips();
  readonly #byFunction = new Map<string, RoundTrips>();
  readonly #clock: Clock;
  #lastLatency = 0;
  #lastOutcome = 0;
  #meanMs: number | null = null;
  #success = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Exponentially weighted mean of round trips, slow ones that were not waited for included; null before the first. */
  get meanMs(): number | null {
    return this.#meanMs;
  }

  /** Exponentially weighted share of queries that were answered. */
  get success(): number {
    return this.#success;
  }

  get p50(): number | null {
    return this.#all.quantile(0.5);
  }

  get p95(): number | null {
    return this.#all.quantile(0.95);
  }

  /** After how long 95 % of the answers of this function are there; null when too few are known. */
  p95Of(name: string): number | null {
    const own = this.#byFunction.get(name);
    if (own !== undefined && own.weight >= ENOUGH) return own.quantile(0.95);
    return this.#all.weight >= ENOUGH ? this.p95 : null;
  }

  answered(name: string, ms: number): void {
    this.answers++;
    this.#outcome(1);
    this.#mean(ms);
    this.#all.add(ms);
    let own = this.#byFunction.get(name);
    if (own === undefined && this.#byFunction.size < MAX_FUNCTIONS) {
      own = new RoundTrips();
      this.#byFunction.set(name, own);
    }
    own?.add(ms);
  }

  /** An answer was not waited for any longer: it would have taken at least so long. */
  tookLonger(ms: number): void {
    if (this.#meanMs === null || ms > this.#meanMs) this.#mean(ms);
  }

  failed(error: string): void {
    this.#outcome(0);
    this.counted(error);
  }

  /** Something that says nothing against the server. */
  counted(error: string): void {
    const key = this.errors.has(error) || this.errors.size < MAX_CODES ? error : OTHER_CODES;
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  }

  #mean(ms: number): void {
    const now = this.#clock.now();
    const weight = weightAfter(now - this.#lastLatency, LATENCY_WEIGHT);
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + weight * (ms - this.#meanMs);
    this.#lastLatency = now;
  }

  #outcome(success: 0 | 1): void {
    const now = this.#clock.now();
    this.#success += weightAfter(now - this.#lastOutcome, SUCCESS_WEIGHT) * (success - this.#success);
    this.#lastOutcome = now;
  }
}

function weightAfter(elapsedMs: number, least: number): number {
  return Math.max(least, 1 - Math.exp(-elapsedMs / MEMORY_MS));
}
