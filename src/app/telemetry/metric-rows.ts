import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '#kernel/clock/clock.js';

/** Values of labels, by name. */
export type Labels = Readonly<Record<string, string>>;

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

/** Where snapshots come from, and the labels that all of their samples have. */
export interface MetricSource<Snapshot> {
  readonly labels: Labels;
  readonly snapshot: () => Snapshot;
}

/** A snapshot is used for all metrics of a scrape: for so long. */
const SCRAPE_MS = 100;

/** Registers a metric for each row; its samples are those of all sources. */
export function registerRows<Snapshot>(
  registry: Registry,
  rows: readonly MetricRow<Snapshot>[],
  sources: readonly MetricSource<Snapshot>[],
  clock: Clock,
): void {
  const shared = sources.map(({ labels, snapshot }) => ({ labels, snapshot: heldFor(SCRAPE_MS, snapshot, clock) }));
  const [first] = sources;
  for (const { name, help, kind, labels = [], read } of rows) {
    const samples = function* (): Generator<Sample> {
      for (const source of shared) {
        const found = read(source.snapshot());
        if (typeof found === 'number') yield [source.labels, found];
        else for (const [own, value] of found) yield [{ ...source.labels, ...own }, value];
      }
    };
    const labelNames = [...Object.keys(first?.labels ?? {}), ...labels];
    const definition = { name, help, labelNames, registers: [registry] };
    if (kind === 'gauge') {
      const gauge: Gauge = new Gauge({
        ...definition,
        collect() {
          gauge.reset();
          for (const [own, value] of samples()) gauge.set(own, value);
        },
      });
    } else {
      const counter: Counter = new Counter({
        ...definition,
        collect() {
          counter.reset();
          for (const [own, value] of samples()) counter.inc(own, value);
        },
      });
    }
  }
}

function heldFor<T>(ms: number, make: () => T, clock: Clock): () => T {
  let held: { readonly value: T; readonly since: number } | null = null;
  return () => {
    if (held === null || clock.now() - held.since > ms) held = { value: make(), since: clock.now() };
    return held.value;
  };
}
