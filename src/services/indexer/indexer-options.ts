import type { DnsRoot } from '#domain/contracts/dns-root.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { wholeNumber } from '#services/indexer/rounds/options.js';

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
    numbers[name] = wholeNumber(name, options[name as keyof typeof LIMITS] ?? fallback, min, max);
  }
  const { from = null, to = null, keepMs = null, accounts = null } = options;
  if (typeof from === 'number') wholeNumber('from', from, 1, MAX_SEQNO);
  if (to !== null) wholeNumber('to', to, typeof from === 'number' ? from : 1, MAX_SEQNO);
  if (keepMs !== null) wholeNumber('keepMs', keepMs, 1, 2 ** 50);
  const { contracts = true, deriveOnly = false, dnsRoots = [], accountsComeFromElsewhere = false } = options;
  const follow = options.follow ?? to === null;
  const chosen = { from, to, keepMs, accounts, follow, contracts, deriveOnly, dnsRoots, accountsComeFromElsewhere };
  return { ...options, ...chosen, ...(numbers as { [Name in keyof typeof LIMITS]: number }) };
}
