/** Values of labels, by name. */
type Labels = Readonly<Record<string, string>>;

/** A value with the labels that tell it from others of its metric. */
export type Sample = readonly [labels: Labels, value: number];

/** A metric that is read from a snapshot when somebody asks. */
export interface MetricRow<Snapshot> {
  /** `tern_lite_requests_total` */
  readonly name: string;
  /** What it counts, in a few words. */
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  /** Besides those of the source. */
  readonly labels?: readonly string[];
  readonly read: (snapshot: Snapshot) => number | Iterable<Sample>;
}

/** Makes rows without labels of their own, whose names begin alike. @param prefix such as `tern_lookups_` */
export function rowsNamed<Snapshot>(prefix: string) {
  return (
    kind: 'counter' | 'gauge',
    name: string,
    help: string,
    read: (snapshot: Snapshot) => number,
  ): MetricRow<Snapshot> => ({ name: prefix + name, help, kind, read });
}

/** Where snapshots come from, and the labels that all of their samples have. */
export interface MetricSource<Snapshot> {
  readonly labels: Labels;
  readonly snapshot: () => Snapshot;
}
