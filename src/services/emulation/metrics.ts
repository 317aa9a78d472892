import type { MetricRow } from '#kernel/metric-rows.js';
import type { GetMethodsMode } from '#services/emulation/options.js';

/** Counts since the creation of the service. */
export interface ContractsMetrics {
  /** Get methods run locally on proven state. */
  readonly local_runs: number;
  /** Get methods run by nodes. */
  readonly node_runs: number;
  readonly fee_estimates: number;
  /** Traces that were asked for. */
  readonly traces: number;
  /** Transactions of emulated traces. */
  readonly emulated_transactions: number;
  /** Configurations fetched: one for each key block. */
  readonly config_fetches: number;
  readonly library_fetches: number;
  /** Fetches of previous blocks, which few contracts read. */
  readonly prev_blocks_fetches: number;
}

/** Where get methods run. */
export type GetMethodLocation =
  | { readonly ran_on: 'local'; readonly reason: null }
  | { readonly ran_on: 'node' | 'nowhere'; readonly reason: string };

/** Status of the service for operators. */
export type ContractsStatus = GetMethodLocation & {
  readonly mode: GetMethodsMode;
  /** Global version of the network (configuration parameter 8); `null` before the first run. */
  readonly network_version: number | null;
  /** The newest global version that the emulator supports. */
  readonly emulator_version: number;
};

/** Metrics of the contract service. */
export const contractMetricRows: readonly MetricRow<ContractsMetrics>[] = [
  row('local_runs_total', 'Get-methods run locally on proven state', (m) => m.local_runs),
  row('node_runs_total', 'Get-methods run by liteservers', (m) => m.node_runs),
  row('traces_total', 'Emulations of a message and all that follows from it', (m) => m.traces),
  row('emulated_transactions_total', 'Transactions of emulated traces', (m) => m.emulated_transactions),
  row('config_fetches_total', 'Configurations fetched: one for each key block', (m) => m.config_fetches),
  row('library_fetches_total', 'Libraries fetched', (m) => m.library_fetches),
  row('prev_blocks_fetches_total', 'Fetches of previous blocks', (m) => m.prev_blocks_fetches),
];

function row(name: string, help: string, read: (metrics: ContractsMetrics) => number): MetricRow<ContractsMetrics> {
  return { name: `tern_contracts_${name}`, help, kind: 'counter', read };
}
