import { isIPv4, isIPv6 } from 'node:net';
import type { MetricRow, Sample } from '#kernel/metric-rows.js';

/** The subject of all invalid addresses. */
const UNREADABLE = 'unreadable';

/**
 * What requests without a key are counted by: a whole IPv4 address; the first 64 bits of an IPv6 address, since a subscriber has
 * at least such a network; IPv4-mapped addresses (`::ffff:192.0.2.1`) count as IPv4.
 */
export function addressBlock(text: string): string {
  if (isIPv4(text)) return text;
  if (text.length > 64 || !isIPv6(text)) return UNREADABLE;
  const groups = groupsOf(text);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high, low] = [groups[6]!, groups[7]!];
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight numbers of a well-formed IPv6 address. */
function groupsOf(text: string): number[] {
  const zone = text.indexOf('%');
  const [before = '', after] = (zone < 0 ? text : text.slice(0, zone)).split('::');
  const front = halfOf(before);
  if (after === undefined) return front;
  const back = halfOf(after);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function halfOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [(a! << 8) | b!, (c! << 8) | d!];
  });
}

/** The properties of a request that access is checked by. */
export interface AccessRequest {
  /** The API key as the request gave it, unchecked; `null` when it gave none. */
  readonly key: string | null;
  /** The address of the client, IPv4 or IPv6 as text. */
  readonly clientAddress: string;
  /** The name of the network the request is for, as `mainnet`. */
  readonly network: string;
  /**
   * Milliseconds since it arrived, in which it waited to be begun: rates are those at which requests arrive, however many of them a
   * busy server begins at once. Default 0.
   */
  readonly waitedMs?: number;
}

/** How much of a limit on requests is left. */
export interface RateState {
  /** Requests that may come in a window. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of it is there again. */
  readonly resetMs: number;
  readonly windowMs: number;
}

/** Limits of streams of events; null: those of the server. */
export interface StreamLimits {
  /** Open streams of the client. */
  readonly stream_connections: number | null;
  /** Accounts and traces of one stream. */
  readonly stream_addresses: number | null;
}

/** Whether a request is allowed, and if not, why. */
export type AccessDecision =
  | {
      readonly kind: 'allowed';
      /** The plan that the request was counted for. */
      readonly plan: string;
      /** The id of the key, never the key itself; `null` without one. */
      readonly key: string | null;
      /** The private liteserver group of the plan. */
      readonly group: string | null;
      /** Who shares the process fairly with others: the owner of the key, the key, or the address without one. */
      readonly client: string;
      readonly work: WorkBudget;
      /** What the plan says of streams; absent: nothing. */
      readonly streams?: Partial<StreamLimits>;
      /** Whether the key opens the admin API. */
      readonly isAdmin?: true;
      /** How much of the limits on requests is left; absent without a limit. */
      readonly rate?: RateState;
    }
  | { readonly kind: 'unknown-key' }
  /** The keys could not be read since the start. */
  | { readonly kind: 'keys-unavailable' }
  | { readonly kind: 'network-not-allowed' }
  | {
      readonly kind: 'limited';
      /** Milliseconds until the same request would pass. */
      readonly retryAfterMs: number;
      /** The exceeded limit: `10 requests per second`. */
      readonly limit: string;
      readonly rate?: RateState;
      /** To be called for each equal request that is refused without another check before it is time. Default: it is checked. */
      readonly again?: () => void;
    };

/** Whether a budget of work holds the price of a call; if not, when it will and which limit is in the way. */
export type WorkDecision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number; readonly limit: string };

/** The budget of work of a client. Work units are about 1 ms of CPU time. */
export interface WorkBudget {
  /** Takes the price of a call. @param units 0: asks whether the budget is in debt; then nothing is refused, and nothing counted */
  take(units: number): WorkDecision | Promise<WorkDecision>;
  /** After the call: what was taken is corrected by what was done. */
  settle(taken: number, done: number): void;
}

/** Access control and rate limits. Returns synchronously when only memory is needed. */
export interface Access {
  check(question: AccessRequest): AccessDecision | Promise<AccessDecision>;
  /** Who shares the process with others by an API key; null: it is no key. Nothing is counted. */
  clientOfKey?(key: string, network: string): KeyClient | null;
  /** Whether a key can still be used, by its id; true while the keys could not be read since the start. Default: it can. */
  isValidKey?(id: string): boolean;
}

/** A client with an API key among others. */
export interface KeyClient {
  /** As `client` of the decision. */
  readonly client: string;
  /** How much of the process it gets when there is not enough for all, compared with a client of weight 1. */
  readonly weight: number;
}

const WORK_ALLOWED: WorkDecision = { kind: 'allowed' };

/** No limit, and nothing is counted. */
export const unlimitedWork: WorkBudget = { take: () => WORK_ALLOWED, settle: () => {} };

/** Mode `open`: all requests are allowed, with or without a key; the limits of the HTTP server hold anyway. */
export const openAccess: Access = {
  check: ({ clientAddress }) => ({
    kind: 'allowed',
    plan: 'open',
    key: null,
    group: null,
    client: addressBlock(clientAddress),
    work: unlimitedWork,
  }),
};

/** Requests of a plan on a network, since the start. */
export interface PlanMetrics {
  readonly plan: string;
  readonly network: string;
  readonly allowed: number;
  /** Refused because of the rate. */
  readonly limited_by_rate: number;
  /** Refused because of the daily quota. */
  readonly limited_by_quota: number;
  /** Calls that were refused because of the budget of work. */
  readonly limited_by_work: number;
  /** Work that was done, in work units. */
  readonly work: number;
}

/** Metrics of access control. Counts are since the start. */
export interface AccessMetrics {
  readonly plans: readonly PlanMetrics[];
  /** Requests with a key that is unknown, revoked or expired. */
  readonly unknown_keys: number;
  /** Requests with a key that is not for the network. */
  readonly networks_refused: number;
  /** Keys that are not revoked. */
  readonly keys: number;
  /** Client addresses in memory. */
  readonly addresses: number;
  /** Attempts to store usage that failed. */
  readonly usage_failures: number;
  /** `null` without Redis. */
  readonly redis: RedisMetrics | null;
}

export interface RedisMetrics {
  readonly up: boolean;
  /** Requests that Redis counted. */
  readonly checks: number;
  /** Requests that were counted in this process because Redis did not answer. */
  readonly fallbacks: number;
  /** Outages of Redis. */
  readonly outages: number;
}

/** Metrics of API keys and limits. */
export const accessMetricRows: readonly MetricRow<AccessMetrics>[] = [
  {
    name: 'tern_access_requests_total',
    help: 'Requests by plan and outcome',
    kind: 'counter',
    labels: ['plan', 'network', 'outcome'],
    read: ({ plans }) =>
      plans.flatMap(({ plan, network, allowed, limited_by_rate, limited_by_quota, limited_by_work }): Sample[] => [
        [{ plan, network, outcome: 'allowed' }, allowed],
        [{ plan, network, outcome: 'limited_by_rate' }, limited_by_rate],
        [{ plan, network, outcome: 'limited_by_quota' }, limited_by_quota],
        [{ plan, network, outcome: 'limited_by_work' }, limited_by_work],
      ]),
  },
  {
    name: 'tern_access_work_units_total',
    help: 'Work done by plan, in work units of about 1 ms of CPU time',
    kind: 'counter',
    labels: ['plan', 'network'],
    read: ({ plans }) => plans.map(({ plan, network, work }): Sample => [{ plan, network }, work]),
  },
  accessMetric(
    'counter',
    'unknown_keys_total',
    'Requests with an unknown, revoked or expired key',
    (m) => m.unknown_keys,
  ),
  accessMetric(
    'counter',
    'networks_refused_total',
    'Requests with a key for another network',
    (m) => m.networks_refused,
  ),
  accessMetric('gauge', 'keys', 'Active keys', (m) => m.keys),
  accessMetric('gauge', 'addresses', 'Client addresses in memory', (m) => m.addresses),
  accessMetric('counter', 'usage_failures_total', 'Failed writes of usage', (m) => m.usage_failures),
  redisMetric('gauge', 'up', '1 when Redis answers', (m) => Number(m.up)),
  redisMetric('counter', 'checks_total', 'Requests counted by Redis', (m) => m.checks),
  redisMetric(
    'counter',
    'fallbacks_total',
    'Requests counted locally because Redis did not answer',
    (m) => m.fallbacks,
  ),
  redisMetric('counter', 'outages_total', 'Outages of Redis', (m) => m.outages),
];

function accessMetric(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: AccessMetrics) => number,
): MetricRow<AccessMetrics> {
  return { name: `tern_access_${name}`, help, kind, read };
}

/** No samples without Redis. */
function redisMetric(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: NonNullable<AccessMetrics['redis']>) => number,
): MetricRow<AccessMetrics> {
  return {
    name: `tern_access_redis_${name}`,
    help,
    kind,
    read: (metrics) => (metrics.redis === null ? [] : [[{}, read(metrics.redis)]]),
  };
}
