import type { MetricRow } from '#app/telemetry/metric-rows.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';

/** Connections to liteservers. */
export const adnlMetricRows: readonly MetricRow<AdnlMetrics>[] = [
  row('connections_opened_total', 'Connections that were made', (m) => m.connections_opened),
  row('connections_closed_total', 'Connections that ended', (m) => m.connections_closed),
  row('connections_failed_total', 'Connections that failed before both sides could speak', (m) => m.connections_failed),
  row('received_bytes_total', 'Bytes received', (m) => m.bytes_received),
  row('sent_bytes_total', 'Bytes sent', (m) => m.bytes_sent),
  row('received_packets_total', 'Packets received', (m) => m.packets_received),
  row('sent_packets_total', 'Packets sent', (m) => m.packets_sent),
  row('queries_total', 'Queries sent', (m) => m.queries_started),
  row('query_failures_total', 'Queries that ended without an answer', (m) => m.queries_failed),
  row('unmatched_answers_total', 'Answers to no query that waited', (m) => m.answers_unmatched),
  row('protocol_violations_total', 'Connections cut because the peer broke the protocol', (m) => m.protocol_violations),
];

function row(name: string, help: string, read: (metrics: AdnlMetrics) => number): MetricRow<AdnlMetrics> {
  return { name: `tern_adnl_${name}`, help, kind: 'counter', read };
}
