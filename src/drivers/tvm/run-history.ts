import { LeakyBucket } from '#drivers/tvm/leaky-bucket.js';
import type { Clock } from '#kernel/clock.js';

/**
 * Where a run waits and runs. `known`: runs of its method were short. `fresh`: nothing is known. `slow`: runs of it, or what
 * the client requested before, took long.
 */
export type Lane = 'known' | 'fresh' | 'slow';

/** What is run, and for whom. */
export interface RunSubject {
  /** Code and method. */
  readonly method: string;
  /** Code, data, method and arguments: the same ones give the same result. Computed when it is needed. */
  readonly exact: () => string;
  readonly client: string;
}

/** A run that was ended by a limit. */
export interface RanOut<Result> {
  readonly limit: 'gas' | 'time';
  /** The result; null without one. */
  readonly result: Result | null;
  /** CPU time of that run, in milliseconds. */
  readonly cpuMs: number;
  /** Time of the clock. */
  readonly at: number;
}

/** How a run ended. */
export interface RunEnd<Result> {
  readonly cpuMs: number;
  readonly isSlow: boolean;
  /** Whether it was reported by {@link RunHistory.demoted} before. */
  readonly isNoted: boolean;
  /** The limit that ended it; null: it ended by itself. */
  readonly limit: RanOut<Result>['limit'] | null;
  /** To be recalled; null without one. */
  readonly result: Result | null;
}

/** A run that need not be repeated. */
export interface Recalled<Result> {
  readonly ranOut: RanOut<Result>;
  /** The same code, data, method and arguments; otherwise only code and method. */
  readonly isExact: boolean;
  /** Milliseconds until it is forgotten. */
  readonly forgottenInMs: number;
}

export interface RunHistorySettings {
  /** How long runs are remembered. */
  readonly rememberMs: number;
  /** As in the options of the pool. */
  readonly endedCpuMs: number;
}

interface MethodRecord {
  quick: number;
  slow: number;
  /** Runs that no limit ended. */
  ended: number;
  /** By exact subject: runs that a limit ended, at most {@link SEVERAL}. */
  readonly ranOut: Set<string>;
}

/** So many different accounts or arguments speak for the code itself. */
const SEVERAL = 3;
/** So many slow runs of a client make its next ones wait in the slow lane, unless their methods are known. */
const SLOW_RUNS_OF_CLIENT = 2;
/** How long a client is remembered after a slow run. */
const CLIENT_MS = 60_000;
/** In this time a client has paid off all of `endedCpuMs`. */
const ENDED_CPU_MS = 60_000;
/** Quick runs that outweigh one slow run of the same method. */
const QUICK_PER_SLOW = 10;

const MAX_METHODS = 16_384;
const MAX_SUBJECTS = 8_192;
const MAX_CLIENTS = 8_192;

/** What is known from earlier runs: which methods are quick, and which runs did not end within their limits. Bounded. */
export class RunHistory<Result> {
  readonly #settings: RunHistorySettings;
  readonly #methods: ExpiringLru<MethodRecord>;
  readonly #ranOut: ExpiringLru<RanOut<Result>>;
  readonly #slow: ExpiringLru<true>;
  /** Slow runs by client. */
  readonly #clients: ExpiringLru<number>;
  /** CPU milliseconds of runs that did not end by themselves, by client. */
  readonly #spent: ExpiringLru<LeakyBucket>;
  readonly #clock: Clock;

  constructor(settings: RunHistorySettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const { rememberMs } = settings;
    this.#methods = new ExpiringLru(MAX_METHODS, rememberMs, clock);
    this.#ranOut = new ExpiringLru(MAX_SUBJECTS, rememberMs, clock);
    this.#slow = new ExpiringLru(MAX_SUBJECTS, rememberMs, clock);
    this.#clients = new ExpiringLru(MAX_CLIENTS, CLIENT_MS, clock);
    this.#spent = new ExpiringLru(MAX_CLIENTS, 2 * ENDED_CPU_MS, clock);
  }

  /**
   * What need not be run again: what a limit ended before, with the same data and arguments; and for a client that requested
   * several slow runs, also with others, if runs of this code were ended for several of them and for none otherwise. So no
   * client can make a method unavailable to others.
   */
  recall({ method, exact, client }: RunSubject): Recalled<Result> | null {
    const record = this.#methods.get(method);
    if (record === undefined || record.ranOut.size === 0) return null;
    const same = this.#ranOut.get(exact());
    if (same !== undefined) return this.#recalled(same, true);
    if (record.ended > 0 || record.ranOut.size < SEVERAL || !this.#isSlow(client)) return null;
    for (const subject of record.ranOut) {
      const similar = this.#ranOut.get(subject);
      if (similar !== undefined) return this.#recalled(similar, false);
    }
    return null;
  }

  laneOf({ method, exact, client }: RunSubject): Lane {
    const { quick = 0, slow = 0 } = this.#methods.get(method) ?? {};
    if (slow >= SEVERAL && slow * QUICK_PER_SLOW > quick) return 'slow';
    if (slow > 0 && this.#slow.get(exact()) === true) return 'slow';
    if ((slow > 0 || quick === 0) && this.#isSlow(client)) return 'slow';
    return quick > 0 ? 'known' : 'fresh';
  }

  /**
   * Milliseconds for which a run has to be refused, because runs of the client were ended by limits, or left by it, after too much
   * CPU time; 0: it may be run. Methods that are known to be quick are not concerned, nor are runs that no client asked for.
   */
  refusedForMs(subject: RunSubject): number {
    const { endedCpuMs } = this.#settings;
    const spent = endedCpuMs === 0 ? undefined : this.#spent.get(subject.client);
    if (spent === undefined || spent.level < endedCpuMs || this.laneOf(subject) === 'known') return 0;
    return spent.untilMs(endedCpuMs);
  }

  /** Records at once that a client requested a slow run: what it requests until the run ends may be slow as well. */
  demoted(client: string): void {
    this.#clients.set(client, (this.#clients.get(client) ?? 0) + 1);
  }

  /** Records the time of a slow run that its client did not wait for. */
  left(client: string, { cpuMs, isNoted }: Pick<RunEnd<Result>, 'cpuMs' | 'isNoted'>): void {
    if (!isNoted) this.demoted(client);
    if (client === '') return;
    const { endedCpuMs } = this.#settings;
    const spent = this.#spent.get(client) ?? new LeakyBucket((endedCpuMs * 1000) / ENDED_CPU_MS, this.#clock);
    spent.add(cpuMs);
    this.#spent.set(client, spent);
  }

  /** Records the end of a run. */
  ended({ method, exact, client }: RunSubject, { cpuMs, isSlow, isNoted, limit, result }: RunEnd<Result>): void {
    let record = this.#methods.get(method);
    if (record === undefined) {
      record = { quick: 0, slow: 0, ended: 0, ranOut: new Set() };
      this.#methods.set(method, record);
    }
    if (limit === null) record.ended++;
    if (!isSlow) {
      record.quick++;
      return;
    }
    const subject = exact();
    record.slow++;
    this.#slow.set(subject, true);
    if (limit !== null) this.left(client, { cpuMs, isNoted });
    else if (!isNoted) this.demoted(client);
    if (limit === null) return;
    this.#ranOut.set(subject, { limit, result, cpuMs, at: this.#clock.now() });
    if (record.ranOut.size < SEVERAL) record.ranOut.add(subject);
  }

  #isSlow(client: string): boolean {
    return (this.#clients.get(client) ?? 0) >= SLOW_RUNS_OF_CLIENT;
  }

  #recalled(ranOut: RanOut<Result>, isExact: boolean): Recalled<Result> {
    const forgottenInMs = Math.max(0, ranOut.at + this.#settings.rememberMs - this.#clock.now());
    return { ranOut, isExact, forgottenInMs };
  }
}

/** A bounded map whose entries are forgotten some time after they were set; when it is full, the least recently used one. */
class ExpiringLru<Value> {
  readonly #most: number;
  readonly #keepMs: number;
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();

  constructor(most: number, keepMs: number, clock: Clock) {
    this.#most = most;
    this.#keepMs = keepMs;
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.until <= this.#clock.now()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#most) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until: this.#clock.now() + this.#keepMs });
  }
}
