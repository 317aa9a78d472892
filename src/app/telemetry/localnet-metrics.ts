import type { MetricRow } from '#kernel/metric-rows.js';
import type { ProducedCounts } from '#localnet/node/node-protocol.js';

/** Local networks: what the making of blocks has taken. */
export const localnetMetricRows: readonly MetricRow<ProducedCounts>[] = [
  row('rounds_total', 'Masterchain blocks made, each with the blocks of shards that it commits', (m) => m.rounds),
  row('transactions_total', 'Transactions in blocks that were made', (m) => m.transactions),
  row('emulate_seconds_total', 'Time that contracts ran for them', (m) => m.emulateMs / 1000),
  row('round_seconds_total', 'Time that making blocks took, contracts included', (m) => m.totalMs / 1000),
];

function row(name: string, help: string, read: (counts: ProducedCounts) => number): MetricRow<ProducedCounts> {
  return { name: `tern_localnet_${name}`, help, kind: 'counter', read };
}
