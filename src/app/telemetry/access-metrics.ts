import type { MetricRow, Sample } from '#kernel/metric-rows.js';
import type { AccessMetrics } from '#services/access/access.js';

/** Keys and limits. */
export const accessMetricRows: readonly MetricRow<AccessMetrics>[] = [
  {
    name: 'tern_access_requests_total',
    help: 'Requests by plan and what became of them',
    kind: 'counter',
    labels: ['plan', 'network', 'outcome'],
    read: ({ plans }) =>
      plans.flatMap(({ plan, network, allowed, limited_by_rate, limited_by_quota }): Sample[] => [
        [{ plan, network, outcome: 'allowed' }, allowed],
        [{ plan, network, outcome: 'limited_by_rate' }, limited_by_rate],
        [{ plan, network, outcome: 'limited_by_quota' }, limited_by_quota],
      ]),
  },
  row(
    'counter',
    'unknown_keys_total',
    'Requests with a key that is unknown, revoked or expired',
    (m) => m.unknown_keys,
  ),
  row(
    'counter',
    'networks_refused_total',
    'Requests with a key that is not for the network',
    (m) => m.networks_refused,
  ),
  row('gauge', 'keys', 'Keys that are not revoked', (m) => m.keys),
  row('gauge', 'addresses', 'Client addresses that are counted', (m) => m.addresses),
  row('counter', 'usage_failures_total', 'Attempts to store usage that failed', (m) => m.usage_failures),
  redis('gauge', 'up', '1 when Redis answers', (m) => Number(m.up)),
  redis('counter', 'checks_total', 'Requests that Redis counted', (m) => m.checks),
  redis(
    'counter',
    'fallbacks_total',
    'Requests counted in this process because Redis did not answer',
    (m) => m.fallbacks,
  ),
  redis('counter', 'outages_total', 'How often Redis went down', (m) => m.outages),
];

function row(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: AccessMetrics) => number,
): MetricRow<AccessMetrics> {
  return { name: `tern_access_${name}`, help, kind, read };
}

/** Nothing without Redis. */
function redis(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: NonNullable<AccessMetrics['redis']>) => number,
): MetricRow<AccessMetrics> {
  return {
    name: `tern_access_redis_${name}`,
    help,
    kind,
    read: (metrics) => (metrics.redis === null ? [] : [[{}, read(metrics.redis)]]),
  };
}
