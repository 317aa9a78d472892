import type { ServerState } from '#drivers/lite/server-health.js';

/** How one server is. Counts are since the pool was made; times in seconds, null before the first measurement. */
export interface ServerMetrics {
  /** `host:port` */
  readonly server: string;
  readonly state: ServerState;
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
