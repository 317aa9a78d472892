import { collectDefaultMetrics, Registry } from 'prom-client';
import { type HubMetrics, hubMetricRows } from '#api/stream/metrics.js';
import { type ReaderMetrics, readerMetricRows } from '#api/v3/reader-pool.js';
import { registerRows } from '#app/telemetry/metric-rows.js';
import { type AdnlMetrics, adnlMetricRows } from '#drivers/adnl/metrics.js';
import { liteMetricRows, type PoolMetrics } from '#drivers/lite/metrics.js';
import { type IndexCoverage, isStateComplete } from '#drivers/store/index-state.js';
import { type TvmMetrics, tvmMetricRows } from '#drivers/tvm/metrics.js';
import type { Clock } from '#kernel/clock.js';
import type { MetricRow, MetricSource, Sample } from '#kernel/metric-rows.js';
import { localnetMetricRows, type ProducedCounts } from '#localnet/node/node-thread.js';
import { type AccessMetrics, accessMetricRows } from '#services/access/access.js';
import { type KeptAccountMetrics, keptAccountMetricRows } from '#services/chain/kept-accounts.js';
import { type ContractsMetrics, contractMetricRows } from '#services/emulation/metrics.js';
import { indexerMetricRows, type WriterFigures } from '#services/indexer/metrics.js';
import { type LookUpMetrics, lookUpMetricRows } from '#services/lookups/metrics.js';
import { type MetadataMetrics, metadataMetricRows } from '#services/metadata/metadata-fetcher.js';
import { type PendingMetrics, pendingMetricRows } from '#services/pending/metrics.js';
import { type WebhookMetrics, webhookMetricRows } from '#services/webhooks/metrics.js';

/** State of a network, as reported on `/readyz`. */
interface NetworkFigures {
  readonly ready: boolean;
  /** Newest proven masterchain block; 0 before the first. */
  readonly head_seqno: number;
  readonly head_age_seconds: number | null;
}

/** Sources of all metrics of a service. */
export interface MeasuredService {
  readonly version: string;
  readonly networks: readonly MetricSource<NetworkFigures>[];
  readonly pools: readonly MetricSource<PoolMetrics>[];
  readonly connections: readonly MetricSource<AdnlMetrics>[];
  /** `null` where no account states are kept. */
  readonly keptAccounts: readonly MetricSource<KeptAccountMetrics | null>[];
  readonly contracts: readonly MetricSource<ContractsMetrics>[];
  readonly tvm: readonly MetricSource<TvmMetrics>[];
  /** Networks with an index. */
  readonly indexes: readonly MetricSource<IndexFigures>[];
  readonly databases: readonly MetricSource<DatabaseFigures>[];
  /** Reader threads of networks with API v3. */
  readonly readers: readonly MetricSource<ReaderMetrics>[];
  /** Networks whose messages are followed. */
  readonly pending: readonly MetricSource<PendingMetrics>[];
  /** Streams of networks with an index. */
  readonly streams: readonly MetricSource<HubMetrics>[];
  readonly webhooks: readonly MetricSource<WebhookMetrics>[];
  /** `null` where this process does not write. */
  readonly writers: readonly MetricSource<WriterFigures | null>[];
  /** `null` where this process does not write. */
  readonly metadata: readonly MetricSource<MetadataMetrics | null>[];
  /** `null` where look-ups are off. */
  readonly lookUps: readonly MetricSource<LookUpMetrics | null>[];
  /** Local networks in this process. */
  readonly localnets: readonly MetricSource<ProducedCounts>[];
  /** `null` with open access. */
  readonly access: (() => AccessMetrics) | null;
}

const networkMetricRows: readonly MetricRow<NetworkFigures>[] = [
  {
    name: 'tern_network_ready',
    help: '1 when the network is ready, as on /readyz',
    kind: 'gauge',
    read: ({ ready }) => Number(ready),
  },
  {
    name: 'tern_network_head_seqno',
    help: 'Newest proven masterchain block',
    kind: 'gauge',
    read: ({ head_seqno }) => head_seqno,
  },
  {
    name: 'tern_network_head_age_seconds',
    help: 'Age of the newest block',
    kind: 'gauge',
    read: ({ head_age_seconds }) => (head_age_seconds === null ? [] : [[{}, head_age_seconds]]),
  },
];

const versionRow: MetricRow<string> = {
  name: 'tern_build_info',
  help: 'Always 1; the label contains the version',
  kind: 'gauge',
  labels: ['version'],
  read: (version) => [[{ version }, 1]],
};

/** Registers the metrics of Tern; those of HTTP are registered by the HTTP server. */
export function registerServiceMetrics(registry: Registry, service: MeasuredService, clock: Clock): void {
  const { version, networks, pools, connections, contracts, tvm, indexes, databases, writers, metadata, access } =
    service;
  const { localnets, readers, lookUps, pending } = service;
  registerRows(registry, [versionRow], [{ labels: {}, snapshot: () => version }], clock);
  registerRows(registry, networkMetricRows, networks, clock);
  registerRows(registry, liteMetricRows, pools, clock);
  registerRows(registry, adnlMetricRows, connections, clock);
  registerRows(registry, presentKeptAccountRows, service.keptAccounts, clock);
  registerRows(registry, contractMetricRows, contracts, clock);
  registerRows(registry, tvmMetricRows, tvm, clock);
  if (indexes.length > 0) {
    registerRows(registry, indexMetricRows, indexes, clock);
    registerRows(registry, indexerMetricRows, writers, clock);
    registerRows(registry, databaseMetricRows, databases, clock);
    registerRows(registry, metadataMetricRows, metadata, clock);
    registerRows(registry, presentLookUpRows, lookUps, clock);
  }
  if (readers.length > 0) registerRows(registry, readerMetricRows, readers, clock);
  if (pending.length > 0) registerRows(registry, pendingMetricRows, pending, clock);
  if (service.streams.length > 0) registerRows(registry, hubMetricRows, service.streams, clock);
  if (service.webhooks.length > 0) registerRows(registry, webhookMetricRows, service.webhooks, clock);
  if (localnets.length > 0) registerRows(registry, localnetMetricRows, localnets, clock);
  if (access !== null) registerRows(registry, accessMetricRows, [{ labels: {}, snapshot: access }], clock);
}

/** Of the default metrics: what is measured all the time, and so has no value when that begins. */
const MEASURED_OVER_TIME = /^nodejs_eventloop_lag_(?!seconds$)/;

/**
 * A registry that has the default process metrics of prom-client, from the first time that it is read: they measure the delay of the
 * event loop with a timer of 10 ms, which is most of what an idle process does.
 */
export class ProcessRegistry extends Registry {
  #isRead = false;

  override getMetricsAsArray(): ReturnType<Registry['getMetricsAsArray']> {
    if (this.#isRead) return super.getMetricsAsArray();
    this.#isRead = true;
    collectDefaultMetrics({ register: this });
    return super.getMetricsAsArray().filter(({ name }) => !MEASURED_OVER_TIME.test(name));
  }
}

/** State of an index for readers. */
export interface IndexFigures {
  /** Whether the last read succeeded. */
  readonly readable: boolean;
  /** Whether the index contains another branch of the chain than the liteservers serve. */
  readonly other_branch: boolean;
  /** 0 for an empty index. */
  readonly head_seqno: number;
  readonly head_age_seconds: number | null;
  /** Lag behind the newest proven block. */
  readonly lag_seconds: number | null;
  /** Masterchain blocks between the first and the last indexed one that are not indexed. */
  readonly missing_blocks: number;
  /** What the index has of its chain. */
  readonly coverage: IndexCoverage;
}

/** State of a connection pool. */
interface PoolFigures {
  readonly open: number;
  readonly idle: number;
  /** Requests waiting for a connection. */
  readonly waiting: number;
}

/** Connection pools by purpose; `null` while the database is not open. */
export type DatabaseFigures = Readonly<Record<'read' | 'write', PoolFigures>> | null;

const indexMetricRows: readonly MetricRow<IndexFigures>[] = [
  gauge('readable', '1 when the last read of the index succeeded', ({ readable }) => Number(readable)),
  gauge(
    'other_branch',
    '1 while the liteservers serve another branch of the chain than the index contains; then nothing is written',
    ({ other_branch }) => Number(other_branch),
  ),
  gauge('head_seqno', 'Newest masterchain block indexed with its shard blocks', (index) => index.head_seqno),
  gauge('head_age_seconds', 'Age of the newest block', (index) => known(index.head_age_seconds)),
  gauge('lag_seconds', 'Time difference between the newest proven and the newest indexed block', (index) =>
    known(index.lag_seconds),
  ),
  gauge(
    'missing_blocks',
    'Masterchain blocks missing between the first and the last indexed one',
    (index) => index.missing_blocks,
  ),
  gauge('state_complete', '1 when the newest state of every account is known', ({ coverage }) =>
    Number(isStateComplete(coverage)),
  ),
  gauge('history_first_seqno', 'Oldest indexed masterchain block', ({ coverage }) =>
    known(coverage.history[0]?.from ?? null),
  ),
  gauge(
    'history_ranges',
    'Ranges of masterchain blocks without a gap that are indexed',
    ({ coverage }) => coverage.history.length,
  ),
];

const presentLookUpRows = optionalRows(lookUpMetricRows);
const presentKeptAccountRows = optionalRows(keptAccountMetricRows);

/** Rows that have no samples while the snapshot is `null`. */
function optionalRows<Metrics>(rows: readonly MetricRow<Metrics>[]): readonly MetricRow<Metrics | null>[] {
  return rows.map(({ read, ...row }) => ({ ...row, read: (metrics) => (metrics === null ? [] : read(metrics)) }));
}

const databaseMetricRows: readonly MetricRow<DatabaseFigures>[] = [
  {
    name: 'tern_database_open',
    help: '1 when the database is open and its schema is valid',
    kind: 'gauge',
    read: (pools) => Number(pools !== null),
  },
  ofPools('connections', 'Connections by purpose', ({ open }) => open),
  ofPools('idle_connections', 'Idle connections', ({ idle }) => idle),
  ofPools('waiting', 'Requests waiting for a connection', ({ waiting }) => waiting),
];

function known(value: number | null): Sample[] {
  return value === null ? [] : [[{}, value]];
}

function gauge(
  name: string,
  help: string,
  read: (index: IndexFigures) => number | Iterable<Sample>,
): MetricRow<IndexFigures> {
  return { name: `tern_index_${name}`, help, kind: 'gauge', read };
}

function ofPools(name: string, help: string, read: (pool: PoolFigures) => number): MetricRow<DatabaseFigures> {
  return {
    name: `tern_database_${name}`,
    help,
    kind: 'gauge',
    labels: ['pool'],
    read: (pools) => Object.entries(pools ?? {}).map(([pool, figures]): Sample => [{ pool }, read(figures)]),
  };
}
