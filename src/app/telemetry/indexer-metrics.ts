import type { MetricRow, Sample } from '#app/telemetry/metric-rows.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';

/** What writes an index; `null` where nothing does. */
export const indexerMetricRows: readonly MetricRow<IndexerStatus | null>[] = [
  row('gauge', 'leader', '1 while this process writes the index, 0 while it stands by', ({ role }) =>
    Number(role === 'leader'),
  ),
  row('gauge', 'blocked', '1 while something stands in the way of writing; the log says what', ({ problem }) =>
    Number(problem !== null),
  ),
  row(
    'gauge',
    'delay_seconds',
    'From the moment when the newest block was known to exist until it could be read from the index',
    ({ delayMs }) => (delayMs === null ? null : delayMs / 1000),
  ),
  row('counter', 'batches_total', 'Transactions of the database that wrote blocks', ({ sums }) => sums.batches),
  row(
    'counter',
    'written_masterchain_blocks_total',
    'Masterchain blocks written, with all they commit',
    ({ sums }) => sums.rounds,
  ),
  row('counter', 'written_blocks_total', 'Blocks written, of all chains', ({ sums }) => sums.blocks),
  row('counter', 'written_transactions_total', 'Transactions written', ({ sums }) => sums.transactions),
  row('counter', 'written_bytes_total', 'Bytes of the files of these blocks', ({ sums }) => sums.bytes),
  row('counter', 'build_seconds_total', 'Time for making rows, of all threads', ({ sums }) => sums.buildSeconds),
  row('counter', 'write_seconds_total', 'Time for writing them, of all threads', ({ sums }) => sums.writeSeconds),
  row('counter', 'retries_total', 'Attempts that failed and were made again', ({ retries }) => retries),
  row('gauge', 'fill_missing_blocks', 'Masterchain blocks that are still to be filled in', ({ filling }) =>
    filling === null ? 0 : filling.total - filling.done,
  ),
  row(
    'gauge',
    'fill_blocks_per_second',
    'Masterchain blocks filled in, in a second of the last half minute',
    ({ filling }) => filling?.roundsPerSecond ?? null,
  ),
  row(
    'gauge',
    'incomplete_accounts',
    'Accounts of whose newest state a part is not known yet',
    (status) => status.incompleteAccounts,
  ),
  row('gauge', 'orphan_messages', 'Messages whose sender is not indexed', (status) => status.orphanMessages),
];

function row(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (status: IndexerStatus) => number | null,
): MetricRow<IndexerStatus | null> {
  return {
    name: `tern_index_${name}`,
    help,
    kind,
    read: (status): Sample[] => {
      const value = status === null ? null : read(status);
      return value === null ? [] : [[{}, value]];
    },
  };
}
