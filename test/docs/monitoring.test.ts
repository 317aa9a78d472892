import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** Every metric that is documented; the page is compared with the registered ones elsewhere. */
const documented = new Map(
  [...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(tern_\w+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    ([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label) },
    ],
  ),
);

/** Those of prom-client that are used. */
const PROCESS = ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8')) as {
  readonly panels: readonly Panel[];
};
const alerts = parse(readFileSync('deploy/grafana/alerts.yaml', 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
];

/** The documented name of a metric in an expression: without what a histogram adds. */
const baseOf = (name: string) => (documented.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));

describe('the dashboard and the alert rules', () => {
  it('have panels and rules', () => {
    expect(dashboard.panels.length).toBeGreaterThan(20);
    expect(expressions.length).toBeGreaterThan(40);
  });

  it.each(expressions)('%s: %s uses metrics that there are', (_, expr) => {
    const names = expr.match(/\b(tern|process|nodejs)_\w+/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !documented.has(baseOf(name)) && !PROCESS.includes(name))).toEqual([]);
  });

  it.each(expressions)('%s: %s uses labels that these metrics have', (_, expr) => {
    for (const [, name = '', selector = ''] of expr.matchAll(/\b(tern_\w+)\{([^}]*)\}/g)) {
      const { labels = [] } = documented.get(baseOf(name)) ?? {};
      const used = [...selector.matchAll(/(\w+)=/g)].map(([, label]) => label);
      expect(
        used.filter((label) => !labels.includes(label)),
        name,
      ).toEqual([]);
    }
  });

  it.each(expressions)('%s: %s has balanced brackets, and rates of counters only', (_, expr) => {
    for (const [open, close] of ['()', '[]', '{}']) expect(expr.split(open!).length).toBe(expr.split(close!).length);
    for (const [, name = ''] of expr.matchAll(/(?:rate|increase)\((\w+)/g)) {
      const type = documented.get(baseOf(name))?.type ?? 'counter';
      expect(['counter', 'histogram'], name).toContain(type);
    }
  });
});
