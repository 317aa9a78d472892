import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { Access, AccessMetrics } from '#services/access/access.js';
import { KeyFile } from '#services/access/key-file.js';
import { KeyedAccess } from '#services/access/keyed-access.js';
import type { KeyStore, KeyWatch, SecretRandomBytes } from '#services/access/keys.js';
import { DailyQuota, LocalLimiter } from '#services/access/limits.js';
import { Plans, readPlanFile } from '#services/access/plans.js';
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
  metrics(): AccessMetrics;
  /** Stores what was counted, and lets go of Redis. */
  close(): Promise<void>;
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
  const store = usageIn(options.folder, modules);
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
    watch = await keysIn(options.folder, modules).watch((keys) => access.setKeys(keys));
    await usage.start();
  } catch (error) {
    watch?.close();
    redis?.close();
    throw error;
  }
  return {
    access,
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
    },
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
