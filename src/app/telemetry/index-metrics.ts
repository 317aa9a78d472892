import type { MetricRow, Sample } from '#app/telemetry/metric-rows.js';

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
