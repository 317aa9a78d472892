import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerRows } from '#app/telemetry/metric-rows.js';
import type { MetricRow } from '#kernel/metric-rows.js';
import { FakeClock } from '#test/support/fake-clock.js';

interface Kettle {
  readonly degrees: number | null;
  readonly cups: Readonly<Record<string, number>>;
}

const rows: readonly MetricRow<Kettle>[] = [
  {
    name: 'kettle_degrees',
    help: 'How hot it is',
    kind: 'gauge',
    read: ({ degrees }) => (degrees === null ? [] : [[{}, degrees]]),
  },
  {
    name: 'kettle_cups_total',
    help: 'Cups filled',
    kind: 'counter',
    labels: ['guest'],
    read: ({ cups }) => Object.entries(cups).map(([guest, count]) => [{ guest }, count]),
  },
  { name: 'kettle_guests', help: 'Guests', kind: 'gauge', read: ({ cups }) => Object.keys(cups).length },
];

const linesOf = async (registry: Registry) =>
  (await registry.metrics()).split('\n').filter((line) => /^kettle/.test(line));

it('shows what each source says now, with its labels', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  const kettles: Record<'a' | 'b', Kettle> = {
    a: { degrees: 20, cups: { ann: 1, bob: 2 } },
    b: { degrees: null, cups: {} },
  };
  const sources = (['a', 'b'] as const).map((room) => ({ labels: { room }, snapshot: () => kettles[room] }));
  registerRows(registry, rows, sources, clock);
  expect(await linesOf(registry)).toEqual([
    'kettle_degrees{room="a"} 20',
    'kettle_cups_total{room="a",guest="ann"} 1',
    'kettle_cups_total{room="a",guest="bob"} 2',
    'kettle_guests{room="a"} 2',
    'kettle_guests{room="b"} 0',
  ]);

  kettles.a = { degrees: null, cups: { bob: 5 } };
  clock.advance(1_000);
  expect(await linesOf(registry)).toEqual([
    'kettle_cups_total{room="a",guest="bob"} 5',
    'kettle_guests{room="a"} 1',
    'kettle_guests{room="b"} 0',
  ]);
});

it('takes one snapshot for all metrics of a scrape, and a new one for the next', async () => {
  const registry = new Registry();
  const clock = new FakeClock();
  let snapshots = 0;
  const snapshot = (): Kettle => {
    snapshots++;
    return { degrees: 1, cups: {} };
  };
  registerRows(registry, rows, [{ labels: {}, snapshot }], clock);
  await registry.metrics();
  expect(snapshots).toBe(1);
  clock.advance(1_000);
  await registry.metrics();
  expect(snapshots).toBe(2);
});
