import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';

/**
 * Where get methods run.
 *
 * - `auto`: here, on proven state; on a liteserver when the network has newer rules than the emulator
 * - `local`: here, or not at all
 * - `node`: on a liteserver
 */
export type GetMethodsMode = 'auto' | 'local' | 'node';

const MODES: readonly string[] = ['auto', 'local', 'node'] satisfies readonly GetMethodsMode[];

/** How contracts are run, and the limits. */
export interface ContractOptions {
  /** Default: `auto`. */
  readonly getMethods?: GetMethodsMode;
  /** How much gas a get method may use when it runs here; nodes have a limit of their own, 300,000. */
  readonly getMethodGas?: number;
  /** How long one run may take, in milliseconds. */
  readonly runTimeoutMs?: number;
  /** How long a question may take that says nothing else, all reads and runs together, in milliseconds. */
  readonly deadlineMs?: number;
  /** Configurations that are kept: those of so many key blocks. */
  readonly configs?: number;
  /** What libraries that are kept may take, in bytes of their bags of cells. */
  readonly libraryBytes?: number;
}

/** The options with all defaults filled in. */
export type ContractSettings = Required<ContractOptions>;

/** Of each option that is a number: the default, and the smallest and largest allowed value. */
export const CONTRACT_LIMITS = {
  getMethodGas: { default: 4_000_000, min: 1, max: 100_000_000 },
  runTimeoutMs: { default: 5_000, min: 1, max: 600_000 },
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  configs: { default: 4, min: 1, max: 64 },
  libraryBytes: { default: 64 * 2 ** 20, min: 0, max: 2 ** 40 },
} as const;

/** Fills in defaults and checks bounds. @throws contracts/option */
export function checkContractOptions(options: ContractOptions): ContractSettings {
  const { getMethods = 'auto' } = options;
  if (!MODES.includes(getMethods)) {
    throw contractsErrors.option({ name: 'getMethods', found: getMethods, wanted: MODES.join(', ') });
  }
  const limited = (name: keyof typeof CONTRACT_LIMITS): number => {
    const { default: usual, min, max } = CONTRACT_LIMITS[name];
    const value = options[name] ?? usual;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw contractsErrors.option({ name, found: String(value), wanted: `a whole number from ${min} to ${max}` });
  };
  return {
    getMethods,
    getMethodGas: limited('getMethodGas'),
    runTimeoutMs: limited('runTimeoutMs'),
    deadlineMs: limited('deadlineMs'),
    configs: limited('configs'),
    libraryBytes: limited('libraryBytes'),
  };
}

/** What the service of contracts works with. */
export interface ContractModules {
  readonly chain: ChainReads;
  readonly tvm: Pick<TvmPool, 'runGetMethod' | 'emulateTransaction'>;
  /** For what is asked besides the reads of `chain`: get methods that nodes run, and proofs of previous blocks. */
  readonly askNode: LiteSource;
  readonly clock: Clock;
  readonly logger: Logger;
}
