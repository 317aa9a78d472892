import { Redis } from 'ioredis';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { RedisMetrics } from '#services/access/access.js';
import { accessErrors } from '#services/access/errors.js';
import {
  type DailyQuota,
  fullInMsAt,
  LEAST_WAIT_MS,
  type LimitDecision,
  type Limiter,
  type LimitRequest,
  type LocalLimiter,
  PASSED,
  rateStateOf,
  SLACK,
} from '#services/access/limits.js';
import { TwoGenerationMap } from '#services/access/two-generation-map.js';
import { LONGEST_DEBT_MS } from '#services/access/work-buckets.js';

/** How long a request waits for Redis at most. */
const TIMEOUT_MS = 50;

/** After a failure one request per this time probes Redis, unless it reconnects before; doubled each time, up to 1 s. */
const PROBE_MS = 100;
const LONGEST_PROBE_MS = 1_000;

/** The pause before connecting again: doubled with each attempt, up to this. */
const LONGEST_RECONNECT_MS = 1_000;

/** A connection without an expected response for so long is closed. */
const SOCKET_TIMEOUT_MS = 5_000;

/** Prefix of all keys. */
const KEY_PREFIX = 'tern:limit:';

/** Refusals that are cached, so that repeated requests of a client do not reach Redis, and for how long at most. */
const MOST_WAITS = 100_000;
const LONGEST_WAIT_MS = 1_000;

const DAY_MS = 86_400_000;

/** The result of {@link TAKE_SCRIPT}. */
type Taken = readonly [verdict: number, waitMs: string, used: number, fullInMs?: string];

/** The result of {@link WORK_SCRIPT}. */
type TakenWork = readonly [passed: 0 | 1, waitMs: string];

type RedisWithScript = Redis & {
  takeFromLimit(key: string, ...args: readonly (string | number)[]): Promise<Taken>;
  takeWork(key: string, ...args: readonly (string | number)[]): Promise<TakenWork>;
};

/** Calls of at most this price pass unless the budget is known to be exhausted: their work is added up and sent later. */
const SMALL_UNITS = 5;

/** The sum of small work that is sent to Redis. */
const SENT_UNITS = 20;

/** A cached refusal. */
interface Wait {
  readonly by: 'rate' | 'quota' | 'work';
  readonly endsAt: number;
  readonly askAgainAt: number;
}

export interface RedisLimiterModules {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly quota: DailyQuota;
  /** Counts in this process while Redis does not answer, from what was left of each rate when it last did. */
  readonly fallback: LocalLimiter;
}

/**
 * Limits shared by all processes with the same Redis: one script call per request, with the time of the Redis server. While
 * Redis is slow or down, each process counts on its own; no request waits longer than 50 ms for it.
 */
export class RedisLimiter implements Limiter {
  readonly #modules: RedisLimiterModules;
  readonly #redis: RedisWithScript;
  readonly #waits = new TwoGenerationMap<Wait>(MOST_WAITS);
  /** Work by subject that Redis does not know of yet. */
  readonly #unsent = new TwoGenerationMap<number>(MOST_WAITS);
  #isUp = false;
  #isReported = false;
  #isClosed = false;
  #askAgainAt = 0;
  #probeMs = PROBE_MS;
  #checks = 0;
  #fallbacks = 0;
  #outages = 0;

  /** Connects in the background. @throws access/redis-url */
  constructor(options: { readonly url: string }, modules: RedisLimiterModules) {
    this.#modules = modules;
    this.#redis = new Redis(checkRedisUrl(options.url), {
      connectTimeout: SOCKET_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), LONGEST_RECONNECT_MS),
      scripts: {
        takeFromLimit: { lua: TAKE_SCRIPT, numberOfKeys: 1 },
        takeWork: { lua: WORK_SCRIPT, numberOfKeys: 1 },
      },
    }) as RedisWithScript;
    this.#redis.on('ready', () => this.#up());
    this.#redis.on('close', () => this.#down('the connection is closed'));
    this.#redis.on('error', (error: NodeJS.ErrnoException) => this.#down(error.message || (error.code ?? 'unknown')));
  }

  get metrics(): RedisMetrics {
    return { up: this.#isUp, checks: this.#checks, fallbacks: this.#fallbacks, outages: this.#outages };
  }

  take(question: LimitRequest): LimitDecision | Promise<LimitDecision> {
    const { requests_per_second, daily_quota } = question.limits;
    if (requests_per_second === null && daily_quota === null) return this.#modules.fallback.take(question);
    const now = this.#modules.clock.now();
    if (this.#isAway(now)) return this.#takeHere(question);
    const wait = this.#waits.get(question.subject);
    if (wait !== undefined && now - (question.waitedMs ?? 0) < wait.askAgainAt) {
      return { passed: false, by: wait.by, waitMs: Math.max(LEAST_WAIT_MS, wait.endsAt - now) };
    }
    if (!this.#isUp) this.#beginProbe(now);
    return this.#takeThere(question);
  }

  takeWork(question: LimitRequest, units: number): LimitDecision | Promise<LimitDecision> {
    const { subject, limits } = question;
    if (limits.work_per_second === null) return PASSED;
    const now = this.#modules.clock.now();
    if (this.#isAway(now)) return this.#modules.fallback.takeWork(question, units);
    const wait = this.#waits.get(workKey(subject));
    if (wait !== undefined && now < wait.askAgainAt) return { passed: false, by: 'work', waitMs: wait.endsAt - now };
    if (!this.#isUp) this.#beginProbe(now);
    if (!this.#isUp || units > SMALL_UNITS) return this.#takeWorkThere(question, units);
    this.#addWork(question, units);
    return PASSED;
  }

  /** Whether this process counts on its own: Redis does not answer, and it is not time to ask it again. */
  #isAway(now: number): boolean {
    return this.#redis.status !== 'ready' || (!this.#isUp && now < this.#askAgainAt);
  }

  /** One request probes whether Redis is back; the others do not wait for it. */
  #beginProbe(now: number): void {
    this.#askAgainAt = now + this.#probeMs;
  }

  settleWork(question: LimitRequest, units: number): void {
    if (question.limits.work_per_second === null || units === 0) return;
    if (this.#isUp) this.#addWork(question, units);
    else this.#modules.fallback.settleWork(question, units);
  }

  /** Adds to the work that Redis does not know of; sends it when it is enough. */
  #addWork(question: LimitRequest, units: number): void {
    const { subject } = question;
    const sum = (this.#unsent.get(subject) ?? 0) + units;
    if (Math.abs(sum) < SENT_UNITS) {
      this.#unsent.set(subject, sum);
      return;
    }
    this.#unsent.set(subject, 0);
    this.#askForWork(question, sum, 'settle').then(
      ([, waitMs]) => this.#holdWork(subject, Number(waitMs)),
      (error) => this.#down((error as Error).message),
    );
  }

  async #takeWorkThere(question: LimitRequest, units: number): Promise<LimitDecision> {
    const isProbe = !this.#isUp;
    let taken: TakenWork;
    try {
      taken = await this.#askForWork(question, units, 'take');
    } catch (error) {
      if (isProbe) this.#probeMs = Math.min(this.#probeMs * 2, LONGEST_PROBE_MS);
      this.#down((error as Error).message);
      return this.#modules.fallback.takeWork(question, units);
    }
    if (!this.#isUp) this.#up();
    const [passed, waitMs] = taken;
    if (passed === 1) return PASSED;
    this.#holdWork(question.subject, Number(waitMs));
    return { passed: false, by: 'work', waitMs: Number(waitMs) };
  }

  /** Remembers that a budget is exhausted. */
  #holdWork(subject: string, waitMs: number): void {
    if (waitMs <= 0) return;
    const now = this.#modules.clock.now();
    const askAgainAt = now + Math.min(waitMs, LONGEST_WAIT_MS);
    this.#waits.set(workKey(subject), { by: 'work', endsAt: now + waitMs, askAgainAt });
  }

  #askForWork({ subject, limits }: LimitRequest, units: number, kind: 'take' | 'settle'): Promise<TakenWork> {
    const { work_per_second, work_burst } = limits;
    const args = [work_per_second ?? 0, work_burst, units, kind, LONGEST_DEBT_MS];
    return this.#inTime(() => this.#redis.takeWork(KEY_PREFIX + workKey(subject), ...args));
  }

  close(): void {
    this.#isClosed = true;
    this.#redis.disconnect();
    this.#modules.fallback.close();
  }

  async #takeThere(question: LimitRequest): Promise<LimitDecision> {
    const isProbe = !this.#isUp;
    let taken: Taken;
    try {
      taken = await this.#askRedis(question);
    } catch (error) {
      if (isProbe) this.#probeMs = Math.min(this.#probeMs * 2, LONGEST_PROBE_MS);
      this.#down((error as Error).message);
      return this.#takeHere(question);
    }
    if (!this.#isUp) this.#up();
    this.#checks++;
    const { subject, isAddress, limits } = question;
    const [verdict, waitMs, used, fullInMs = '0'] = taken;
    const { quota, fallback } = this.#modules;
    if (verdict === 1) {
      fallback.lower(question, Number(fullInMs));
      if (!isAddress) {
        quota.add(subject);
        quota.raise(subject, used);
      }
      return { passed: true, rate: rateStateOf(limits, Number(fullInMs), { used, leftMs: quota.untilNextDayMs })! };
    }
    const now = this.#modules.clock.now();
    const by = verdict === 0 ? 'rate' : 'quota';
    const refused = Number(waitMs);
    const { requests_per_second, burst } = limits;
    if (by === 'rate')
      fallback.lower(question, fullInMsAt(refused, { requests_per_second: requests_per_second!, burst }));
    this.#waits.set(subject, { by, endsAt: now + refused, askAgainAt: now + Math.min(refused, LONGEST_WAIT_MS) });
    return { passed: false, by, waitMs: refused };
  }

  #takeHere(question: LimitRequest): LimitDecision | Promise<LimitDecision> {
    this.#fallbacks++;
    return this.#modules.fallback.take(question);
  }

  #askRedis({ subject, isAddress, limits, waitedMs = 0 }: LimitRequest): Promise<Taken> {
    const { requests_per_second, burst, daily_quota } = limits;
    const { quota } = this.#modules;
    const used = isAddress || daily_quota === null ? 0 : quota.used(subject);
    const today = Date.parse(quota.day) / DAY_MS;
    const args = [requests_per_second ?? '', burst, daily_quota ?? '', today, used, SLACK, waitedMs, LEAST_WAIT_MS];
    return this.#inTime(() => this.#redis.takeFromLimit(KEY_PREFIX + subject, ...args));
  }

  /** @throws access/redis-slow */
  #inTime<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#modules;
    return new Promise((resolve, reject) => {
      const expire = (): void => reject(accessErrors['redis-slow']({ afterMs: TIMEOUT_MS }));
      // When this process itself was busy, the response may have arrived unread: it gets one more turn of the event loop.
      let cancel = clock.schedule(TIMEOUT_MS, () => {
        cancel = clock.schedule(0, expire);
      });
      ask()
        .then(resolve, reject)
        .finally(() => cancel());
    });
  }

  #up(): void {
    this.#isUp = true;
    this.#probeMs = PROBE_MS;
    if (this.#isReported) this.#modules.logger.info('Redis is back: limits are shared among processes again');
    this.#isReported = false;
  }

  #down(problem: string): void {
    if (this.#isUp) this.#outages++;
    this.#isUp = false;
    this.#askAgainAt = this.#modules.clock.now() + this.#probeMs;
    if (this.#isReported || this.#isClosed) return;
    this.#isReported = true;
    this.#modules.logger.warn('Redis does not answer: each process counts its own requests until it is back', {
      problem,
    });
  }
}

/** The work of a subject is counted beside its requests. */
function workKey(subject: string): string {
  return `work ${subject}`;
}

/** @throws access/redis-url */
export function checkRedisUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // The URL may contain a password, so it is not repeated.
  if (url === null) throw accessErrors['redis-url']({ problem: 'is not a URL' });
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw accessErrors['redis-url']({ problem: `begins with ${url.protocol}` });
  }
  if (url.hostname === '') throw accessErrors['redis-url']({ problem: 'names no host' });
  return text;
}

/**
 * Counts one request, at the time of the Redis server. One key per subject: the time when its bucket is full again (`full`,
 * milliseconds; see takeFromBucket), the counted day (`day`, days since 1970) and its requests (`used`). It expires when
 * neither matters any more. One key per call, so that it works in a cluster, too.
 *
 * ARGV: rate per second or '', burst, quota or '', the day of the caller's own count, that count (in case Redis lost its own),
 * slack of the bucket, milliseconds since the request arrived, the shortest wait in milliseconds.
 * Returns whether it passed (1), or the limit in the way (0 the rate, -1 the quota); the wait in milliseconds, as text, since
 * Redis would cut off the fraction; the requests of the day; if it passed, when the bucket is full again, in milliseconds, as text.
 */
const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local today = math.floor(now / 86400000)
local stored = redis.call('HMGET', KEYS[1], 'full', 'day', 'used')
local used = 0
if stored[2] and tonumber(stored[2]) == today then used = tonumber(stored[3]) end
if tonumber(ARGV[4]) == today then used = math.max(used, tonumber(ARGV[5])) end
local midnight = (today + 1) * 86400000
local quota = tonumber(ARGV[3])
if quota and used >= quota then return {-1, string.format('%.3f', midnight - now), used} end
local rate = tonumber(ARGV[1])
local full = now
if rate then
  local interval = 1000 / rate
  local slack = tonumber(ARGV[6])
  local waited = tonumber(ARGV[7])
  local came = now - waited
  if stored[1] then full = math.max(tonumber(stored[1]), came) else full = came + slack * interval end
  local wait = full - came - (tonumber(ARGV[2]) - 1 + slack) * interval
  if wait > 0.0005 then return {0, string.format('%.3f', math.max(wait - waited, tonumber(ARGV[8]))), used} end
  full = full + interval
end
local gone = full
if quota then
  used = used + 1
  gone = math.max(full, midnight)
  redis.call('HSET', KEYS[1], 'full', string.format('%.3f', full), 'day', today, 'used', used)
else
  redis.call('HSET', KEYS[1], 'full', string.format('%.3f', full))
end
redis.call('PEXPIRE', KEYS[1], math.ceil(math.max(gone - now, 0)) + 1000)
return {1, '0', used, string.format('%.3f', math.max(full - now, 0))}
`;

/**
 * Takes work out of a budget, or corrects what was taken; see WorkBuckets. One key per subject: the time in milliseconds when
 * its bucket is full again.
 *
 * ARGV: units per second, burst, units, take or settle, the longest debt in milliseconds.
 * Returns whether it passed (1) or not (0), and the milliseconds until the budget is not in debt, or holds the price, as text.
 */
const WORK_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local rate, burst, units = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local held = burst - (full - now) * rate / 1000
if ARGV[4] == 'take' then
  local lacking = math.min(units, burst) - held
  if lacking > 0.000001 then return {0, string.format('%.3f', lacking * 1000 / rate)} end
end
full = math.min(full + units * 1000 / rate, now + burst * 1000 / rate + tonumber(ARGV[5]))
local left = math.ceil(full - now)
if left > 0 then redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', left + 1000)
else redis.call('DEL', KEYS[1]) end
return {1, string.format('%.3f', math.max(0, full - now - burst * 1000 / rate))}
`;
