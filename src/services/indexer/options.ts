import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** What is indexed, and how. */
export interface IndexerOptions {
  /** Of the masterchain: names the network. */
  readonly zerostate: BlockId;
  /** Of the database, for the threads that write. */
  readonly databaseUrl: string;
  /**
   * The first masterchain seqno; `now`: where the index begins, which is the newest block when it is begun. Default: 1 when
   * servers have the chain from there, else `now`.
   */
  readonly from?: number | 'now' | null;
  /** The last one. Default: none. */
  readonly to?: number | null;
  /** Whether to go on with the newest blocks. Default: true without `to`. */
  readonly follow?: boolean;
  /** How long blocks are kept, in milliseconds. Default: for ever. */
  readonly keepMs?: number | null;
  /** Index these accounts only, each by its address as it is stored. Default: all. */
  readonly accounts?: readonly Uint8Array[] | null;
  /** Threads for filling; following has one more. Default: 2. */
  readonly workers?: number;
  /** Most masterchain blocks in one transaction. Default: 64. */
  readonly batchRounds?: number;
  /** Bytes of files in one transaction, about. Default: 8 MiB. */
  readonly batchBytes?: number;
  /** Of an index that is begun: masterchain blocks in one partition, which is what is dropped at a time. Default: 200,000. */
  readonly partitionRounds?: number;
  /** Collections whose items are domains, besides those that everybody knows. Default: none. */
  readonly dnsRoots?: readonly DnsRoot[];
  /**
   * Whether accounts may come from another network, without a transaction, so that there are some that no block tells of.
   * Default: no.
   */
  readonly accountsComeFromElsewhere?: boolean;
  /** Whether contracts are looked at. Default: yes. */
  readonly contracts?: boolean;
  /** Only what follows from what is indexed: contracts and token events. Nothing is filled or followed then. Default: no. */
  readonly deriveOnly?: boolean;
  /** Following catches up with this many masterchain blocks by itself, in their order; more are filled. Default: 600. */
  readonly followWithin?: number;
}

export type IndexerSettings = Required<IndexerOptions>;

const LIMITS = {
  workers: { default: 2, min: 1, max: 64 },
  batchRounds: { default: 64, min: 1, max: 10_000 },
  batchBytes: { default: 8 * 2 ** 20, min: 1, max: 2 ** 30 },
  partitionRounds: { default: 200_000, min: 1, max: 2 ** 31 - 1 },
  followWithin: { default: 600, min: 0, max: 2 ** 31 - 1 },
} as const;

const MAX_SEQNO = 2 ** 31 - 2;

/** Fills in defaults and checks bounds. @throws indexer/parameter */
export function indexerSettings(options: IndexerOptions): IndexerSettings {
  const numbers: Record<string, number> = {};
  for (const [name, { default: fallback, min, max }] of Object.entries(LIMITS)) {
    numbers[name] = requireWholeNumber(name, options[name as keyof typeof LIMITS] ?? fallback, min, max);
  }
  const { from = null, to = null, keepMs = null, accounts = null } = options;
  if (typeof from === 'number') requireWholeNumber('from', from, 1, MAX_SEQNO);
  if (to !== null) requireWholeNumber('to', to, typeof from === 'number' ? from : 1, MAX_SEQNO);
  if (keepMs !== null) requireWholeNumber('keepMs', keepMs, 1, 2 ** 50);
  const { contracts = true, deriveOnly = false, dnsRoots = [], accountsComeFromElsewhere = false } = options;
  const follow = options.follow ?? to === null;
  const chosen = { from, to, keepMs, accounts, follow, contracts, deriveOnly, dnsRoots, accountsComeFromElsewhere };
  return { ...options, ...chosen, ...(numbers as { [Name in keyof typeof LIMITS]: number }) };
}

/** How rounds are fetched. */
export interface FetchOptions {
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
const FETCH_LIMITS = {
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  headWaitMs: { default: 60_000, min: 1, max: 3_600_000 },
  retryMinMs: { default: 100, min: 1, max: 60_000 },
  retryMaxMs: { default: 5_000, min: 1, max: 600_000 },
  reportEveryMs: { default: 10_000, min: 0, max: 3_600_000 },
  aheadRounds: { default: 512, min: 1, max: 65_536 },
  aheadBytes: { default: 64 * 2 ** 20, min: 1, max: 2 ** 36 },
  stretch: { default: 32, min: 1, max: 1_024 },
  maxInFlight: { default: 48, min: 1, max: 1_024 },
} as const satisfies Record<keyof FetchOptions, { default: number; min: number; max: number }>;

/** Fills in defaults and checks bounds. @throws indexer/parameter */
export function fetchOptions(given: Partial<FetchOptions>): FetchOptions {
  const options: Record<string, number> = {};
  for (const [name, { default: fallback, min, max }] of Object.entries(FETCH_LIMITS)) {
    options[name] = requireWholeNumber(name, given[name as keyof FetchOptions] ?? fallback, min, max);
  }
  return options as unknown as FetchOptions;
}

/** @throws indexer/parameter */
export function requireWholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw indexerErrors.parameter({ name, value: String(value), wanted: `a whole number from ${min} to ${max}` });
}
