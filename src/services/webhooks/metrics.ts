import { type MetricRow, rowsNamed } from '#kernel/metric-rows.js';

/** Figures of the webhooks of a network, in the process that sends them; counts since the start. */
export interface WebhookMetrics {
  readonly hooks: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dead: number;
}

const row = rowsNamed<WebhookMetrics>('tern_webhook_');

export const webhookMetricRows: readonly MetricRow<WebhookMetrics>[] = [
  row('gauge', 'hooks_count', 'Webhooks that this process sends', ({ hooks }) => hooks),
  row('counter', 'delivered_total', 'Events delivered', ({ delivered }) => delivered),
  row('counter', 'failed_total', 'Attempts that failed', ({ failed }) => failed),
  row('counter', 'dead_total', 'Events that were given up', ({ dead }) => dead),
];
