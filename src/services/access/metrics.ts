/** Requests of a plan on a network, since the start. */
export interface PlanMetrics {
  readonly plan: string;
  readonly network: string;
  readonly allowed: number;
  /** Refused because of the rate. */
  readonly limited_by_rate: number;
  /** Refused because of the daily quota. */
  readonly limited_by_quota: number;
}

/** How access is. Counts are since the start. */
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
  /** How often it went down. */
  readonly outages: number;
}
