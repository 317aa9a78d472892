import { type MetricRow, rowsNamed } from '#kernel/metric-rows.js';

/** Counts since the start; times in seconds. */
export interface LookUpMetrics {
  /** Requests for which accounts were read from the chain, and how long they waited for it. */
  readonly requests: number;
  readonly seconds: number;
  /** Accounts that were read and added to the index, and those that did not exist. */
  readonly found: number;
  readonly absent: number;
  /** Accounts that no server could be asked for in time. */
  readonly failed: number;
  /** Accounts that were not read because their request named too many. */
  readonly limited: number;
  /** Contracts that were not detected within the time of the request. */
  readonly undetected: number;
  /** Accounts that are being read. */
  readonly running: number;
  /** Reads that joined one of the same account. */
  readonly joined: number;
}

const row = rowsNamed<LookUpMetrics>('tern_lookups_');

/** Metrics of look-ups. */
export const lookUpMetricRows: readonly MetricRow<LookUpMetrics>[] = [
  row('counter', 'requests_total', 'Requests for which accounts were read from the chain', (m) => m.requests),
  row('counter', 'seconds_total', 'Time that these requests waited for it', (m) => m.seconds),
  row('counter', 'found_total', 'Accounts read from the chain and added to the index', (m) => m.found),
  row('counter', 'absent_total', 'Accounts that were looked up and do not exist', (m) => m.absent),
  row('counter', 'failed_total', 'Accounts that could not be read in time', (m) => m.failed),
  row('counter', 'limited_total', 'Accounts not read because the request named too many', (m) => m.limited),
  row('counter', 'undetected_total', 'Contracts not detected within the time of the request', (m) => m.undetected),
  row('counter', 'joined_total', 'Reads that joined a read of the same account', (m) => m.joined),
  row('gauge', 'running', 'Accounts that are being read', (m) => m.running),
];
