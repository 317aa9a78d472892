import { type MetricRow, rowsNamed, type Sample } from '#kernel/metric-rows.js';

/** State of the pool. Counts since its creation, times in seconds. */
export interface TvmMetrics {
  /** Active worker threads. */
  readonly workers: number;
  /** Spare worker threads. */
  readonly spares: number;
  /** Threads for slow runs. */
  readonly slow_workers: number;
  readonly busy: number;
  readonly waiting: number;
  /** Of these, slow runs. */
  readonly waiting_slow: number;
  readonly get_methods: number;
  /** Get methods that needed the whole configuration or previous blocks. */
  readonly get_methods_with_config: number;
  readonly transactions: number;
  /** Failed runs by error code; an exception of a contract is not a failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Runs that a worker gave up: stopped by a limit, left by the client, or to be executed with a lower priority. */
  readonly interrupted: number;
  /** Workers replaced after a crash, or because they did not give up a run. */
  readonly replaced: number;
  /** Runs that turned out to be slow, and were executed anew with a lower priority. */
  readonly demoted: number;
  /** Requests that were answered from the memory of a run that a limit ended. */
  readonly remembered: number;
  /** Runs executed by workers: one request may need several. */
  readonly runs: number;
  /** CPU time; elapsed time where the system does not tell. */
  readonly run_seconds: number;
  /** Of this, on threads for slow runs. */
  readonly slow_run_seconds: number;
  /** Time in the queue. */
  readonly wait_seconds: number;
  /** Peak memory of an emulator of the pool. */
  readonly emulator_bytes: number;
}

const row = rowsNamed<TvmMetrics>('tern_tvm_');

/** Metrics of TVM pools. */
export const tvmMetricRows: readonly MetricRow<TvmMetrics>[] = [
  row('gauge', 'workers', 'Active worker threads', (m) => m.workers),
  row('gauge', 'busy_workers', 'Busy worker threads', (m) => m.busy),
  row('gauge', 'waiting_runs', 'Queued runs', (m) => m.waiting),
  row('gauge', 'slow_workers', 'Worker threads for slow runs', (m) => m.slow_workers),
  row('gauge', 'waiting_slow_runs', 'Queued runs that are known to be slow', (m) => m.waiting_slow),
  row('counter', 'demoted_runs_total', 'Runs that turned out to be slow and got a lower priority', (m) => m.demoted),
  row(
    'counter',
    'remembered_runs_total',
    'Requests that were not run because the same run was ended by a limit before',
    (m) => m.remembered,
  ),
  row('counter', 'get_methods_total', 'Get-methods requested', (m) => m.get_methods),
  row(
    'counter',
    'get_methods_with_config_total',
    'Get-methods that needed the whole configuration',
    (m) => m.get_methods_with_config,
  ),
  row('counter', 'transactions_total', 'Transactions emulated', (m) => m.transactions),
  row('counter', 'runs_total', 'Runs executed by workers', (m) => m.runs),
  row('counter', 'run_seconds_total', 'Total CPU time of runs', (m) => m.run_seconds),
  row('counter', 'slow_run_seconds_total', 'Of this, on threads of low priority', (m) => m.slow_run_seconds),
  row('counter', 'wait_seconds_total', 'Total time of runs in the queue', (m) => m.wait_seconds),
  row(
    'counter',
    'replaced_workers_total',
    'Workers replaced after a crash, or because they did not give up a run',
    (m) => m.replaced,
  ),
  row('counter', 'interrupted_runs_total', 'Runs that a worker gave up', (m) => m.interrupted),
  row('gauge', 'emulator_bytes', 'Peak memory of an emulator', (m) => m.emulator_bytes),
  {
    name: 'tern_tvm_failures_total',
    help: 'Failed runs by error code; an exception of a contract is not a failure',
    kind: 'counter',
    labels: ['code'],
    read: ({ failures }) => Object.entries(failures).map(([code, times]): Sample => [{ code }, times]),
  },
];
