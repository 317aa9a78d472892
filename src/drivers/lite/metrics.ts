import type { ServerHealthState } from '#drivers/lite/server-health.js';
import type { MetricRow, Sample } from '#kernel/metric-rows.js';

/** How one server is. Counts are since the pool was made; times in seconds, null before the first measurement. */
export interface ServerMetrics {
  /** `host:port` */
  readonly server: string;
  readonly state: ServerHealthState;
  /** Why it is in this state; empty when it is healthy. */
  readonly reason: string;
  /** Seconds left in quarantine; 0 when it is not in it. */
  readonly quarantine_seconds: number;
  readonly quarantines: number;
  readonly requests: number;
  readonly answers: number;
  /** By code of `liteServer.error`, or by code of the error on this side. */
  readonly errors: Readonly<Record<string, number>>;
  /** Second requests that this server got because another one was slow. */
  readonly hedges: number;
  readonly in_flight: number;
  readonly waiting: number;
  /** Newest masterchain seqno that it has claimed; 0 before. */
  readonly seqno: number;
  /** Blocks behind the others. */
  readonly lag: number;
  /** Seconds since it claimed its newest block. */
  readonly seqno_age_seconds: number | null;
  readonly rtt_mean_seconds: number | null;
  readonly rtt_p50_seconds: number | null;
  readonly rtt_p95_seconds: number | null;
  /** By how much its clock is ahead of ours. */
  readonly clock_skew_seconds: number | null;
  /** `0x101` is 257; 0 when it does not say. */
  readonly version: number;
  readonly capabilities: bigint;
  /** Oldest masterchain seqno whose block is known to be there; null when not known. */
  readonly oldest_block: number | null;
  /** The same for states. */
  readonly oldest_state: number | null;
  readonly is_archive: boolean;
}

/** How the pool is. */
export interface PoolMetrics {
  readonly head_seqno: number;
  readonly requests: number;
  /** Requests that ended with an error. */
  readonly failures: number;
  readonly in_flight: number;
  readonly waiting: number;
  /** Requests refused because too many waited. */
  readonly overloads: number;
  readonly hedges: number;
  /** Requests that shared the answer to an equal one under way. */
  readonly single_flight_joins: number;
  readonly cache_hits: number;
  readonly cache_misses: number;
  readonly cache_bytes: number;
  readonly cache_entries: number;
  readonly cache_evictions: number;
  readonly servers: readonly ServerMetrics[];
}

/** Pools of liteservers. */
export const liteMetricRows: readonly MetricRow<PoolMetrics>[] = [
  gauge('head_seqno', 'Newest masterchain seqno that a healthy server has claimed', (pool) => pool.head_seqno),
  counter('requests_total', 'Reads asked of the pool', (pool) => pool.requests),
  counter('failures_total', 'Reads that no server answered', (pool) => pool.failures),
  gauge('in_flight_requests', 'Reads under way', (pool) => pool.in_flight),
  gauge('waiting_requests', 'Reads that wait for a turn', (pool) => pool.waiting),
  counter('overloads_total', 'Reads refused because too many waited', (pool) => pool.overloads),
  counter('hedges_total', 'Second requests for answers that were slow', (pool) => pool.hedges),
  counter('shared_total', 'Reads that shared the answer to an equal one under way', (pool) => pool.single_flight_joins),
  counter('cache_hits_total', 'Reads answered from memory', (pool) => pool.cache_hits),
  counter('cache_misses_total', 'Reads that might have been in memory and were not', (pool) => pool.cache_misses),
  counter('cache_evictions_total', 'Answers dropped to make room', (pool) => pool.cache_evictions),
  gauge('cache_bytes', 'What the kept answers take in memory', (pool) => pool.cache_bytes),
  gauge('cache_entries', 'How many answers are kept', (pool) => pool.cache_entries),
  {
    name: 'tern_lite_server_state',
    help: 'Servers by state: 1 for the state that a server is in',
    kind: 'gauge',
    labels: ['server', 'state'],
    read: ({ servers }) => servers.map(({ server, state }): Sample => [{ server, state }, 1]),
  },
  ofServers('gauge', 'server_seqno', 'Newest masterchain seqno that the server has claimed', ({ seqno }) => seqno),
  ofServers('gauge', 'server_lag_blocks', 'Blocks that the server is behind the others', ({ lag }) => lag),
  ofServers(
    'gauge',
    'server_seqno_age_seconds',
    'Time since the server claimed its newest block',
    (server) => server.seqno_age_seconds,
  ),
  ofServers('counter', 'server_requests_total', 'Queries sent to the server', ({ requests }) => requests),
  ofServers('counter', 'server_answers_total', 'Answers of the server that were true', ({ answers }) => answers),
  ofServers(
    'counter',
    'server_hedges_total',
    'Queries the server got because another one was slow',
    ({ hedges }) => hedges,
  ),
  {
    name: 'tern_lite_server_errors_total',
    help: 'Failures of the server, by code',
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
    'How often the server was left alone because an answer was not true',
    (server) => server.quarantines,
  ),
  ofServers('gauge', 'server_in_flight_requests', 'Queries that the server works on', ({ in_flight }) => in_flight),
  {
    name: 'tern_lite_server_rtt_seconds',
    help: 'Time that the server takes to answer, by quantile',
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
    "By how much the server's clock is ahead",
    (server) => server.clock_skew_seconds,
  ),
  ofServers('gauge', 'server_archive', '1 for a server that has everything from the first block on', ({ is_archive }) =>
    Number(is_archive),
  ),
];

function counter(name: string, help: string, read: (pool: PoolMetrics) => number): MetricRow<PoolMetrics> {
  return { name: `tern_lite_${name}`, help, kind: 'counter', read };
}

function gauge(name: string, help: string, read: (pool: PoolMetrics) => number): MetricRow<PoolMetrics> {
  return { name: `tern_lite_${name}`, help, kind: 'gauge', read };
}

/** A metric with a value for each server; none while it is not known. */
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
