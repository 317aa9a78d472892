import { collectDefaultMetrics, type Registry } from 'prom-client';
import { accessMetricRows } from '#app/telemetry/access-metrics.js';
import { indexerMetricRows, type WriterFigures } from '#app/telemetry/indexer-metrics.js';
import { localnetMetricRows } from '#app/telemetry/localnet-metrics.js';
import { metadataMetricRows } from '#app/telemetry/metadata-metrics.js';
import { registerRows } from '#app/telemetry/metric-rows.js';
import { type AdnlMetrics, adnlMetricRows } from '#drivers/adnl/metrics.js';
import { liteMetricRows, type PoolMetrics } from '#drivers/lite/metrics.js';
import { type TvmMetrics, tvmMetricRows } from '#drivers/tvm/metrics.js';
import type { Clock } from '#kernel/clock.js';
import type { MetricRow, MetricSource, Sample } from '#kernel/metric-rows.js';
import type { ProducedCounts } from '#localnet/node/node-protocol.js';
import type { AccessMetrics } from '#services/access/access.js';
import { type ContractsMetrics, contractMetricRows } from '#services/emulation/metrics.js';
import type { MetadataMetrics } from '#services/metadata/metadata-fetcher.js';

/** How a network is; what `/readyz` tells, as figures. */
export interface NetworkFigures {
  readonly ready: boolean;
  /** Newest masterchain block that is proven; 0 before the first. */
  readonly head_seqno: number;
  readonly head_age_seconds: number | null;
}

/** Everything that has figures, with a source for each. */
export interface MeasuredService {
  readonly version: string;
  readonly networks: readonly MetricSource<NetworkFigures>[];
  readonly pools: readonly MetricSource<PoolMetrics>[];
  readonly connections: readonly MetricSource<AdnlMetrics>[];
  readonly contracts: readonly MetricSource<ContractsMetrics>[];
  readonly tvm: readonly MetricSource<TvmMetrics>[];
  /** Of the networks that have an index. */
  readonly indexes: readonly MetricSource<IndexFigures>[];
  readonly databases: readonly MetricSource<DatabaseFigures>[];
  /** `null` where this process does not write. */
  readonly writers: readonly MetricSource<WriterFigures | null>[];
  /** `null` where this process does not write. */
  readonly metadata: readonly MetricSource<MetadataMetrics | null>[];
  /** Of networks that run in this process. */
  readonly localnets: readonly MetricSource<ProducedCounts>[];
  /** `null` where everybody may ask. */
  readonly access: (() => AccessMetrics) | null;
}

const networkMetricRows: readonly MetricRow<NetworkFigures>[] = [
  {
    name: 'tern_network_ready',
    help: '1 when requests about the network can be answered, as /readyz tells',
    kind: 'gauge',
    read: ({ ready }) => Number(ready),
  },
  {
    name: 'tern_network_head_seqno',
    help: 'Newest masterchain block that is proven',
    kind: 'gauge',
    read: ({ head_seqno }) => head_seqno,
  },
  {
    name: 'tern_network_head_age_seconds',
    help: 'Time since that block was made',
    kind: 'gauge',
    read: ({ head_age_seconds }) => (head_age_seconds === null ? [] : [[{}, head_age_seconds]]),
  },
];

const versionRow: MetricRow<string> = {
  name: 'tern_build_info',
  help: 'Always 1; the label tells the version',
  kind: 'gauge',
  labels: ['version'],
  read: (version) => [[{ version }, 1]],
};

/** Puts the metrics of Tern into a registry; those of HTTP are put there by the server. */
export function registerServiceMetrics(registry: Registry, service: MeasuredService, clock: Clock): void {
  const { version, networks, pools, connections, contracts, tvm, indexes, databases, writers, metadata, access } =
    service;
  const { localnets } = service;
  registerRows(registry, [versionRow], [{ labels: {}, snapshot: () => version }], clock);
  registerRows(registry, networkMetricRows, networks, clock);
  registerRows(registry, liteMetricRows, pools, clock);
  registerRows(registry, adnlMetricRows, connections, clock);
  registerRows(registry, contractMetricRows, contracts, clock);
  registerRows(registry, tvmMetricRows, tvm, clock);
  if (indexes.length > 0) {
    registerRows(registry, indexMetricRows, indexes, clock);
    registerRows(registry, indexerMetricRows, writers, clock);
    registerRows(registry, databaseMetricRows, databases, clock);
    registerRows(registry, metadataMetricRows, metadata, clock);
  }
  if (localnets.length > 0) registerRows(registry, localnetMetricRows, localnets, clock);
  if (access !== null) registerRows(registry, accessMetricRows, [{ labels: {}, snapshot: access }], clock);
}

/** Puts the metrics of the process into a registry: those that prom-client knows, under its names. */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}

/** How an index is, as those see it who read it. */
export interface IndexFigures {
  /** Whether it could be read when that was tried last. */
  readonly readable: boolean;
  /** 0 before anything is indexed. */
  readonly head_seqno: number;
  readonly head_age_seconds: number | null;
  /** Behind the newest block that is proven. */
  readonly lag_seconds: number | null;
  /** Masterchain blocks between the first and the last indexed one that are not indexed. */
  readonly missing_blocks: number;
}

/** Connections to a database. */
export interface PoolFigures {
  readonly open: number;
  readonly idle: number;
  /** How many wait for one. */
  readonly waiting: number;
}

/** Connections by what they are for; `null` while the database is not open. */
export type DatabaseFigures = Readonly<Record<'read' | 'write', PoolFigures>> | null;

export const indexMetricRows: readonly MetricRow<IndexFigures>[] = [
  gauge('readable', '1 when the index could be read when that was tried last', ({ readable }) => Number(readable)),
  gauge('head_seqno', 'Newest masterchain block that is indexed with all it commits', (index) => index.head_seqno),
  gauge('head_age_seconds', 'Time since that block was made', (index) => known(index.head_age_seconds)),
  gauge('lag_seconds', 'By how much that block is older than the newest proven one', (index) =>
    known(index.lag_seconds),
  ),
  gauge(
    'missing_blocks',
    'Masterchain blocks between the first and the last indexed one that are not indexed',
    (index) => index.missing_blocks,
  ),
];

export const databaseMetricRows: readonly MetricRow<DatabaseFigures>[] = [
  {
    name: 'tern_database_open',
    help: '1 since the database was opened and its schema found right',
    kind: 'gauge',
    read: (pools) => Number(pools !== null),
  },
  ofPools('connections', 'Connections, by what they are for', ({ open }) => open),
  ofPools('idle_connections', 'Connections that nobody uses', ({ idle }) => idle),
  ofPools('waiting', 'Who waits for a connection', ({ waiting }) => waiting),
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
