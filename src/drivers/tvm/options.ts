import { availableParallelism } from 'node:os';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';

/** What the pool needs from outside. */
export interface TvmModules {
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** Everything that can be set. Times are in milliseconds. */
export interface TvmSettings {
  /** Threads that run contracts, 60 MB or so each. 1 to 256; default: as many as the machine has cores, at most 8. */
  readonly workers: number;
  /** Threads that stand by for one that has to be stopped. 0 to 16; default 1. */
  readonly spares: number;
  /** Runs that wait for a worker; more of them are refused. Default 1,024. */
  readonly maxWaiting: number;
  /** A run that takes longer is stopped, and its worker with it. 1 to 2^31 - 1; default 5 s. */
  readonly timeoutMs: number;
  /** A run that no worker takes within this time is refused. 1 to 2^31 - 1; default 10 s. */
  readonly queueTimeoutMs: number;
  /** The most gas that a request for a get method may ask for. 1 to 2^31 - 1; default 100,000,000. */
  readonly maxGas: number;
  /** Configurations of networks that are kept ready, here and in each worker. 1 to 64; default 4. */
  readonly configs: number;
  /** An emulator whose memory has grown above this is replaced by a fresh one. 32 MiB to 2 GiB; default 256 MiB. */
  readonly emulatorBytes: number;
}

export type TvmOptions = Partial<TvmSettings>;

const MIB = 2 ** 20;
const INT31 = 2 ** 31 - 1;

const BOUNDS: Readonly<Record<keyof TvmSettings, readonly [least: number, most: number, usual: number]>> = {
  workers: [1, 256, Math.min(availableParallelism(), 8)],
  spares: [0, 16, 1],
  maxWaiting: [0, INT31, 1_024],
  timeoutMs: [1, INT31, 5_000],
  queueTimeoutMs: [1, INT31, 10_000],
  maxGas: [1, INT31, 100_000_000],
  configs: [1, 64, 4],
  emulatorBytes: [32 * MIB, 2_048 * MIB, 256 * MIB],
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
