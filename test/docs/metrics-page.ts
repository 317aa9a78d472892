import { Registry } from 'prom-client';
import { HttpMetrics } from '#api/http/metrics.js';
import { registerServiceMetrics } from '#app/service/metrics.js';
import { systemClock } from '#kernel/clock.js';

/** One row of docs/metrics.md. */
export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const introduction = `# Metrics

Every listening address serves \`/metrics\` in the Prometheus text format: the metrics of its networks and of the server.
Metrics of networks have the label \`network\`; metrics of liteservers also have \`group\`, which is \`public\` or the name of a
private group. Counters restart with the process.

The default process metrics of prom-client are included: \`process_*\` and \`nodejs_*\`, such as
\`process_resident_memory_bytes\`, \`process_cpu_seconds_total\` and \`nodejs_eventloop_lag_p99_seconds\`.

Networks with an index have \`tern_index_*\` and \`tern_database_*\`. Metrics about writing the index, and \`tern_metadata_*\`,
exist only in processes that write it (\`--role all\` or \`indexer\`).

Recommended alerts: \`tern_network_ready == 0\`, a growing \`tern_network_head_age_seconds\`, a rising
\`rate(tern_lite_failures_total[5m])\`, \`tern_index_readable == 0\`, a growing \`tern_index_lag_seconds\`,
\`sum(tern_index_leader) != 1\`; recommended for dashboards: \`tern_lite_server_quarantines_total\`,
\`tern_tvm_replaced_workers_total\`, \`tern_http_rejected_total\`, \`tern_index_missing_blocks\`.

The rest of this page is written by \`npm run docs:metrics\` from the registered metrics; a test compares the two.
`;

/** All metrics that Tern registers itself. */
export function collectMetrics(): DocumentedMetric[] {
  const registry = new Registry();
  const unread = (): never => {
    throw new Error('nobody asks for values here');
  };
  const ofNetwork = [{ labels: { network: '' }, snapshot: unread }];
  const ofGroup = [{ labels: { network: '', group: '' }, snapshot: unread }];
  registerServiceMetrics(
    registry,
    {
      version: '',
      networks: ofNetwork,
      pools: ofGroup,
      connections: ofGroup,
      keptAccounts: ofGroup,
      contracts: ofGroup,
      tvm: ofNetwork,
      indexes: ofNetwork,
      readers: ofNetwork,
      pending: ofNetwork,
      streams: ofNetwork,
      webhooks: ofNetwork,
      databases: ofNetwork,
      writers: ofNetwork,
      metadata: ofNetwork,
      lookUps: ofNetwork,
      localnets: ofNetwork,
      access: unread,
    },
    systemClock,
  );
  new HttpMetrics(registry, { calls: unread, connections: unread, bodies: unread } as never);
  const metrics = registry.getMetricsAsArray() as unknown as {
    readonly name: string;
    readonly help: string;
    readonly labelNames: readonly string[];
    readonly type: string;
  }[];
  return metrics.map(({ name, help, labelNames, type }) => ({
    name,
    help,
    labels: labelNames.filter((label) => label !== 'le'),
    type,
  }));
}

/** The text of docs/metrics.md. */
export function metricsPage(metrics: readonly DocumentedMetric[]): string {
  const subjects = new Map<string, DocumentedMetric[]>();
  for (const metric of metrics.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const subject = metric.name.split('_')[1]!;
    subjects.set(subject, [...(subjects.get(subject) ?? []), metric]);
  }
  const sections = [...subjects].map(([subject, rows]) => {
    const lines = rows.map(
      ({ name, type, labels, help }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
    return `\n## tern_${subject}\n\n| metric | type | labels | what it counts |\n|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  return introduction + sections.join('');
}
