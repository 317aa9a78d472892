import { expect, it } from 'vitest';
import { histogramQuantile, prometheusSamples, sampleSum } from '#kernel/prometheus-text.js';

const PAGE = `# HELP a_total Things
# TYPE a_total counter
a_total{network="main",reason="x \\"y\\""} 3
a_total{network="test"} 4
b 1.5
d_bucket{le="0.1",api="v2"} 90
d_bucket{le="1",api="v2"} 99
d_bucket{le="+Inf",api="v2"} 100
`;

it('metrics are read with their labels', () => {
  const samples = prometheusSamples(PAGE);
  expect(samples[0]).toEqual({ name: 'a_total', labels: { network: 'main', reason: 'x "y"' }, value: 3 });
  expect(sampleSum(samples, 'a_total')).toBe(7);
  expect(sampleSum(samples, 'a_total', { network: 'test' })).toBe(4);
  expect(sampleSum(samples, 'b')).toBe(1.5);
  expect(sampleSum(samples, 'c')).toBeNull();
});

it('a quantile is the bound of the bucket in which it lies', () => {
  const samples = prometheusSamples(PAGE);
  expect(histogramQuantile(samples, 'd', 0.5)).toBe(0.1);
  expect(histogramQuantile(samples, 'd', 0.99, { api: 'v2' })).toBe(1);
  expect(histogramQuantile(samples, 'd', 1)).toBe(Number.POSITIVE_INFINITY);
  expect(histogramQuantile(samples, 'd', 0.5, { api: 'v3' })).toBeNull();
});
