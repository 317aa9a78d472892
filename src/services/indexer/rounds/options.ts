import { indexerErrors } from '#services/indexer/errors.js';

/** How rounds are fetched. */
export interface RoundOptions {
  /** For one question to servers, in milliseconds; afterwards it is asked again. */
  readonly deadlineMs: number;
  /** How long a masterchain block is waited for before that counts as a failure, in milliseconds. */
  readonly headWaitMs: number;
  /** The pause before a question is asked again; doubled each time. Milliseconds. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Least time between two reports about what does not come. Milliseconds. */
  readonly reportEveryMs: number;
  /** Rounds that are fetched ahead of the one that is taken, it included. */
  readonly aheadRounds: number;
  /** Bytes of files that are held for that; the stretch that is due next is fetched whatever it takes. */
  readonly aheadBytes: number;
  /** Most masterchain blocks that are read back from one proven block; fewer when answers take long. */
  readonly stretch: number;
  /** Files that are asked for at a time by a backfill. */
  readonly maxInFlight: number;
}

/** Of each option: the default, and the smallest and largest allowed value. */
const ROUND_LIMITS = {
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  headWaitMs: { default: 60_000, min: 1, max: 3_600_000 },
  retryMinMs: { default: 100, min: 1, max: 60_000 },
  retryMaxMs: { default: 5_000, min: 1, max: 600_000 },
  reportEveryMs: { default: 10_000, min: 0, max: 3_600_000 },
  aheadRounds: { default: 512, min: 1, max: 65_536 },
  aheadBytes: { default: 64 * 2 ** 20, min: 1, max: 2 ** 36 },
  stretch: { default: 32, min: 1, max: 1_024 },
  maxInFlight: { default: 48, min: 1, max: 1_024 },
} as const satisfies Record<keyof RoundOptions, { default: number; min: number; max: number }>;

/** Fills in defaults and checks bounds. @throws indexer/parameter */
export function roundOptions(given: Partial<RoundOptions>): RoundOptions {
  const options: Record<string, number> = {};
  for (const [name, { default: fallback, min, max }] of Object.entries(ROUND_LIMITS)) {
    options[name] = wholeNumber(name, given[name as keyof RoundOptions] ?? fallback, min, max);
  }
  return options as unknown as RoundOptions;
}

/** @throws indexer/parameter */
export function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw indexerErrors.parameter({ name, value: String(value), wanted: `a whole number from ${min} to ${max}` });
}
