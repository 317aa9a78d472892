import type { MetricRow } from '#app/telemetry/metric-rows.js';
import type { ContractsMetrics } from '#services/contracts/status.js';

/** What runs contracts on proven state. */
export const contractMetricRows: readonly MetricRow<ContractsMetrics>[] = [
  row('local_runs_total', 'Get-methods that ran here, on proven state', (m) => m.local_runs),
  row('node_runs_total', 'Get-methods that liteservers ran', (m) => m.node_runs),
  row('config_fetches_total', 'Configurations that were fetched: one for each key block', (m) => m.config_fetches),
  row('library_fetches_total', 'Libraries that were fetched', (m) => m.library_fetches),
  row('prev_blocks_fetches_total', 'Questions for the blocks before a block', (m) => m.prev_blocks_fetches),
];

function row(name: string, help: string, read: (metrics: ContractsMetrics) => number): MetricRow<ContractsMetrics> {
  return { name: `tern_contracts_${name}`, help, kind: 'counter', read };
}
