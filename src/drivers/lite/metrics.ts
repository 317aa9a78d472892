import type { ServerHealthState } from '#drivers/lite/server-health.js';
import type { MetricRow, Sample } from '#kernel/metric-rows.js';

/** State of one server. Counts since the creation of the pool; times in seconds, null before the first measurement. */
export interface ServerMetrics {
  /** `host:port` */
  readonly server: string;
  readonly state: ServerHealthState;
  /** Reason for the state; empty when healthy. */
  readonly reason: string;
  /** Remaining seconds of the quarantine; 0 when there is none. */
  readonly quarantine_seconds: number;
  readonly quarantines: number;
  readonly requests: number;
  readonly answers: number;
  /** By code of `liteServer.error`, or by error code of this side. */
  readonly errors: Readonly<Record<string, number>>;
  /** Hedged queries sent to this server because another one was slow. */
  readonly hedges: number;
  readonly in_flight: number;
  readonly waiting: number;
  /** Newest masterchain seqno claimed by the server; 0 when unknown. */
  readonly seqno: number;
  /** Number of blocks behind the pool. */
  readonly lag: number;
  /** Seconds since the server claimed its newest block. */
  readonly seqno_age_seconds: number | null;
  readonly rtt_mean_seconds: number | null;
  readonly rtt_p50_seconds: number | null;
  readonly rtt_p95_seconds: number | null;
  /** Offset of the server's clock to the local clock; positive when ahead. */
  readonly clock_skew_seconds: number | null;
  /** `0x101` is 257; 0 when unknown. */
  readonly version: number;
  readonly capabilities: bigint;
  /** Oldest masterchain seqno whose block is available; null when unknown. */
  readonly oldest_block: number | null;
  /** The same for states. */
  readonly oldest_state: number | null;
  readonly is_archive: boolean;
}

/** State of the pool. */
export interface PoolMetrics {
  readonly head_seqno: number;
  readonly requests: number;
  /** Requests that failed. */
  readonly failures: number;
  readonly in_flight: number;
  readonly waiting: number;
  /** Requests refused because of a full queue. */
  readonly overloads: number;
  readonly hedges: number;
  /** Requests coalesced with an identical request in flight. */
  readonly single_flight_joins: number;
  readonly cache_hits: number;
  readonly cache_misses: number;
  readonly cache_bytes: number;
  readonly cache_entries: number;
  readonly cache_evictions: number;
  readonly servers: readonly ServerMetrics[];
}

/** Metrics of liteserver pools. */
export const liteMetricRows: readonly MetricRow<PoolMetrics>[] = [
  gauge('head_seqno', 'Newest masterchain seqno claimed by a healthy server', (pool) => pool.head_seqno),
  counter('requests_total', 'Requests to the pool', (pool) => pool.requests),
  counter('failures_total', 'Requests that failed', (pool) => pool.failures),
  gauge('in_flight_requests', 'Requests in flight', (pool) => pool.in_flight),
  gauge('waiting_requests', 'Queued requests', (pool) => pool.waiting),
  counter('overloads_total', 'Requests refused because the queue was full', (pool) => pool.overloads),
  counter('hedges_total', 'Hedged queries, sent because an answer was slow', (pool) => pool.hedges),
  counter('shared_total', 'Requests coalesced with an identical request in flight', (pool) => pool.single_flight_joins),
  counter('cache_hits_total', 'Requests answered from the cache', (pool) => pool.cache_hits),
  counter('cache_misses_total', 'Cacheable requests that were not in the cache', (pool) => pool.cache_misses),
  counter('cache_evictions_total', 'Answers evicted from the cache', (pool) => pool.cache_evictions),
  gauge('cache_bytes', 'Size of the cached answers', (pool) => pool.cache_bytes),
  gauge('cache_entries', 'Number of cached answers', (pool) => pool.cache_entries),
  {
    name: 'tern_lite_server_state',
    help: 'Servers by state: 1 for the current state of a server',
    kind: 'gauge',
    labels: ['server', 'state'],
    read: ({ servers }) => servers.map(({ server, state }): Sample => [{ server, state }, 1]),
  },
  ofServers('gauge', 'server_seqno', 'Newest masterchain seqno claimed by the server', ({ seqno }) => seqno),
  ofServers('gauge', 'server_lag_blocks', 'Number of blocks that the server is behind the pool', ({ lag }) => lag),
  ofServers(
    'gauge',
    'server_seqno_age_seconds',
    'Time since the server claimed its newest block',
    (server) => server.seqno_age_seconds,
  ),
  ofServers('counter', 'server_requests_total', 'Queries sent to the server', ({ requests }) => requests),
  ofServers('counter', 'server_answers_total', 'Valid answers of the server', ({ answers }) => answers),
  ofServers(
    'counter',
    'server_hedges_total',
    'Hedged queries sent to the server because another one was slow',
    ({ hedges }) => hedges,
  ),
  {
    name: 'tern_lite_server_errors_total',
    help: 'Failures of the server by error code',
    kind: 'counter',
    labels: ['server', 'code'],
    read: ({ servers }) =>
      servers.flatMap(({ server, errors }) =>
        Object.entries(errors).map(([code, times]): Sample => [{ server, code }, times]),
      ),
  },
  ofServers(
    'counter',
    'server_quarantines_total',
    'Quarantines of the server because of an invalid answer',
    (server) => server.quarantines,
  ),
  ofServers('gauge', 'server_in_flight_requests', 'Queries in flight to the server', ({ in_flight }) => in_flight),
  {
    name: 'tern_lite_server_rtt_seconds',
    help: 'Latency of the server, by quantile',
    kind: 'gauge',
    labels: ['server', 'quantile'],
    read: ({ servers }) =>
      servers.flatMap(({ server, rtt_p50_seconds, rtt_p95_seconds }) =>
        (
          [
            ['0.5', rtt_p50_seconds],
            ['0.95', rtt_p95_seconds],
          ] as const
        ).flatMap(([quantile, value]): Sample[] => (value === null ? [] : [[{ server, quantile }, value]])),
      ),
  },
  ofServers(
    'gauge',
    'server_clock_skew_seconds',
    'Clock skew of the server; positive when its clock is ahead',
    (server) => server.clock_skew_seconds,
  ),
  ofServers(
    'gauge',
    'server_archive',
    '1 for an archive server, which has everything from the first block',
    ({ is_archive }) => Number(is_archive),
  ),
];

function counter(name: string, help: string, read: (pool: PoolMetrics) => number): MetricRow<PoolMetrics> {
  return { name: `tern_lite_${name}`, help, kind: 'counter', read };
}

function gauge(name: string, help: string, read: (pool: PoolMetrics) => number): MetricRow<PoolMetrics> {
  return { name: `tern_lite_${name}`, help, kind: 'gauge', read };
}

/** A metric with a value for each server; no sample while the value is unknown. */
function ofServers(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (server: ServerMetrics) => number | null,
): MetricRow<PoolMetrics> {
  return {
    name: `tern_lite_${name}`,
    help,
    kind,
    labels: ['server'],
    *read({ servers }) {
      for (const each of servers) {
        const value = read(each);
        if (value !== null) yield [{ server: each.server }, value];
      }
    },
  };
}
