import type { Registry } from 'prom-client';
import { httpErrors } from '#api/http/errors.js';
import type { ExplorerOptions } from '#api/http/explorer-routes.js';
import type { HttpNetwork, Profile, RawRoute } from '#api/http/http-api.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { Access } from '#services/access/access.js';

/** All settings; times in milliseconds. */
export interface HttpSettings {
  /** The profile of requests that do not choose one. Default `spec`. */
  readonly profile: Profile;
  /** Proxies whose `X-Forwarded-For` is trusted: all, or these addresses and networks. Default: none. */
  readonly trustProxy: boolean | readonly string[];
  /** Memory of the response cache; 0 turns off caching and coalescing. Default 64 MiB. */
  readonly cacheBytes: number;
  /** Maximum age of a cached response about the head when no new block comes. Default 5 s. */
  readonly headCacheMs: number;
  /** Deadline of a request, from its last byte to its response. Default 10 s. */
  readonly deadlineMs: number;
  /** Connections that are accepted in one turn of the event loop. Default 1: more take a process at the start. */
  readonly acceptsPerTurn: number;
  /** In one turn of the event loop requests are begun for so long at least; the others wait. Default 5 ms. */
  readonly turnMs: number;
  /** Requests with an API key that wait to be begun, and of those without; for more, clients with the most get 503. Default 4,096. */
  readonly maxUnbegun: number;
  /** The same of one client: a key, or an address (IPv6: of a /64). Default 256. */
  readonly maxUnbegunPerClient: number;
  /** Bytes of bodies that are taken from clients in one turn of the event loop. Default 512 KiB. */
  readonly turnBytes: number;
  /** Concurrent requests, cached responses not counted, and open streams; more of them get 503. Default 4,096. */
  readonly maxConcurrent: number;
  /** Price of all large calls under way at once, in work units of about 1 ms of CPU time. Default 1,000. */
  readonly maxWork: number;
  /** Calls of at most this price never wait for others, in work units. Default 5. */
  readonly smallWork: number;
  /** Calls above this price are large, in work units. Default 50. */
  readonly largeWork: number;
  /** Large calls of one client at a time, until their answers are written; further ones wait. Default 2. */
  readonly maxLargePerClient: number;
  /** Calls that wait for room, for each of the two sizes; further ones get 503. Default 1,000. */
  readonly maxWaiting: number;
  /** As `maxWaiting`, of one client. Default 50. */
  readonly maxWaitingPerClient: number;
  /** Requests for `/metrics` and documents of an address per second; further ones get 429. Default 10. */
  readonly maxPagesPerSecond: number;
  /** Open connections. For more of them the one that has been idle longest is closed, else the new one. Default 20,000. */
  readonly maxConnections: number;
  /** The same of one client address (IPv6: of a /64); connections of trusted proxies are not counted. Default 512. */
  readonly maxConnectionsPerAddress: number;
  /** Requests of one connection that wait for their answers; for one more it gets 503 and is closed. Default 32. */
  readonly maxPipelined: number;
  /** Body of one request. Default 1 MiB. */
  readonly maxBodyBytes: number;
  /** All bodies that are being received; beyond that, the body that has been open longest gets 503. Default 64 MiB. */
  readonly maxBodiesBytes: number;
  /** Bodies from 16 KiB on that are read or wait to be parsed; further ones are not read yet. Default 8 MiB. */
  readonly maxAdmittedBytes: number;
  /** Bodies of one client address (IPv6: of a /64) that are being received, and large ones of a client that wait for it; more get 503. Default 16. */
  readonly maxBodiesPerAddress: number;
  /** Large answers that their clients have not received yet; above, further large calls get 503. Default 128 MiB. */
  readonly maxHeldBytes: number;
  /** Path and query, unless an API allows more. Default 8 KiB. */
  readonly maxUrlBytes: number;
  /** URL and headers; increased by as much as an API allows longer URLs than `maxUrlBytes`. Default 64 KiB. */
  readonly maxHeaderBytes: number;
  /** Nesting depth of a JSON body. Default 256. */
  readonly maxNesting: number;
  /** Names in all objects of a JSON body together. Default 5,000. */
  readonly maxJsonNames: number;
  /** Values of a JSON body: items, members, arrays and objects. Default 10,000. */
  readonly maxJsonValues: number;
  /** Timeout for receiving the headers of a request. Default 10 s. */
  readonly headersTimeoutMs: number;
  /** Timeout for receiving a whole request. Default 30 s. */
  readonly requestTimeoutMs: number;
  /** Slowest progress of a body, and of a client that takes an answer, in bytes per second. Default 1,024. */
  readonly minBytesPerSecond: number;
  /** The time over which `minBytesPerSecond` is measured; slower bodies get 408, and connections are closed. Default 10 s. */
  readonly stallMs: number;
  /** How long a connection may stay open after its last answer, for the client to close it. Default 2 s. */
  readonly lingerMs: number;
  /** How long an idle connection stays open. Default 75 s: longer than with common load balancers. */
  readonly keepAliveMs: number;
  /** At shutdown: how long `/readyz` reports not ready before the server stops accepting. Default 0. */
  readonly notReadyMs: number;
  /** At shutdown: how long running requests may take to end. Default 10 s. */
  readonly drainMs: number;
  /** Responses of at least so many characters are compressed for clients that accept it. Default 4,096. */
  readonly compressFrom: number;
  /** Which requests are logged; failures are responses with 5xx. Default `failures`. */
  readonly requestLog: 'all' | 'failures' | 'none';
}

const defaultHttpSettings: HttpSettings = {
  profile: 'spec',
  trustProxy: false,
  cacheBytes: 64 * 1024 * 1024,
  headCacheMs: 5_000,
  deadlineMs: 10_000,
  acceptsPerTurn: 1,
  turnMs: 5,
  maxUnbegun: 4_096,
  maxUnbegunPerClient: 256,
  turnBytes: 512 * 1024,
  maxConcurrent: 4_096,
  maxWork: 1_000,
  smallWork: 8,
  largeWork: 50,
  maxLargePerClient: 2,
  maxWaiting: 1_000,
  maxWaitingPerClient: 50,
  maxPagesPerSecond: 10,
  maxConnections: 20_000,
  maxConnectionsPerAddress: 512,
  maxPipelined: 32,
  maxBodyBytes: 1024 * 1024,
  maxBodiesBytes: 64 * 1024 * 1024,
  maxAdmittedBytes: 8 * 1024 * 1024,
  maxBodiesPerAddress: 16,
  maxHeldBytes: 64 * 1024 * 1024,
  maxUrlBytes: 8 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxNesting: 256,
  maxJsonNames: 5_000,
  maxJsonValues: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  minBytesPerSecond: 1_024,
  stallMs: 10_000,
  lingerMs: 2_000,
  keepAliveMs: 75_000,
  notReadyMs: 0,
  drainMs: 10_000,
  compressFrom: 4_096,
  requestLog: 'failures',
};

/** Where to listen, and settings other than the defaults. */
export interface HttpOptions extends Partial<HttpSettings> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Version of the package, without `v`, for `X-API-Version`. */
  readonly version: string;
  /** Default null: there is no explorer. */
  readonly explorer?: ExplorerOptions | null;
}

const LONGEST_MS = 2 ** 31 - 1;

/** Bounds of the numeric settings. */
const BOUNDS: { readonly [Name in keyof HttpSettings]?: readonly [number, number] } = {
  cacheBytes: [0, Number.MAX_SAFE_INTEGER],
  headCacheMs: [0, LONGEST_MS],
  deadlineMs: [1, LONGEST_MS],
  acceptsPerTurn: [1, 256],
  turnMs: [1, LONGEST_MS],
  maxUnbegun: [1, 1_000_000],
  maxUnbegunPerClient: [1, 1_000_000],
  turnBytes: [1, Number.MAX_SAFE_INTEGER],
  maxConcurrent: [1, 1_000_000],
  maxWork: [1, 1_000_000],
  smallWork: [1, 1_000_000],
  largeWork: [1, 1_000_000],
  maxLargePerClient: [1, 1_000_000],
  maxWaiting: [0, 1_000_000],
  maxWaitingPerClient: [0, 1_000_000],
  maxPagesPerSecond: [1, 1_000_000],
  maxConnections: [1, 1_000_000],
  maxConnectionsPerAddress: [1, 1_000_000],
  maxPipelined: [1, 1_000_000],
  maxBodyBytes: [1, 64 * 1024 * 1024],
  maxBodiesBytes: [1, Number.MAX_SAFE_INTEGER],
  maxAdmittedBytes: [1, Number.MAX_SAFE_INTEGER],
  maxBodiesPerAddress: [1, 1_000_000],
  maxHeldBytes: [1, Number.MAX_SAFE_INTEGER],
  maxUrlBytes: [64, 64 * 1024],
  maxHeaderBytes: [1_024, 1024 * 1024],
  maxNesting: [1, 1_000],
  maxJsonNames: [1, 1_000_000],
  maxJsonValues: [1, 1_000_000],
  headersTimeoutMs: [1, LONGEST_MS],
  requestTimeoutMs: [1, LONGEST_MS],
  minBytesPerSecond: [0, Number.MAX_SAFE_INTEGER],
  stallMs: [1, LONGEST_MS],
  lingerMs: [0, LONGEST_MS],
  keepAliveMs: [1, LONGEST_MS],
  notReadyMs: [0, LONGEST_MS],
  drainMs: [0, LONGEST_MS],
  compressFrom: [0, Number.MAX_SAFE_INTEGER],
};

/**
 * The options with defaults for those left out.
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

/** Dependencies of the server. */
export interface HttpModules {
  readonly access: Access;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** For request ids; need not be secret. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
  /** The registry of the HTTP metrics; `/metrics` prints all of it. */
  readonly metrics: Registry;
  /** At least one; the first is for requests whose host name selects no other. */
  readonly networks: readonly HttpNetwork[];
  /**
   * Paths of live services that are not served yet, without the mount, with what to use instead; one that ends in `/` stands for all
   * below it. Default: none.
   */
  readonly missingPaths?: Readonly<Record<string, string>>;
  /** Routes beside the APIs. Default: none.  */
  readonly rawRoutes?: readonly RawRoute[];
}
