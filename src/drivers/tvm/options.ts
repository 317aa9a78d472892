import { availableParallelism } from 'node:os';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { BEHIND } from '#kernel/os-thread.js';

/** Dependencies of the pool. */
export interface TvmModules {
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** Settings with defaults applied. Times are in milliseconds. */
export interface TvmSettings {
  /** Worker threads, about 60 MB each. 1 to 256; default: the number of CPU cores, at most 8. */
  readonly workers: number;
  /** How many steps of the nice value workers and spares are behind the main thread. 0 to 19; default 5. */
  readonly nice: number;
  /** Spare threads that replace a stopped worker. 0 to 16; default 1. */
  readonly spares: number;
  /** Maximum queued runs; further ones are refused. Default 1,024. */
  readonly maxWaiting: number;
  /** Maximum queued runs of a client. 0 to 2^31 - 1; default 1,024. */
  readonly maxWaitingOfClient: number;
  /** Maximum queued runs of a client for one contract. 0 to 2^31 - 1; default 1,024. */
  readonly maxWaitingOfContract: number;
  /** Timeout of a run, in elapsed time; its worker is stopped. 1 to 2^31 - 1; default 5 s. */
  readonly timeoutMs: number;
  /** Maximum CPU time of all runs of a request; its worker is stopped. 1 to 2^31 - 1; default 5 s. */
  readonly cpuMs: number;
  /**
   * Threads for slow runs beside the workers: they have a lower priority and are started when they are needed. 0 to 64;
   * default 0: then slow runs are not separated from the others.
   */
  readonly slowWorkers: number;
  /** A run with more CPU milliseconds is slow; four times as many for the first runs of a thread. 1 to 2^31 - 1; default 25. */
  readonly slowMs: number;
  /** How long slow runs, and those that were ended by a limit, are remembered. 0 to 2^31 - 1; default 0: not at all. */
  readonly rememberMs: number;
  /**
   * CPU time that runs of a client may take in a minute if they are ended by a limit or left by the client; when it is used up,
   * only methods that are known to be quick are run for it. 0 to 2^31 - 1; default 0: any.
   */
  readonly endedCpuMs: number;
  /** Maximum time in the queue. 1 to 2^31 - 1; default 10 s. */
  readonly queueTimeoutMs: number;
  /** Maximum time of slow runs in the queue, if it is shorter. 1 to 2^31 - 1; default 2^31 - 1. */
  readonly slowQueueTimeoutMs: number;
  /** Maximum gas limit of a get method request. 1 to 2^31 - 1; default 100,000,000. */
  readonly maxGas: number;
  /** Cached network configurations, in the pool and in each worker. 1 to 64; default 4. */
  readonly configs: number;
  /** An emulator with more memory than this after a run is replaced. 32 MiB to 2 GiB; default 256 MiB. */
  readonly emulatorBytes: number;
  /** Maximum memory of an emulator; a run that needs more is ended. 32 MiB to 2 GiB; default 2 GiB. */
  readonly maxEmulatorBytes: number;
}

export type TvmOptions = Partial<TvmSettings>;

const MIB = 2 ** 20;
const INT31 = 2 ** 31 - 1;

const BOUNDS: Readonly<Record<keyof TvmSettings, readonly [least: number, most: number, usual: number]>> = {
  workers: [1, 256, Math.min(availableParallelism(), 8)],
  nice: [0, 19, BEHIND.worker],
  spares: [0, 16, 1],
  maxWaiting: [0, INT31, 1_024],
  maxWaitingOfClient: [0, INT31, 1_024],
  maxWaitingOfContract: [0, INT31, 1_024],
  timeoutMs: [1, INT31, 5_000],
  cpuMs: [1, INT31, 5_000],
  slowWorkers: [0, 64, 0],
  slowMs: [1, INT31, 25],
  rememberMs: [0, INT31, 0],
  endedCpuMs: [0, INT31, 0],
  queueTimeoutMs: [1, INT31, 10_000],
  slowQueueTimeoutMs: [1, INT31, INT31],
  maxGas: [1, INT31, 100_000_000],
  configs: [1, 64, 4],
  emulatorBytes: [32 * MIB, 2_048 * MIB, 256 * MIB],
  maxEmulatorBytes: [32 * MIB, 2_048 * MIB, 2_048 * MIB],
};

/** Fills in defaults and checks bounds. @throws tvm/bad-option */
export function checkTvmSettings(options: TvmOptions): TvmSettings {
  const settings: Record<string, number> = {};
  for (const option of Object.keys(BOUNDS) as (keyof TvmSettings)[]) {
    const [least, most, usual] = BOUNDS[option];
    const value = options[option] ?? usual;
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      const accepted = `a whole number from ${least} to ${most}`;
      throw tvmErrors['bad-option']({ option, found: String(value), accepted });
    }
    settings[option] = value;
  }
  return settings as unknown as TvmSettings;
}
