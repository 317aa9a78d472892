import type { MetricRow, Sample } from '#kernel/metric-rows.js';

/** How the pool is. Counts are since it was made, times in seconds. */
export interface TvmMetrics {
  /** Threads that take runs now. */
  readonly workers: number;
  /** Threads that stand by. */
  readonly spares: number;
  readonly busy: number;
  readonly waiting: number;
  readonly get_methods: number;
  /** Get methods that looked at the configuration or at previous blocks, so that they ran with all of it. */
  readonly get_methods_with_config: number;
  readonly transactions: number;
  /** Runs that failed, by code of the error; a contract that throws is no failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Workers stopped because of a run that took too long, or because they broke. */
  readonly replaced: number;
  /** Runs given to workers: one request may need several. */
  readonly runs: number;
  readonly run_seconds: number;
  /** Time that runs waited for a worker. */
  readonly wait_seconds: number;
  /** The largest memory that any emulator of the pool has had. */
  readonly emulator_bytes: number;
}

/** Pools of virtual machines. */
export const tvmMetricRows: readonly MetricRow<TvmMetrics>[] = [
  row('gauge', 'workers', 'Threads that take runs', (m) => m.workers),
  row('gauge', 'busy_workers', 'Threads that run something now', (m) => m.busy),
  row('gauge', 'waiting_runs', 'Runs that wait for a thread', (m) => m.waiting),
  row('counter', 'get_methods_total', 'Get-methods asked for', (m) => m.get_methods),
  row(
    'counter',
    'get_methods_with_config_total',
    'Get-methods that needed the whole configuration',
    (m) => m.get_methods_with_config,
  ),
  row('counter', 'transactions_total', 'Transactions emulated', (m) => m.transactions),
  row('counter', 'runs_total', 'Runs given to threads', (m) => m.runs),
  row('counter', 'run_seconds_total', 'Time that runs took', (m) => m.run_seconds),
  row('counter', 'wait_seconds_total', 'Time that runs waited for a thread', (m) => m.wait_seconds),
  row(
    'counter',
    'replaced_workers_total',
    'Threads stopped because of a run that took too long or broke them',
    (m) => m.replaced,
  ),
  row('gauge', 'emulator_bytes', 'The largest memory that a virtual machine has had', (m) => m.emulator_bytes),
  {
    name: 'tern_tvm_failures_total',
    help: 'Runs that failed, by the code of the error; a contract that throws is no failure',
    kind: 'counter',
    labels: ['code'],
    read: ({ failures }) => Object.entries(failures).map(([code, times]): Sample => [{ code }, times]),
  },
];

function row(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: TvmMetrics) => number,
): MetricRow<TvmMetrics> {
  return { name: `tern_tvm_${name}`, help, kind, read };
}
