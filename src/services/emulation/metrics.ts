import type { MetricRow } from '#kernel/metric-rows.js';
import type { GetMethodsMode } from '#services/emulation/options.js';

/** Counts since the service was made. */
export interface ContractsMetrics {
  /** Get methods that ran here, on proven state. */
  readonly local_runs: number;
  /** Get methods that nodes ran. */
  readonly node_runs: number;
  readonly fee_estimates: number;
  /** Configurations that were fetched: one for each key block. */
  readonly config_fetches: number;
  readonly library_fetches: number;
  /** Questions for the blocks before a block, which few contracts look at. */
  readonly prev_blocks_fetches: number;
}

/** Where get methods run. */
export type GetMethodLocation =
  | { readonly ran_on: 'local'; readonly reason: null }
  | { readonly ran_on: 'node' | 'nowhere'; readonly reason: string };

/** How the service stands, for whoever looks after it. */
export type ContractsStatus = GetMethodLocation & {
  readonly mode: GetMethodsMode;
  /** Global version of the network (parameter 8); `null` before the first run. */
  readonly network_version: number | null;
  /** The newest global version whose rules the emulator has. */
  readonly emulator_version: number;
};

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
