import type { MetricRow, Sample } from '#kernel/metric-rows.js';
import type { IndexerMetrics } from '#services/indexer/metrics.js';

/** What writes an index. */
export interface WriterFigures extends IndexerMetrics {
  /** Whether something stands in its way. */
  readonly blocked: boolean;
}

/** What writes an index; `null` where nothing does. */
export const indexerMetricRows: readonly MetricRow<WriterFigures | null>[] = [
  row('gauge', 'leader', '1 while this process writes the index, 0 while it stands by', (m) => Number(m.leader)),
  row('gauge', 'blocked', '1 while something stands in the way of writing; the log says what', (m) =>
    Number(m.blocked),
  ),
  row(
    'gauge',
    'delay_seconds',
    'From the moment when the newest block was known to exist until it could be read from the index',
    (m) => m.delay_seconds,
  ),
  row('counter', 'batches_total', 'Transactions of the database that wrote blocks', (m) => m.batches),
  row(
    'counter',
    'written_masterchain_blocks_total',
    'Masterchain blocks written, with all they commit',
    (m) => m.rounds,
  ),
  row('counter', 'written_blocks_total', 'Blocks written, of all chains', (m) => m.blocks),
  row('counter', 'written_transactions_total', 'Transactions written', (m) => m.transactions),
  row('counter', 'written_bytes_total', 'Bytes of the files of these blocks', (m) => m.bytes),
  row('counter', 'build_seconds_total', 'Time for making rows, of all threads', (m) => m.build_seconds),
  row('counter', 'write_seconds_total', 'Time for writing them, of all threads', (m) => m.write_seconds),
  row('counter', 'retries_total', 'Attempts that failed and were made again', (m) => m.retries),
  row('counter', 'lost_threads_total', 'Threads that ended in the middle of their work', (m) => m.threads_lost),
  row('gauge', 'fill_missing_blocks', 'Masterchain blocks that are still to be filled in', (m) => m.fill_left),
  row(
    'gauge',
    'incomplete_accounts',
    'Accounts of whose newest state a part is not known yet',
    (m) => m.incomplete_accounts,
  ),
  row('gauge', 'orphan_messages', 'Messages whose sender is not indexed', (m) => m.orphan_messages),
  row(
    'gauge',
    'contracts_queued',
    'Accounts that wait to be looked at for what contracts they are',
    (m) => m.contracts.queued,
  ),
  row(
    'gauge',
    'contracts_delay_seconds',
    'From the moment when the newest block could be read from the index until all contracts were looked at that it changed',
    (m) => m.contracts.delay_seconds,
  ),
  row('counter', 'contracts_looked_at_total', 'Accounts that were looked at', (m) => m.contracts.looked),
  row(
    'counter',
    'contracts_postponed_total',
    'Accounts that could not be asked, and are looked at again later',
    (m) => m.contracts.postponed,
  ),
  {
    name: 'tern_index_contracts_asked_total',
    help: 'Get methods that were asked: read from the data of a known code (native), or run (tvm)',
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
    help: 'Contracts that seem to be of a kind and are not told of, each time they were looked at, by reason',
    kind: 'counter',
    labels: ['kind', 'reason'],
    read: (metrics): Sample[] =>
      Object.entries(metrics?.contracts.refused ?? {}).flatMap(([kind, reasons]) =>
        Object.entries(reasons).map(([reason, count]): Sample => [{ kind, reason }, count]),
      ),
  },
  row(
    'counter',
    'contracts_seconds_total',
    'Time for looking at contracts and writing them',
    (m) => m.contracts.seconds,
  ),
];

function row(
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
