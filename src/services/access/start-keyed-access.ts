import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessTables } from '#drivers/store/access-tables.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { Access, AccessMetrics } from '#services/access/access.js';
import { AccessDatabase, isPassing } from '#services/access/access-database.js';
import { accessErrors } from '#services/access/errors.js';
import { KeyFile } from '#services/access/key-file.js';
import { KeyedAccess } from '#services/access/keyed-access.js';
import { KeyAdministration, type KeyStore, type KeyWatch, type SecretRandomBytes } from '#services/access/keys.js';
import { moveToDatabase, requireKeysInFolder } from '#services/access/keys-in-database.js';
import { DailyQuota, LocalLimiter } from '#services/access/limits.js';
import { type Plan, Plans, readPlanFile } from '#services/access/plans.js';
import { RedisLimiter } from '#services/access/redis-limiter.js';
import { type UsageByKey, UsageFiles, UsageRecorder, type UsageStore } from '#services/access/usage.js';

/** How long usage is kept: for how many days. */
const KEEP_DAYS = 90;
const DEFAULT_FLUSH_MS = 5_000;
const DEFAULT_MAX_ADDRESSES = 200_000;
const MAX_KEYS = 1_000_000;

export interface KeyedAccessOptions {
  /** The data directory: `keys.json`, `usage/` and, unless another is named, `plans.json` are in it. */
  readonly folder: string;
  /** A file of plans; `null` for `plans.json` in the data directory, if there is one. */
  readonly plans: string | null;
  /**
   * The database of keys, plans and usage; those of the data directory are moved there. `null` for files in the data directory.
   */
  readonly databaseUrl?: string | Promise<string> | null;
  /** `redis://…` to share limits among processes; `null` to count in this one. */
  readonly redisUrl: string | null;
  /** How often usage is stored: a crash loses what was counted in that time. Default 5 s. */
  readonly flushMs?: number;
  /** Client addresses in memory at most. Default 200,000, about 30 MB. */
  readonly maxAddresses?: number;
}

export interface AccessModules {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  readonly randomBytes: SecretRandomBytes;
  readonly logger: Logger;
}

/** Access by keys that works until it is closed. */
export interface StartedAccess {
  readonly access: Access;
  /** What the admin API works on. */
  readonly administration: AccessAdministration;
  metrics(): AccessMetrics;
  /** Stores what was counted, and lets go of Redis. */
  close(): Promise<void>;
}

/** Keys, plans and usage of a service that runs, to be read and changed. */
export interface AccessAdministration {
  readonly keys: KeyAdministration;
  readonly store: KeyStore;
  readonly usage: UsageStore;
  /** The plans in force. */
  plans(): Plans;
  /** @throws access/not-in-files, access/field */
  putPlan(plan: unknown): Promise<Plan>;
  /** @throws access/not-in-files, access/no-such-plan */
  deletePlan(name: string): Promise<void>;
}

/** The plans of a data directory. @throws access/file, access/field */
export function plansIn(folder: string, file: string | null): Plans {
  const found = file ?? join(folder, 'plans.json');
  return file !== null || existsSync(found) ? readPlanFile(found) : new Plans();
}

/** The keys of a data directory. */
export function keysIn(folder: string, modules: AccessModules): KeyStore {
  return new KeyFile({ path: join(folder, 'keys.json') }, modules);
}

/** The usage of a data directory. */
export function usageIn(folder: string, modules: AccessModules): UsageStore {
  return new UsageFiles({ folder: join(folder, 'usage') }, modules);
}

/**
 * Begins to let requests in by key.
 *
 * @throws access/file, access/field, access/redis-url
 */
export async function startKeyedAccess(options: KeyedAccessOptions, modules: AccessModules): Promise<StartedAccess> {
  const { clock, unixTimeMs, logger } = modules;
  const plans = plansIn(options.folder, options.plans);
  const quota = new DailyQuota({ unixTimeMs });
  const maxAddresses = options.maxAddresses ?? DEFAULT_MAX_ADDRESSES;
  const local = new LocalLimiter({ maxAddresses, maxKeys: MAX_KEYS }, { clock, quota });
  const { folder, databaseUrl = null } = options;
  const database = databaseUrl === null ? null : accessDatabase(folder, databaseUrl, modules);
  if (database === null) await requireKeysInFolder(folder);
  const keyStore = database ?? keysIn(folder, modules);
  const store = database?.usage ?? usageIn(folder, modules);
  const usage = new UsageRecorder(
    { flushMs: options.flushMs ?? DEFAULT_FLUSH_MS, keepDays: KEEP_DAYS },
    { store, clock, unixTimeMs, logger, onUsage: (day, counts) => quota.restore(day, bySubject(access, counts)) },
  );
  const redis =
    options.redisUrl === null
      ? null
      : new RedisLimiter({ url: options.redisUrl }, { clock, logger, quota, fallback: local });
  const access: KeyedAccess = new KeyedAccess({ plans, limiter: redis ?? local, usage, unixTimeMs, logger });
  let watch: KeyWatch | null = null;
  try {
    watch = await keyStore.watch((stored) => access.setKeys(stored.keys, stored.plans));
    await usage.start(database === null ? undefined : isPassing);
  } catch (error) {
    watch?.close();
    redis?.close();
    await database?.close();
    throw error;
  }
  access.lookBeforeRefusing(paced(() => watch.look(), LOOK_EVERY_MS, clock));
  return {
    access,
    administration: {
      keys: new KeyAdministration({ store: keyStore, randomBytes: modules.randomBytes, unixTimeMs }),
      store: keyStore,
      usage: store,
      plans: () => access.plans,
      putPlan: async (plan) => requireDatabase(database).putPlan(plan),
      deletePlan: async (name) => requireDatabase(database).deletePlan(name),
    },
    metrics: () => ({
      plans: access.planMetrics,
      unknown_keys: access.unknownKeys,
      networks_refused: access.networksRefused,
      keys: access.activeKeys,
      addresses: local.addresses,
      usage_failures: usage.failures,
      redis: redis?.metrics ?? null,
    }),
    async close() {
      watch.close();
      redis?.close();
      await usage.close();
      await database?.close();
    },
  };
}

/** @throws access/not-in-files */
function requireDatabase(database: AccessDatabase | null): AccessDatabase {
  if (database === null) throw accessErrors['not-in-files']({});
  return database;
}

/** The keys, plans and usage in a database, into which those of the data directory are moved. */
export function accessDatabase(folder: string, url: string | Promise<string>, modules: AccessModules): AccessDatabase {
  const onOpen = async (tables: AccessTables) => moveToDatabase(folder, await url, tables, modules);
  return new AccessDatabase({ url, onOpen }, modules);
}

/** How often an unknown key may make a process look for new ones. */
const LOOK_EVERY_MS = 20;

/** Calls `look` at most once at a time and per interval; each caller waits for a call that began after its own. */
function paced(look: () => Promise<void>, everyMs: number, clock: Clock): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let beganAt = Number.NEGATIVE_INFINITY;
  return () => {
    next ??= running.then(async () => {
      const waitMs = beganAt + everyMs - clock.now();
      if (waitMs > 0) await pause(waitMs, clock);
      beganAt = clock.now();
      next = null;
      running = look();
      return running;
    });
    return next;
  };
}

/** Requests of a day by whom they count for. */
function bySubject(access: KeyedAccess, usage: UsageByKey): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [key, networks] of usage) {
    for (const [network, { allowed }] of networks) {
      const subject = access.subjectOf(key, network);
      if (subject !== null) sums.set(subject, (sums.get(subject) ?? 0) + allowed);
    }
  }
  return sums;
}
