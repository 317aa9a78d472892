import type { AdnlClient } from '#drivers/adnl/client.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { AdnlClientOptions, AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteServerAddress } from '#drivers/lite/global-config.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** What the pool needs from outside. */
export interface LitePoolModules {
  readonly clock: Clock;
  /** Milliseconds since 1970, to compare with what servers say the time is. */
  readonly unixTimeMs: () => number;
  /** [0, 1), for choosing among equals and spreading retries; need not be secret. */
  readonly random: () => number;
  /** Secret ones, for connections. */
  readonly randomBytes: RandomBytes;
  readonly logger?: Logger;
  readonly adnlMetrics?: AdnlMetrics;
  /** How to connect to a server: `connectAdnl`, unless something stands between. */
  readonly connect?: (options: AdnlClientOptions, modules: AdnlModules) => Promise<AdnlClient>;
}

/** Everything that can be set. Times are in milliseconds. */
export interface PoolSettings {
  /** For a request that says nothing else, everything included. 1 to 2^31 - 1; default 10 s. */
  readonly deadlineMs: number;
  /** After so long without an answer another server is asked; a wait for a block comes on top. Default 5 s. */
  readonly attemptTimeoutMs: number;
  /** Requests under way; more of them wait. Default 1,024. */
  readonly maxInFlight: number;
  /** Requests that wait for a turn; more of them are refused. Default 4,096. */
  readonly maxWaiting: number;
  /** Queries that one server is given at a time. Default 64. */
  readonly maxInFlightPerServer: number;
  /** How often a request may ask, all servers together. Default 8. */
  readonly maxAttempts: number;
  /** How often it may go through all servers. Default 3. */
  readonly maxRounds: number;
  /** The pause before the second round; doubled for each further one. Default 100 ms. */
  readonly retryDelayMs: number;
  /** Second requests for slow answers, as a share of all requests. 0 (none) to 1; default 0.1. */
  readonly hedgeShare: number;
  /** How many of these may come at once; half of them only for answers that are long overdue. Default 32. */
  readonly hedgeBurst: number;
  /** A second request is not sent sooner, however fast the server usually is. Default 20 ms. */
  readonly hedgeMinMs: number;
  /** When a second request is sent as long as it is not known how fast the server is. Default 500 ms. */
  readonly hedgeDefaultMs: number;
  /** What answers that are true for ever may take in memory; 0 keeps none. Default 64 MiB. */
  readonly cacheBytes: number;
  /** A server that is more blocks behind is not asked for the newest state. Default 8. */
  readonly maxLag: number;
  /** After so many failures in a row a server is left alone for a while. Default 3. */
  readonly breakerFailures: number;
  /** For how long, the first time; doubled each time, up to 32 times. Default 2 s. */
  readonly breakerMs: number;
  /** How long a server that lied is not asked, the first time; doubled each time. Default 30 s. */
  readonly quarantineMs: number;
  /** The longest that it is not asked. Default 1 h. */
  readonly quarantineMaxMs: number;
  /** The pause before connecting again; doubled with each failure. Default 250 ms. */
  readonly reconnectMinMs: number;
  /** The longest pause before connecting again. Default 30 s. */
  readonly reconnectMaxMs: number;
  /** How often a server is asked for the time, to see whether and how fast it answers. Default 10 s. */
  readonly checkIntervalMs: number;
  /** How far back its blocks and states go is looked up again after so long; 0 for never at all. Default 10 min. */
  readonly depthRefreshMs: number;
}

export interface LitePoolOptions extends Partial<PoolSettings> {
  readonly servers: readonly LiteServerAddress[];
  /** For the connections; see drivers/adnl. */
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

/** The smallest value where it is not 1. */
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
