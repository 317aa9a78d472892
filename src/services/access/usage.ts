import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { isSystemError, readTextFile, writeFileAtomic } from '#kernel/files.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import { ConfigField, NAME, NAME_DESCRIPTION } from '#services/access/json-field.js';
import { dayOf } from '#services/access/limits.js';
import { type LockModules, makePrivateFolder, withFileErrors, withLock } from '#services/access/locked-files.js';

/** Requests of a key on a network in a day. */
interface UsageCounts {
  readonly allowed: number;
  /** Refused because of a limit. */
  readonly limited: number;
  /** Work that was done, in work units of about 1 ms of CPU time, rounded. */
  readonly work: number;
  /** The last allowed one, as `2025-01-31T12:00:00.000Z`; `null` when none was. */
  readonly last_used: string | null;
}

/** Counts by id of the key and by network. */
export type UsageByKey = ReadonlyMap<string, ReadonlyMap<string, UsageCounts>>;

/** The name of requests without a key. */
export const WITHOUT_KEY = 'anonymous';

/** A store of usage by day (`2025-01-31`, UTC). Several processes may use it at the same time. */
export interface UsageStore {
  /** Adds to the stored usage; returns the sum. */
  add(day: string, more: UsageByKey): Promise<UsageByKey>;
  /** Empty when nothing is there. */
  read(day: string): Promise<UsageByKey>;
  /** The days of which something is there, the oldest first. */
  days(): Promise<readonly string[]>;
  /** Forgets the days before this one. */
  forgetBefore(day: string): Promise<void>;
}

/** The sum, key by key and network by network. */
function addUsage(a: UsageByKey, b: UsageByKey): UsageByKey {
  const sum = new Map(a);
  for (const [key, networks] of b) {
    const all = new Map(sum.get(key));
    for (const [network, counts] of networks) all.set(network, addCounts(all.get(network), counts));
    sum.set(key, all);
  }
  return sum;
}

function addCounts(a: UsageCounts | undefined, b: UsageCounts): UsageCounts {
  if (a === undefined) return b;
  const last_used = (a.last_used ?? '') > (b.last_used ?? '') ? a.last_used : b.last_used;
  return { allowed: a.allowed + b.allowed, limited: a.limited + b.limited, work: a.work + b.work, last_used };
}

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
  /** Called with the usage of a day by all processes whenever it was read or added to, unstored counts included. */
  readonly onUsage: (day: string, usage: UsageByKey) => void;
}

interface Counting {
  allowed: number;
  limited: number;
  work: number;
  last_used: number;
}

/** Counts the usage of keys, and adds it to a store every few seconds and at shutdown. */
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

  /**
   * Reads the usage of today, and begins to flush.
   *
   * @param isPassing whether counting may begin without that usage after an error: the first flush gets it
   */
  async start(isPassing: (error: unknown) => boolean = () => false): Promise<void> {
    const day = dayOf(this.#modules.unixTimeMs());
    try {
      this.#modules.onUsage(day, await this.#modules.store.read(day));
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.#failed(error);
    }
    this.#schedule();
  }

  count(key: string, network: string, what: 'allowed' | 'limited'): void {
    const counting = this.#countingOf(key, network);
    counting[what]++;
    if (what === 'allowed') counting.last_used = this.#modules.unixTimeMs();
  }

  /** @param units work units; may be a fraction */
  addWork(key: string, network: string, units: number): void {
    this.#countingOf(key, network).work += units;
  }

  #countingOf(key: string, network: string): Counting {
    const now = this.#modules.unixTimeMs();
    const dayNumber = Math.floor(now / DAY_MS);
    if (dayNumber !== this.#dayNumber) {
      this.#dayNumber = dayNumber;
      this.#day = dayOf(now);
    }
    const keys = member(this.#counting, this.#day, () => new Map<string, Map<string, Counting>>());
    const networks = member(keys, key, () => new Map<string, Counting>());
    return member(networks, network, newCounting);
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
      for (const [network, { allowed, limited, work, last_used }] of networks) {
        const counting = member(all, network, newCounting);
        counting.allowed += allowed;
        counting.limited += limited;
        counting.work += work;
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

function newCounting(): Counting {
  return { allowed: 0, limited: 0, work: 0, last_used: 0 };
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

function countsOf([network, { last_used, work, ...counts }]: [string, Counting]): [string, UsageCounts] {
  const moment = last_used === 0 ? null : new Date(last_used).toISOString();
  return [network, { ...counts, work: Math.round(work), last_used: moment }];
}

/** Usage of one day, one key, one network. */
export interface UsageRow extends UsageCounts {
  /** `2025-01-31`, UTC. */
  readonly day: string;
  /** The id of the key, or `anonymous`. */
  readonly key: string;
  readonly network: string;
}

/** The usage of the last days, today included: the newest day first, then by key and network. */
export async function usageReport(store: UsageStore, days: number, unixTimeMs: number): Promise<readonly UsageRow[]> {
  const oldest = dayOf(unixTimeMs - (days - 1) * DAY_MS);
  const rows: UsageRow[] = [];
  for (const day of [...(await store.days())].reverse()) {
    if (day >= oldest) rows.push(...rowsOf(day, await store.read(day)));
  }
  return rows;
}

/** When each key was last used, as far as the report goes back. */
export function lastUses(rows: readonly UsageRow[]): ReadonlyMap<string, string> {
  const last = new Map<string, string>();
  for (const { key, last_used } of rows) {
    if (last_used !== null && last_used > (last.get(key) ?? '')) last.set(key, last_used);
  }
  return last;
}

function rowsOf(day: string, usage: UsageByKey): UsageRow[] {
  return [...usage]
    .flatMap(([key, networks]) => [...networks].map(([network, counts]) => ({ day, key, network, ...counts })))
    .sort((a, b) => (a.key === b.key ? compare(a.network, b.network) : compare(a.key, b.key)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const FORMAT = 'tern-usage-1';

/** Usage in a folder, a JSON file for each day, written whole and under a lock among processes. */
export class UsageFiles implements UsageStore {
  readonly #folder: string;
  readonly #modules: LockModules & { readonly logger: Logger };

  constructor(options: { readonly folder: string }, modules: LockModules & { readonly logger: Logger }) {
    this.#folder = options.folder;
    this.#modules = modules;
  }

  /** A file that is damaged is put aside as `DAY.json.damaged`, and the log says so. @throws access/file, access/locked, access/lock-lost */
  async add(day: string, more: UsageByKey): Promise<UsageByKey> {
    return withFileErrors(this.#folder, async () => {
      await makePrivateFolder(this.#folder);
      return withLock(join(this.#folder, 'lock'), this.#modules, async (lock) => {
        const usage = addUsage(await this.#readOrPutAside(day), more);
        await writeFileAtomic(this.#path(day), writeUsage(usage), { beforeRename: () => lock.check() });
        return usage;
      });
    });
  }

  /** @throws access/file, access/field */
  async read(day: string): Promise<UsageByKey> {
    const file = this.#path(day);
    return withFileErrors(file, async () => {
      const text = await readTextFile(file);
      return text === null ? new Map() : parseUsage(file, text);
    });
  }

  /** @throws access/file */
  async days(): Promise<readonly string[]> {
    return withFileErrors(this.#folder, async () => {
      const names = await readdir(this.#folder).catch((error) => {
        if (isSystemError(error, 'ENOENT')) return [];
        throw error;
      });
      return names.flatMap((name) => /^(\d{4}-\d\d-\d\d)\.json$/.exec(name)?.[1] ?? []).sort();
    });
  }

  /** @throws access/file */
  async forgetBefore(day: string): Promise<void> {
    for (const each of await this.days()) {
      if (each < day) await withFileErrors(this.#path(each), () => rm(this.#path(each), { force: true }));
    }
  }

  async #readOrPutAside(day: string): Promise<UsageByKey> {
    try {
      return await this.read(day);
    } catch (error) {
      if (!isTernError(error) || isSystemError(error.cause)) throw error;
      const aside = `${this.#path(day)}.damaged`;
      await rename(this.#path(day), aside);
      this.#modules.logger.warn('a file of usage was damaged; it was renamed, and counting starts again', {
        problem: error.message,
        aside,
      });
      return new Map();
    }
  }

  #path(day: string): string {
    return join(this.#folder, `${day}.json`);
  }
}

function parseUsage(file: string, text: string): UsageByKey {
  const { format, keys } = ConfigField.parse(file, text).members('format', 'keys');
  if (format.value !== FORMAT) format.refuse(`"${FORMAT}"`);
  const usage = new Map<string, Map<string, UsageCounts>>();
  for (const [key, networks] of keys.entries()) {
    if (!NAME.test(key)) networks.refuse(`a key named by ${NAME_DESCRIPTION}`);
    usage.set(key, new Map(networks.entries().map(([network, counts]) => [network, readCounts(counts)])));
  }
  return usage;
}

function readCounts(field: ConfigField): UsageCounts {
  const fields = field.members('allowed', 'limited', 'work', 'last_used');
  return {
    allowed: fields.allowed.integer(0, Number.MAX_SAFE_INTEGER),
    limited: fields.limited.integer(0, Number.MAX_SAFE_INTEGER),
    // Files of earlier versions have none.
    work: fields.work.optional((each) => each.integer(0, Number.MAX_SAFE_INTEGER)) ?? 0,
    last_used: fields.last_used.optional((text) => text.moment()),
  };
}

function writeUsage(usage: UsageByKey): string {
  const keys = Object.fromEntries([...usage].map(([key, networks]) => [key, Object.fromEntries(networks)]));
  return `${JSON.stringify({ format: FORMAT, keys }, null, 1)}\n`;
}
