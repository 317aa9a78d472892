import type { CancelSchedule, Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import { dayOf } from '#services/access/daily-quota.js';
import { addUsage, type UsageByKey, type UsageCounts, type UsageStore } from '#services/access/usage.js';

const DAY_MS = 86_400_000;

export interface UsageRecorderOptions {
  /** How often counts go to the store; a crash loses at most what was counted in this time. */
  readonly flushMs: number;
  /** Days that are kept. */
  readonly keepDays: number;
}

export interface UsageRecorderModules {
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  /** Told the usage of a day, by all processes, whenever it has been read or added to; what is not stored yet included. */
  readonly onUsage: (day: string, usage: UsageByKey) => void;
}

interface Counting {
  allowed: number;
  limited: number;
  last_used: number;
}

/** Counts what keys use, and hands it to a store every few seconds and at the end. */
export class UsageRecorder {
  readonly #options: UsageRecorderOptions;
  readonly #modules: UsageRecorderModules;
  /** Day, key, network. */
  #counting = new Map<string, Map<string, Map<string, Counting>>>();
  /** The last day that something was counted in; writing it out each time would take longer than counting. */
  #day = '';
  #dayNumber = -1;
  #flushing: Promise<void> = Promise.resolve();
  #cancel: CancelSchedule = () => {};
  #closed = false;
  #forgottenBefore = '';
  #isFailing = false;
  /** Flushes that failed; what they held was kept for the next one. */
  failures = 0;

  constructor(options: UsageRecorderOptions, modules: UsageRecorderModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /** Reads the usage of today, and begins to flush. */
  async start(): Promise<void> {
    const day = dayOf(this.#modules.unixTimeMs());
    this.#modules.onUsage(day, await this.#modules.store.read(day));
    this.#schedule();
  }

  count(key: string, network: string, what: 'allowed' | 'limited'): void {
    const now = this.#modules.unixTimeMs();
    const dayNumber = Math.floor(now / DAY_MS);
    if (dayNumber !== this.#dayNumber) {
      this.#dayNumber = dayNumber;
      this.#day = dayOf(now);
    }
    const keys = member(this.#counting, this.#day, () => new Map<string, Map<string, Counting>>());
    const networks = member(keys, key, () => new Map<string, Counting>());
    const counting = member(networks, network, () => ({ allowed: 0, limited: 0, last_used: 0 }));
    counting[what]++;
    if (what === 'allowed') counting.last_used = now;
  }

  /** Hands over what was counted until now; resolves when it is stored or has failed. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushAll());
    return this.#flushing;
  }

  /** Flushes a last time. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.flush();
  }

  #schedule(): void {
    this.#cancel = this.#modules.clock.schedule(this.#options.flushMs, () => {
      void this.flush().then(() => {
        if (!this.#closed) this.#schedule();
      });
    });
  }

  async #flushAll(): Promise<void> {
    for (const day of [...this.#counting.keys()]) {
      const counted = this.#counting.get(day)!;
      this.#counting.delete(day);
      try {
        const stored = await this.#modules.store.add(day, usageOf(counted));
        const since = this.#counting.get(day);
        this.#modules.onUsage(day, since === undefined ? stored : addUsage(stored, usageOf(since)));
        this.#recovered();
      } catch (error) {
        this.#keep(day, counted);
        this.#failed(error);
      }
    }
    await this.#forgetOldDays();
  }

  /** Puts back what could not be stored. */
  #keep(day: string, counted: ReadonlyMap<string, ReadonlyMap<string, Counting>>): void {
    const keys = member(this.#counting, day, () => new Map<string, Map<string, Counting>>());
    for (const [key, networks] of counted) {
      const all = member(keys, key, () => new Map<string, Counting>());
      for (const [network, { allowed, limited, last_used }] of networks) {
        const counting = member(all, network, () => ({ allowed: 0, limited: 0, last_used: 0 }));
        counting.allowed += allowed;
        counting.limited += limited;
        counting.last_used = Math.max(counting.last_used, last_used);
      }
    }
  }

  async #forgetOldDays(): Promise<void> {
    const oldest = dayOf(this.#modules.unixTimeMs() - this.#options.keepDays * DAY_MS);
    if (oldest === this.#forgottenBefore) return;
    this.#forgottenBefore = oldest;
    await this.#modules.store.forgetBefore(oldest).catch((error) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.failures++;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#modules.logger.warn('the usage of keys cannot be stored; it is kept in memory and tried again', {
      problem: (error as Error).message,
    });
  }

  #recovered(): void {
    if (this.#isFailing) this.#modules.logger.info('the usage of keys is stored again');
    this.#isFailing = false;
  }
}

function member<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

function usageOf(counted: ReadonlyMap<string, ReadonlyMap<string, Counting>>): UsageByKey {
  return new Map([...counted].map(([key, networks]) => [key, new Map([...networks].map(countsOf))]));
}

function countsOf([network, { allowed, limited, last_used }]: [string, Counting]): [string, UsageCounts] {
  return [network, { allowed, limited, last_used: last_used === 0 ? null : new Date(last_used).toISOString() }];
}
