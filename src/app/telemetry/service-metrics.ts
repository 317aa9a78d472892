import { collectDefaultMetrics, type Registry } from 'prom-client';
import { accessMetricRows } from '#app/telemetry/access-metrics.js';
import { adnlMetricRows } from '#app/telemetry/adnl-metrics.js';
import { contractMetricRows } from '#app/telemetry/contract-metrics.js';
import {
  type DatabaseFigures,
  databaseMetricRows,
  type IndexFigures,
  indexMetricRows,
} from '#app/telemetry/index-metrics.js';
import { indexerMetricRows, type WriterFigures } from '#app/telemetry/indexer-metrics.js';
import { liteMetricRows } from '#app/telemetry/lite-metrics.js';
import { localnetMetricRows } from '#app/telemetry/localnet-metrics.js';
import { metadataMetricRows } from '#app/telemetry/metadata-metrics.js';
import { type MetricRow, type MetricSource, registerRows } from '#app/telemetry/metric-rows.js';
import { tvmMetricRows } from '#app/telemetry/tvm-metrics.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import type { PoolMetrics } from '#drivers/lite/metrics.js';
import type { TvmMetrics } from '#drivers/tvm/metrics.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { RoundCounts } from '#localnet/node/node-messages.js';
import type { AccessMetrics } from '#services/access/metrics.js';
import type { ContractsMetrics } from '#services/contracts/status.js';
import type { MetadataMetrics } from '#services/metadata/metrics.js';

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
  readonly localnets: readonly MetricSource<RoundCounts>[];
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
