import type { MetricRow, Sample } from '#kernel/metric-rows.js';
import type { MetadataMetrics } from '#services/metadata/metadata-fetcher.js';

/** What fetches metadata of tokens; `null` where nothing does. */
export const metadataMetricRows: readonly MetricRow<MetadataMetrics | null>[] = [
  row('counter', 'fetched_total', 'Documents that links of tokens led to', (m) => m.fetched),
  {
    name: 'tern_metadata_failures_total',
    help: 'Links of tokens that could not be followed, by code of the error',
    kind: 'counter',
    labels: ['code'],
    read: (metrics) => [...(metrics?.failed ?? [])].map(([code, count]): Sample => [{ code }, count]),
  },
  row(
    'counter',
    'put_off_total',
    'Links left for later, because their host is asked enough or does not answer',
    (m) => m.put_off,
  ),
  row('counter', 'fetch_seconds_total', 'Time for following links, all together', (m) => m.fetch_seconds),
  row('gauge', 'running', 'Links that are being followed', (m) => m.running),
  row('gauge', 'behind_seconds', 'For how long what was taken last had been due', (m) => m.behind_seconds),
  row('gauge', 'resting_hosts', 'Hosts that are left alone for a while', (m) => m.resting_hosts),
  row('gauge', 'overrides', 'Tokens of which the file of overrides tells', (m) => m.overrides),
];

function row(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: MetadataMetrics) => number,
): MetricRow<MetadataMetrics | null> {
  return {
    name: `tern_metadata_${name}`,
    help,
    kind,
    read: (metrics): Sample[] => (metrics === null ? [] : [[{}, read(metrics)]]),
  };
}
