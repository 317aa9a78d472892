import type { MetricRow, Sample } from '#app/telemetry/metric-rows.js';
import type { TvmMetrics } from '#drivers/tvm/metrics.js';

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
