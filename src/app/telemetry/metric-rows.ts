import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '#kernel/clock.js';
import type { MetricRow, MetricSource, Sample } from '#kernel/metric-rows.js';

/** A snapshot is reused for all metrics of a scrape, for this time. */
const SCRAPE_MS = 100;

/** Registers a metric for each row, with the samples of all sources. */
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
