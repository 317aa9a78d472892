import type { MetricRow } from '#kernel/metric-rows.js';

/** Counters of ADNL connections since the start. One object may serve many connections. */
export interface AdnlMetrics {
  connections_opened: number;
  connections_closed: number;
  /** Connections that failed before the handshake was complete. */
  connections_failed: number;
  /** Clients refused because of the connection limit. */
  connections_refused: number;
  bytes_received: number;
  bytes_sent: number;
  packets_received: number;
  packets_sent: number;
  pings_sent: number;
  /** As a client: passed to a connection. As a server: passed to the handler. */
  queries_started: number;
  queries_answered: number;
  /** As a client: ended without an answer. As a server: the handler failed, or its answer was too large. */
  queries_failed: number;
  /** Answers without a pending query: late, repeated or invented. */
  answers_unmatched: number;
  /** Well-formed packets of an unsupported kind. */
  messages_ignored: number;
  /** Connections closed because the peer violated the protocol: invalid length, hash or message. */
  protocol_violations: number;
}

export function createAdnlMetrics(): AdnlMetrics {
  return {
    connections_opened: 0,
    connections_closed: 0,
    connections_failed: 0,
    connections_refused: 0,
    bytes_received: 0,
    bytes_sent: 0,
    packets_received: 0,
    packets_sent: 0,
    pings_sent: 0,
    queries_started: 0,
    queries_answered: 0,
    queries_failed: 0,
    answers_unmatched: 0,
    messages_ignored: 0,
    protocol_violations: 0,
  };
}

/** Metrics of connections to liteservers. */
export const adnlMetricRows: readonly MetricRow<AdnlMetrics>[] = [
  row('connections_opened_total', 'Connections established', (m) => m.connections_opened),
  row('connections_closed_total', 'Connections closed', (m) => m.connections_closed),
  row(
    'connections_failed_total',
    'Connections that failed before the handshake was complete',
    (m) => m.connections_failed,
  ),
  row('received_bytes_total', 'Bytes received', (m) => m.bytes_received),
  row('sent_bytes_total', 'Bytes sent', (m) => m.bytes_sent),
  row('received_packets_total', 'Packets received', (m) => m.packets_received),
  row('sent_packets_total', 'Packets sent', (m) => m.packets_sent),
  row('queries_total', 'Queries sent', (m) => m.queries_started),
  row('query_failures_total', 'Queries that ended without an answer', (m) => m.queries_failed),
  row('unmatched_answers_total', 'Answers without a pending query', (m) => m.answers_unmatched),
  row(
    'protocol_violations_total',
    'Connections closed because the peer violated the protocol',
    (m) => m.protocol_violations,
  ),
];

function row(name: string, help: string, read: (metrics: AdnlMetrics) => number): MetricRow<AdnlMetrics> {
  return { name: `tern_adnl_${name}`, help, kind: 'counter', read };
}
