import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { collectMetrics, metricsPage } from './metrics-page.js';

const metrics = collectMetrics();

it('docs/metrics.md is what the code registers; npm run docs:metrics writes it again', () => {
  expect(readFileSync('docs/metrics.md', 'utf8')).toBe(metricsPage(metrics));
});

it('names metrics for their units, and says what each is', () => {
  expect(metrics.length).toBeGreaterThan(60);
  for (const { name, type, help } of metrics) {
    expect(name).toMatch(/^tern_[a-z0-9_]+$/);
    expect(help, name).toMatch(/^\S.{5,}[^.]$/);
    if (type === 'counter') expect(name).toMatch(/_total$/);
    else expect(name).not.toMatch(/_total$/);
  }
});
