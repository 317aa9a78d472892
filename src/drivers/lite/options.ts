import type { AdnlClient } from '#drivers/adnl/client.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlClientOptions, AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteServerAddress } from '#drivers/lite/global-config.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** Dependencies of the pool. */
export interface LitePoolModules {
  readonly clock: Clock;
  /** Unix time in milliseconds, to compare with the clocks of servers. */
  readonly unixTimeMs: () => number;
  /** [0, 1), for server selection and retry jitter; need not be cryptographically secure. */
  readonly random: () => number;
  /** Cryptographically secure, for connections. */
  readonly randomBytes: RandomBytes;
  readonly logger?: Logger;
  readonly adnlMetrics?: AdnlMetrics;
  /** Opens a connection; default: `connectAdnl`. */
  readonly connect?: (options: AdnlClientOptions, modules: AdnlModules) => Promise<AdnlClient>;
}

/** Settings with defaults applied. Times are in milliseconds. */
export interface PoolSettings {
  /** Default deadline of a request, including retries. 1 to 2^31 - 1; default 10 s. */
  readonly deadlineMs: number;
  /** Timeout of a query before another server is queried; the wait for a block is added. Default 5 s. */
  readonly attemptTimeoutMs: number;
  /** Maximum requests in flight; further ones are queued. Default 1,024. */
  readonly maxInFlight: number;
  /** Maximum queued requests; further ones are refused. Default 4,096. */
  readonly maxWaiting: number;
  /** Maximum queries in flight per server. Default 64. */
  readonly maxInFlightPerServer: number;
  /** Maximum queries per request, over all servers. Default 8. */
  readonly maxAttempts: number;
  /** Maximum passes of a request over all servers. Default 3. */
  readonly maxRounds: number;
  /** Pause before the second pass; doubled for each further pass. Default 100 ms. */
  readonly retryDelayMs: number;
  /** Maximum share of hedged queries among all requests. 0 (none) to 1; default 0.1. */
  readonly hedgeShare: number;
  /** Maximum burst of hedged queries; half of it only for long overdue answers. Default 32. */
  readonly hedgeBurst: number;
  /** Minimum delay of a hedged query, however fast the server usually is. Default 20 ms. */
  readonly hedgeMinMs: number;
  /** Delay of a hedged query while the latency of the server is unknown. Default 500 ms. */
  readonly hedgeDefaultMs: number;
  /** Cache size for immutable answers; 0 disables the cache. Default 64 MiB. */
  readonly cacheBytes: number;
  /** A server further behind is not queried for the newest state, in blocks. Default 8. */
  readonly maxLag: number;
  /** Consecutive failures that open the circuit breaker of a server. Default 3. */
  readonly breakerFailures: number;
  /** Duration of the open circuit breaker; doubled each time, up to 32 times. Default 2 s. */
  readonly breakerMs: number;
  /** Duration of the first quarantine of a lying server; doubled each time. Default 30 s. */
  readonly quarantineMs: number;
  /** Maximum duration of a quarantine. Default 1 h. */
  readonly quarantineMaxMs: number;
  /** Pause before reconnecting; doubled with each failure. Default 250 ms. */
  readonly reconnectMinMs: number;
  /** Maximum pause before reconnecting. Default 30 s. */
  readonly reconnectMaxMs: number;
  /** Interval of `getTime` queries, which measure health and latency of a server. Default 10 s. */
  readonly checkIntervalMs: number;
  /** Interval of probes for the oldest blocks and states of a server; 0 disables them. Default 10 min. */
  readonly depthRefreshMs: number;
}

export interface LitePoolOptions extends Partial<PoolSettings> {
  readonly servers: readonly LiteServerAddress[];
  /** Connection options; see drivers/adnl. */
  readonly connection?: Partial<ConnectionOptions> & Pick<AdnlClientOptions, 'connectTimeoutMs' | 'handshakeTimeoutMs'>;
}

const MINUTE = 60_000;

const DEFAULTS: PoolSettings = {
  deadlineMs: 10_000,
  attemptTimeoutMs: 5_000,
  maxInFlight: 1_024,
  maxWaiting: 4_096,
  maxInFlightPerServer: 64,
  maxAttempts: 8,
  maxRounds: 3,
  retryDelayMs: 100,
  hedgeShare: 0.1,
  hedgeBurst: 32,
  hedgeMinMs: 20,
  hedgeDefaultMs: 500,
  cacheBytes: 64 * 2 ** 20,
  maxLag: 8,
  breakerFailures: 3,
  breakerMs: 2_000,
  quarantineMs: 30_000,
  quarantineMaxMs: 60 * MINUTE,
  reconnectMinMs: 250,
  reconnectMaxMs: 30_000,
  checkIntervalMs: 10_000,
  depthRefreshMs: 10 * MINUTE,
};

/** Minimum values other than 1. */
const LEAST: Partial<Record<keyof PoolSettings, number>> = {
  maxWaiting: 0,
  hedgeShare: 0,
  hedgeBurst: 0,
  hedgeMinMs: 0,
  cacheBytes: 0,
  maxLag: 0,
  depthRefreshMs: 0,
};

/** Fills in defaults and checks bounds. @throws lite/bad-option */
export function checkPoolSettings(options: LitePoolOptions): PoolSettings {
  const settings: Record<string, number> = { ...DEFAULTS };
  for (const option of Object.keys(DEFAULTS) as (keyof PoolSettings)[]) {
    const found = options[option];
    if (found === undefined) continue;
    const least = LEAST[option] ?? 1;
    const most = option === 'hedgeShare' ? 1 : option === 'cacheBytes' ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1;
    const isWhole = option === 'hedgeShare' || Number.isSafeInteger(found);
    if (!isWhole || !(found >= least && found <= most)) {
      const accepted = `a ${option === 'hedgeShare' ? '' : 'whole '}number from ${least} to ${most}`;
      throw liteErrors['bad-option']({ option, found: String(found), accepted });
    }
    settings[option] = found;
  }
  if (options.servers.length === 0) {
    throw liteErrors['bad-option']({ option: 'servers', found: 'empty', accepted: 'at least one server' });
  }
  return settings as unknown as PoolSettings;
}
