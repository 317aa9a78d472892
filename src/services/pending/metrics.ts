import type { MetricRow, Sample } from '#kernel/metric-rows.js';

/** Figures of pending traces. */
export interface PendingMetrics {
  readonly traces: number;
  readonly transactions: number;
  readonly bytes: number;
  readonly waiting: number;
  readonly listeners: number;
  readonly messages: Readonly<Record<string, number>>;
  readonly not_admitted: number;
  readonly emulations: number;
  readonly emulation_failures: number;
  readonly invalidated: Readonly<Record<string, number>>;
  readonly finalized: number;
  readonly corrected: number;
}

/** Metrics of pending traces. */
export const pendingMetricRows: readonly MetricRow<PendingMetrics>[] = [
  gauge('traces_count', 'Live traces, from the message until the index has them', (m) => m.traces),
  gauge('transactions_count', 'Emulated and real transactions of live traces', (m) => m.transactions),
  gauge('state_bytes', 'Memory for account states of live traces', (m) => m.bytes),
  gauge('waiting_emulations_count', 'Messages that wait for their emulation', (m) => m.waiting),
  gauge('listeners_count', 'Streams and requests that wait for events of live traces', (m) => m.listeners),
  {
    ...counter('messages_total', 'Messages by where they were seen first'),
    labels: ['origin'],
    read: (m) => labelled('origin', m.messages),
  },
  { ...counter('refused_messages_total', 'Messages not followed: limits were reached'), read: (m) => m.not_admitted },
  { ...counter('emulations_total', 'Emulations of messages'), read: (m) => m.emulations },
  { ...counter('failed_emulations_total', 'Emulations that failed'), read: (m) => m.emulation_failures },
  {
    ...counter('invalidated_total', 'Pending traces that will not be, by reason'),
    labels: ['reason'],
    read: (m) => labelled('reason', m.invalidated),
  },
  { ...counter('finalized_total', 'Live traces that became final'), read: (m) => m.finalized },
  {
    ...counter('corrected_messages_total', 'Messages in blocks that their emulation had not foreseen'),
    read: (m) => m.corrected,
  },
];

function gauge(name: string, help: string, read: (metrics: PendingMetrics) => number): MetricRow<PendingMetrics> {
  return { name: `tern_pending_${name}`, help, kind: 'gauge', read };
}

function counter(name: string, help: string): Pick<MetricRow<PendingMetrics>, 'name' | 'help' | 'kind'> {
  return { name: `tern_pending_${name}`, help, kind: 'counter' };
}

function labelled(label: string, counts: Readonly<Record<string, number>>): Iterable<Sample> {
  return Object.entries(counts).map(([value, count]) => [{ [label]: value }, count] as const);
}
