import type { ContractDetectionMetrics } from '#services/indexer/contracts/contract-detection.js';

/** What the indexer tells about its work, for metrics. Sums grow only. */
export interface IndexerMetrics {
  /** Whether this process writes; else it stands by. */
  readonly leader: boolean;
  /** The newest masterchain block that it knows to be indexed; 0: none. */
  readonly head_seqno: number;
  /** From the moment when that block was known to exist until it was indexed; null before any was followed. */
  readonly delay_seconds: number | null;
  /** Masterchain blocks that are still to be filled. */
  readonly fill_left: number;
  readonly batches: number;
  readonly rounds: number;
  readonly blocks: number;
  readonly transactions: number;
  /** Of block files. */
  readonly bytes: number;
  /** Of making rows, and of writing them; all threads together. */
  readonly build_seconds: number;
  readonly write_seconds: number;
  /** Attempts that failed and were made again. */
  readonly retries: number;
  readonly threads_lost: number;
  /** Accounts of which not all is known, as last counted. */
  readonly incomplete_accounts: number;
  /** Messages whose senders are not indexed, as last counted. */
  readonly orphan_messages: number;
  readonly contracts: ContractDetectionMetrics;
}
