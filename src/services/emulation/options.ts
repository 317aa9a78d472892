import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';

/**
 * Where get methods run.
 *
 * - `auto`: locally on proven state; on a liteserver when the network has newer rules than the emulator
 * - `local`: locally, or not at all
 * - `node`: on a liteserver
 */
export type GetMethodsMode = 'auto' | 'local' | 'node';

const MODES: readonly string[] = ['auto', 'local', 'node'] satisfies readonly GetMethodsMode[];

/** Options and limits of the contract service. */
export interface ContractOptions {
  /** Default: `auto`. */
  readonly getMethods?: GetMethodsMode;
  /** Gas limit of get methods that run locally; nodes have their own limit, 300,000. */
  readonly getMethodGas?: number;
  /** Timeout of one run, in milliseconds of elapsed time. */
  readonly runTimeoutMs?: number;
  /** CPU time of one request to the TVM, in milliseconds. */
  readonly cpuMs?: number;
  /** The same for clients with an API key. */
  readonly keyCpuMs?: number;
  /** Concurrent get methods on liteservers. */
  readonly nodeRuns?: number;
  /** Traces that are emulated at once. */
  readonly traces?: number;
  /** CPU time of all transactions of an emulated trace, in milliseconds. */
  readonly traceCpuMs?: number;
  /** Memory for the states of an emulated trace, in bytes. */
  readonly traceBytes?: number;
  /** Default deadline of a call, including all reads and runs, in milliseconds. */
  readonly deadlineMs?: number;
  /** Number of cached configurations. */
  readonly configs?: number;
  /** Cache size for libraries, in bytes of their BoCs. */
  readonly libraryBytes?: number;
}

/** The options with defaults applied. */
export type ContractSettings = Required<ContractOptions>;

/** Default, minimum and maximum of the numeric options. */
const CONTRACT_LIMITS = {
  getMethodGas: { default: 4_000_000, min: 1, max: 100_000_000 },
  runTimeoutMs: { default: 5_000, min: 1, max: 600_000 },
  cpuMs: { default: 500, min: 1, max: 600_000 },
  keyCpuMs: { default: 1_000, min: 1, max: 600_000 },
  nodeRuns: { default: 16, min: 1, max: 10_000 },
  traces: { default: 16, min: 1, max: 10_000 },
  traceCpuMs: { default: 2_000, min: 1, max: 600_000 },
  traceBytes: { default: 64 * 2 ** 20, min: 2 ** 20, max: 2 ** 40 },
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
    cpuMs: limited('cpuMs'),
    keyCpuMs: limited('keyCpuMs'),
    nodeRuns: limited('nodeRuns'),
    traces: limited('traces'),
    traceCpuMs: limited('traceCpuMs'),
    traceBytes: limited('traceBytes'),
    deadlineMs: limited('deadlineMs'),
    configs: limited('configs'),
    libraryBytes: limited('libraryBytes'),
  };
}

/** Dependencies of the contract service. */
export interface ContractModules {
  readonly chain: ChainReads;
  readonly tvm: Pick<TvmPool, 'runGetMethod' | 'emulateTransaction' | 'emulateTickTock'>;
  /** For queries besides the reads of `chain`: get methods run by nodes, and proofs of previous blocks. */
  readonly lite: LiteSource;
  readonly clock: Clock;
  /** Machine time, milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** Seeds of emulated blocks. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
}
