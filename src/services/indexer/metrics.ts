import type { MetricRow, Sample } from '#kernel/metric-rows.js';
import type { ActionClassificationMetrics } from '#services/indexer/actions/action-classification.js';
import type { ContractDetectionMetrics } from '#services/indexer/contracts/contract-detection.js';

/** Metrics snapshot of the indexer. Sums only grow. */
export interface IndexerMetrics {
  /** Whether this process is the index leader; otherwise it is on stand-by. */
  readonly leader: boolean;
  /** Newest indexed masterchain block known to this process; 0: none. */
  readonly head_seqno: number;
  /** From the moment the block was known to exist until it was indexed; null before any block was followed. */
  readonly delay_seconds: number | null;
  /** Masterchain blocks left to fill. */
  readonly fill_left: number;
  readonly batches: number;
  readonly mc_blocks: number;
  readonly blocks: number;
  readonly transactions: number;
  /** Bytes of block files. */
  readonly bytes: number;
  /** Time spent building rows, and writing them; sum over all threads. */
  readonly build_seconds: number;
  readonly write_seconds: number;
  /** Failed attempts that were retried. */
  readonly retries: number;
  readonly threads_lost: number;
  /** Accounts whose state is not fully known, as last counted. */
  readonly incomplete_accounts: number;
  /** Received messages whose sender is not indexed, as last counted. */
  readonly orphan_messages: number;
  readonly contracts: ContractDetectionMetrics;
  readonly actions: ActionClassificationMetrics;
}

/** Metrics of the process that writes an index. */
export interface WriterFigures extends IndexerMetrics {
  /** Whether writing is blocked by a problem. */
  readonly blocked: boolean;
}

/** Metrics of the indexer; `null` where this process does not write. */
export const indexerMetricRows: readonly MetricRow<WriterFigures | null>[] = [
  indexerMetric('gauge', 'leader', '1 while this process is the index leader, 0 while it stands by', (m) =>
    Number(m.leader),
  ),
  indexerMetric('gauge', 'blocked', '1 while writing is blocked; the log contains the reason', (m) =>
    Number(m.blocked),
  ),
  indexerMetric(
    'gauge',
    'delay_seconds',
    'Time from the discovery of the newest block until it was readable in the index',
    (m) => m.delay_seconds,
  ),
  indexerMetric('counter', 'batches_total', 'Database transactions that wrote blocks', (m) => m.batches),
  indexerMetric(
    'counter',
    'written_masterchain_blocks_total',
    'Masterchain blocks written, with their shard blocks',
    (m) => m.mc_blocks,
  ),
  indexerMetric('counter', 'written_blocks_total', 'Blocks written, of all shards', (m) => m.blocks),
  indexerMetric('counter', 'written_transactions_total', 'Transactions written', (m) => m.transactions),
  indexerMetric('counter', 'written_bytes_total', 'Size of the written block files', (m) => m.bytes),
  indexerMetric('counter', 'build_seconds_total', 'Time for building rows, all threads', (m) => m.build_seconds),
  indexerMetric('counter', 'write_seconds_total', 'Time for writing rows, all threads', (m) => m.write_seconds),
  indexerMetric('counter', 'retries_total', 'Retries after a failure', (m) => m.retries),
  indexerMetric('counter', 'lost_threads_total', 'Threads lost during their work', (m) => m.threads_lost),
  indexerMetric('gauge', 'fill_missing_blocks', 'Masterchain blocks left to backfill', (m) => m.fill_left),
  indexerMetric(
    'gauge',
    'incomplete_accounts',
    'Accounts with an incomplete newest state',
    (m) => m.incomplete_accounts,
  ),
  indexerMetric('gauge', 'orphan_messages', 'Messages without an indexed sender', (m) => m.orphan_messages),
  indexerMetric('gauge', 'contracts_queued', 'Accounts queued for contract detection', (m) => m.contracts.queued),
  indexerMetric(
    'gauge',
    'contracts_delay_seconds',
    'Time from the indexing of the newest block until the detection of all contracts that it changed',
    (m) => m.contracts.delays.newest,
  ),
  indexerMetric(
    'counter',
    'contracts_looked_at_total',
    'Accounts checked by contract detection',
    (m) => m.contracts.detected,
  ),
  indexerMetric(
    'counter',
    'contracts_postponed_total',
    'Accounts whose contract detection was postponed',
    (m) => m.contracts.postponed,
  ),
  {
    name: 'tern_index_contracts_asked_total',
    help: 'Get methods called by contract detection: computed natively for a known code (native), or run (tvm)',
    kind: 'counter',
    labels: ['way'],
    read: (metrics): Sample[] =>
      metrics === null
        ? []
        : [
            [{ way: 'native' }, metrics.contracts.natively],
            [{ way: 'tvm' }, metrics.contracts.runs],
          ],
  },
  {
    name: 'tern_index_contracts_refused_total',
    help: 'Contracts rejected by contract detection, by interface and reason',
    kind: 'counter',
    labels: ['kind', 'reason'],
    read: (metrics): Sample[] =>
      Object.entries(metrics?.contracts.refused ?? {}).flatMap(([kind, reasons]) =>
        Object.entries(reasons).map(([reason, count]): Sample => [{ kind, reason }, count]),
      ),
  },
  indexerMetric(
    'counter',
    'contracts_seconds_total',
    'Time for contract detection, including writes',
    (m) => m.contracts.seconds,
  ),
  indexerMetric(
    'gauge',
    'actions_left',
    'Traces and masterchain blocks whose traces are still to be classified into actions',
    (m) => m.actions.left,
  ),
  indexerMetric(
    'gauge',
    'actions_delay_seconds',
    'Time from the indexing of the newest block until the classification of the traces that end in it',
    (m) => m.actions.delays.newest,
  ),
  {
    name: 'tern_index_actions_delay_quantile_seconds',
    help: 'The same of the newest 1,000 followed batches: median (0.5) and 99th percentile (0.99)',
    kind: 'gauge',
    labels: ['quantile'],
    read: (metrics): Sample[] => {
      const { median, p99 } = metrics?.actions.delays ?? { median: null, p99: null };
      return median === null || p99 === null
        ? []
        : [
            [{ quantile: '0.5' }, median],
            [{ quantile: '0.99' }, p99],
          ];
    },
  },
  indexerMetric('counter', 'actions_traces_total', 'Traces classified into actions', (m) => m.actions.traces),
  indexerMetric(
    'counter',
    'actions_transactions_total',
    'Transactions of classified traces',
    (m) => m.actions.transactions,
  ),
  indexerMetric('counter', 'actions_written_total', 'Actions written', (m) => m.actions.actions),
  indexerMetric(
    'counter',
    'actions_failed_total',
    'Traces whose classification failed; the log contains the reason',
    (m) => m.actions.failed,
  ),
  indexerMetric(
    'counter',
    'actions_seconds_total',
    'Time for the classification of traces, including reads and writes',
    (m) => m.actions.seconds,
  ),
  {
    name: 'tern_index_actions_near_misses_total',
    help: 'Messages that nearly matched a pattern of actions, by pattern and reason',
    kind: 'counter',
    labels: ['pattern', 'reason'],
    read: (metrics): Sample[] =>
      Object.entries(metrics?.actions.nearMisses ?? {}).flatMap(([pattern, reasons]) =>
        Object.entries(reasons).map(([reason, count]): Sample => [{ pattern, reason }, count]),
      ),
  },
];

function indexerMetric(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: WriterFigures) => number | null,
): MetricRow<WriterFigures | null> {
  return {
    name: `tern_index_${name}`,
    help,
    kind,
    read: (metrics): Sample[] => {
      const value = metrics === null ? null : read(metrics);
      return value === null ? [] : [[{}, value]];
    },
  };
}
