import type { Registry } from 'prom-client';
import { httpErrors } from '#api/http/errors.js';
import type { HttpNetwork, Profile, RawRoute } from '#api/http/http-api.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { Access } from '#services/access/access.js';

/** Everything that can be set; times in milliseconds. */
export interface HttpSettings {
  /** The profile of requests that say nothing about it. Default `spec`. */
  readonly profile: Profile;
  /** Where the client's address is taken from a proxy's `X-Forwarded-For`: all, or these addresses and nets. Default: nowhere. */
  readonly trustProxy: boolean | readonly string[];
  /** What answers kept for further requests may take in memory; 0 keeps and shares none. Default 64 MiB. */
  readonly cacheBytes: number;
  /** How old an answer about the head may become without a new block. Default 5 s. */
  readonly headCacheMs: number;
  /** For a request, from its last byte to its answer. Default 10 s. */
  readonly deadlineMs: number;
  /** Requests being worked on, answers from the cache not counted; more of them get 503. Default 4,096. */
  readonly maxConcurrent: number;
  /** Open connections; more of them are closed at once. Default 20,000. */
  readonly maxConnections: number;
  /** Of one request. Default 1 MiB. */
  readonly maxBodyBytes: number;
  /** Of all bodies that are being received; more get 503. Default 256 MiB. */
  readonly maxBodiesBytes: number;
  /** Path and query, unless an API takes more. Default 8 KiB. */
  readonly maxUrlBytes: number;
  /** URL and headers; as much more as an API takes longer URLs than `maxUrlBytes`. Default 64 KiB. */
  readonly maxHeaderBytes: number;
  /** Levels of arrays and objects in a body. Default 256. */
  readonly maxNesting: number;
  /** For the headers of a request to come in. Default 10 s. */
  readonly headersTimeoutMs: number;
  /** For a whole request to come in. Default 30 s. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open. Default 75 s: longer than common balancers keep theirs. */
  readonly keepAliveMs: number;
  /** When closing: how long it says that it is not ready before it stops accepting. Default 0. */
  readonly notReadyMs: number;
  /** When closing: for requests under way to end. Default 10 s. */
  readonly drainMs: number;
  /** Answers from so many characters on are compressed for clients that say they can read it. Default 4,096. */
  readonly compressFrom: number;
  /** Which requests are logged; failures are those answered with 5xx. Default `failures`. */
  readonly requestLog: 'all' | 'failures' | 'none';
}

export const defaultHttpSettings: HttpSettings = {
  profile: 'spec',
  trustProxy: false,
  cacheBytes: 64 * 1024 * 1024,
  headCacheMs: 5_000,
  deadlineMs: 10_000,
  maxConcurrent: 4_096,
  maxConnections: 20_000,
  maxBodyBytes: 1024 * 1024,
  maxBodiesBytes: 256 * 1024 * 1024,
  maxUrlBytes: 8 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxNesting: 256,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 75_000,
  notReadyMs: 0,
  drainMs: 10_000,
  compressFrom: 4_096,
  requestLog: 'failures',
};

/** Where to listen, and what differs from the defaults. */
export interface HttpOptions extends Partial<HttpSettings> {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Of the package, without `v`: answers name it in `X-API-Version`. */
  readonly version: string;
}

const LONGEST_MS = 2 ** 31 - 1;

/** Lowest and highest value of each number. */
const BOUNDS: { readonly [Name in keyof HttpSettings]?: readonly [number, number] } = {
  cacheBytes: [0, Number.MAX_SAFE_INTEGER],
  headCacheMs: [0, LONGEST_MS],
  deadlineMs: [1, LONGEST_MS],
  maxConcurrent: [1, 1_000_000],
  maxConnections: [1, 1_000_000],
  maxBodyBytes: [1, 64 * 1024 * 1024],
  maxBodiesBytes: [1, Number.MAX_SAFE_INTEGER],
  maxUrlBytes: [64, 64 * 1024],
  maxHeaderBytes: [1_024, 1024 * 1024],
  maxNesting: [1, 1_000],
  headersTimeoutMs: [1, LONGEST_MS],
  requestTimeoutMs: [1, LONGEST_MS],
  keepAliveMs: [1, LONGEST_MS],
  notReadyMs: [0, LONGEST_MS],
  drainMs: [0, LONGEST_MS],
  compressFrom: [0, Number.MAX_SAFE_INTEGER],
};

/**
 * The options with defaults for what is left out.
 *
 * @throws http/bad-option
 */
export function checkHttpOptions(options: HttpOptions): HttpOptions & HttpSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const all = { ...defaultHttpSettings, ...given } as HttpOptions & HttpSettings;
  for (const [option, [low, high]] of Object.entries(BOUNDS)) {
    const found = all[option as keyof HttpSettings];
    if (typeof found === 'number' && Number.isInteger(found) && found >= low && found <= high) continue;
    throw httpErrors['bad-option']({ option, found: String(found), accepted: `an integer from ${low} to ${high}` });
  }
  if (all.profile !== 'spec' && all.profile !== 'toncenter') {
    throw httpErrors['bad-option']({ option: 'profile', found: String(all.profile), accepted: 'spec or toncenter' });
  }
  return all;
}

/** What the server needs from outside. */
export interface HttpModules {
  readonly access: Access;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** Makes request ids; need not be secret. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
  /** Where the metrics of HTTP are counted; `/metrics` prints everything in it. */
  readonly metrics: Registry;
  /** At least one; the first is for requests whose host name selects no other. */
  readonly networks: readonly HttpNetwork[];
  /** Routes beside the APIs. Default: none. */
  readonly rawRoutes?: readonly RawRoute[];
}
