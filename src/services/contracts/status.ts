import type { GetMethodsMode } from '#services/contracts/options.js';

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
export type GetMethodsPlace =
  | { readonly ran_on: 'local'; readonly reason: null }
  | { readonly ran_on: 'node' | 'nowhere'; readonly reason: string };

/** How the service stands, for whoever looks after it. */
export type ContractsStatus = GetMethodsPlace & {
  readonly mode: GetMethodsMode;
  /** Global version of the network (parameter 8); `null` before the first run. */
  readonly network_version: number | null;
  /** The newest global version whose rules the emulator has. */
  readonly emulator_version: number;
};
