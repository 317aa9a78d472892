import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { indexerErrors } from '#services/indexer/errors.js';

/** What the indexer indexes, and how. */
export interface IndexerOptions {
  /** Zerostate of the masterchain; identifies the network. */
  readonly zerostate: BlockId;
  /** The incarnation of a local network, as `IndexIdentity.chain`. */
  readonly chain?: string | null;
  /** Connection URL of the database, for the worker threads that write. */
  readonly databaseUrl: string;
  /**
   * First masterchain seqno; `now`: the first indexed block, which for a new index is the newest block. Default: 1 if
   * liteservers have the chain from its start, else `now`.
   */
  readonly from?: number | 'now' | null;
  /** Last masterchain seqno. Default: none. */
  readonly to?: number | null;
  /** Whether to follow the head of the chain. Default: true without `to`. */
  readonly follow?: boolean;
  /** Retention of blocks, in milliseconds. Default: unlimited. */
  readonly keepMs?: number | null;
  /** Index only these accounts, given as stored addresses (33 bytes). Default: all. */
  readonly accounts?: readonly Uint8Array[] | null;
  /** Worker threads for filling; following uses one more. Default: 2. */
  readonly workers?: number;
  /** Maximum number of masterchain blocks in one database transaction. Default: 64. */
  readonly batchMcBlocks?: number;
  /** Approximate number of block file bytes in one database transaction. Default: 8 MiB. */
  readonly batchBytes?: number;
  /** For a new index: masterchain blocks per partition, the unit in which history is dropped. Default: 200,000. */
  readonly partitionMcBlocks?: number;
  /** NFT collections whose items are DNS domains, besides the well-known ones. Default: none. */
  readonly dnsRoots?: readonly DnsRoot[];
  /**
   * Whether accounts may be imported from another network (a fork) without a transaction, so that some accounts appear in no
   * indexed block. Default: no.
   */
  readonly accountsComeFromElsewhere?: boolean;
  /** How often it is looked for contracts and traces that other processes have queued, in milliseconds. Default: 1,000. */
  readonly queuePollMs?: number;
  /** Whether contract interfaces are detected. Default: yes. */
  readonly contracts?: boolean;
  /** Whether traces are classified into actions, which needs the detection of contracts. Default: yes. */
  readonly actions?: boolean;
  /** Run derivations only: nothing is filled or followed. Default: no. */
  readonly deriveOnly?: boolean;
  /** Delete all that is indexed and begin again. Default: no. */
  readonly recreate?: boolean;
  /** Following catches up with at most this many masterchain blocks in order; a larger gap is filled. Default: 600. */
  readonly followWithin?: number;
}

export type IndexerSettings = Required<IndexerOptions>;

const LIMITS = {
  workers: { default: 2, min: 1, max: 64 },
  batchMcBlocks: { default: 64, min: 1, max: 10_000 },
  batchBytes: { default: 8 * 2 ** 20, min: 1, max: 2 ** 30 },
  queuePollMs: { default: 1_000, min: 10, max: 60_000 },
  partitionMcBlocks: { default: 200_000, min: 1, max: 2 ** 31 - 1 },
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
  const {
    contracts = true,
    actions = contracts,
    deriveOnly = false,
    dnsRoots = [],
    accountsComeFromElsewhere = false,
  } = options;
  const { recreate = false, chain = null } = options;
  const follow = options.follow ?? to === null;
  const chosen = {
    from,
    to,
    keepMs,
    accounts,
    follow,
    contracts,
    actions: actions && contracts,
    deriveOnly,
    dnsRoots,
    accountsComeFromElsewhere,
    recreate,
    chain,
  };
  return { ...options, ...chosen, ...(numbers as { [Name in keyof typeof LIMITS]: number }) };
}

/** How masterchain block bundles are fetched. */
export interface FetchOptions {
  /** Deadline of one query to liteservers, in milliseconds; after it the query is retried. */
  readonly deadlineMs: number;
  /** How long to wait for a masterchain block before that counts as a failure, in milliseconds. */
  readonly headWaitMs: number;
  /** Pause before a query is retried; doubled each time. Milliseconds. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Minimum interval between two reports of failing reads. Milliseconds. */
  readonly reportEveryMs: number;
  /** Bundles fetched ahead of the consumer, the current one included. */
  readonly aheadBundles: number;
  /** Block file bytes held for that; the segment that is consumed next is fetched regardless. */
  readonly aheadBytes: number;
  /** Maximum number of masterchain blocks read back from one proven block; fewer when answers are slow. */
  readonly segmentLength: number;
  /** Concurrent block file queries of a backfill. */
  readonly maxInFlight: number;
}

/** Of each option: the default, and the smallest and largest allowed value. */
const FETCH_LIMITS = {
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  headWaitMs: { default: 60_000, min: 1, max: 3_600_000 },
  retryMinMs: { default: 100, min: 1, max: 60_000 },
  retryMaxMs: { default: 5_000, min: 1, max: 600_000 },
  reportEveryMs: { default: 10_000, min: 0, max: 3_600_000 },
  aheadBundles: { default: 512, min: 1, max: 65_536 },
  aheadBytes: { default: 64 * 2 ** 20, min: 1, max: 2 ** 36 },
  segmentLength: { default: 32, min: 1, max: 1_024 },
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
