import { pendingErrors } from '#services/pending/errors.js';

/** Limits of pending traces. */
export interface PendingOptions {
  /** Messages with their traces; when there are more, final ones go, then the oldest. */
  readonly mostTraces?: number;
  /** Transactions of all traces. */
  readonly mostTransactions?: number;
  /** Bytes of account states that emulations keep, of all traces. */
  readonly mostBytes?: number;
  /** Transactions of one trace; it is cut then. */
  readonly mostTransactionsOfTrace?: number;
  /** Live messages to one account; further ones are not followed. */
  readonly mostOfAccount?: number;
  /** Concurrent emulations. */
  readonly emulationsAtOnce?: number;
  /** Emulations that wait. */
  readonly mostWaiting?: number;
  /** Milliseconds of elapsed time of an emulation. */
  readonly emulationTimeoutMs?: number;
  /** A message that no block included is dropped after these milliseconds; nodes drop it after 600 s. */
  readonly lifetimeMs?: number;
  /** A trace that began in a block and did not change for these milliseconds is left to the index. */
  readonly restMs?: number;
  /** Hashes of messages that ended without a transaction, with the reason. */
  readonly mostEnded?: number;
}

/** The options with defaults applied. */
export type PendingSettings = Required<PendingOptions>;

/** Default, minimum and maximum of the options. */
const LIMITS = {
  mostTraces: { default: 10_000, min: 1, max: 1_000_000 },
  mostTransactions: { default: 100_000, min: 1, max: 10_000_000 },
  mostBytes: { default: 256 * 2 ** 20, min: 2 ** 20, max: 2 ** 40 },
  mostTransactionsOfTrace: { default: 1_000, min: 1, max: 100_000 },
  mostOfAccount: { default: 256, min: 1, max: 100_000 },
  emulationsAtOnce: { default: 4, min: 1, max: 64 },
  mostWaiting: { default: 1_000, min: 1, max: 100_000 },
  emulationTimeoutMs: { default: 5_000, min: 1, max: 60_000 },
  lifetimeMs: { default: 600_000, min: 1, max: 86_400_000 },
  restMs: { default: 60_000, min: 1, max: 86_400_000 },
  mostEnded: { default: 20_000, min: 1, max: 1_000_000 },
} as const;

/** Fills in defaults and checks bounds. @throws pending/option */
export function checkPendingOptions(options: PendingOptions): PendingSettings {
  const settings = Object.entries(LIMITS).map(([name, { default: fallback, min, max }]) => {
    const found = options[name as keyof PendingOptions] ?? fallback;
    if (!Number.isInteger(found) || found < min || found > max) {
      throw pendingErrors.option({ name, found, min, max });
    }
    return [name, found] as const;
  });
  return Object.fromEntries(settings) as unknown as PendingSettings;
}
