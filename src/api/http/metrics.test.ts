import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { HttpMetrics } from '#api/http/metrics.js';

const DURATION = 'tern_http_request_duration_seconds';

function metricsOf(registry: Registry): HttpMetrics {
  const unread = { closed: new Map(), cache: {}, queue: {} };
  const server = {
    calls: unread,
    connections: unread,
    bodies: unread,
    received: unread,
    turns: unread,
    refusals: unread,
  };
  return new HttpMetrics(registry, server as never);
}

describe('the durations of requests', () => {
  const observed = [
    ['mainnet', '/api/v2', 'getMasterchainInfo', 200, 0.0005],
    ['mainnet', '/api/v2', 'getMasterchainInfo', 200, 0.00051],
    ['mainnet', '/api/v2', 'getMasterchainInfo', 503, 2],
    ['mainnet', '/api/v3', 'transactions', 404, 0],
    ['testnet', '/api/v3', 'transactions', 200, 11],
    ['mainnet', '/api/v2', 'getMasterchainInfo', 200, 0.3],
    ['mainnet', '/api/v3', 'transactions', 999, 10],
  ] as const;

  it('are told as a histogram of prom-client tells them', async () => {
    const registry = new Registry();
    const metrics = metricsOf(registry);
    const [theirs, plain] = [new Registry(), await registry.getSingleMetric(DURATION)];
    const { help, buckets } = plain as unknown as { readonly help: string; readonly buckets: number[] };
    const labelNames = ['network', 'api', 'endpoint', 'status_class'];
    const histogram = new Histogram({ name: DURATION, help, buckets, labelNames, registers: [theirs] });
    for (const [network, api, endpoint, status, seconds] of observed) {
      metrics.observe(network, api, endpoint, status, seconds);
      const status_class = status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
      histogram.observe({ network, api, endpoint, status_class }, seconds);
    }
    const lines = async (each: Registry) => (await each.getSingleMetricAsString(DURATION)).split('\n').sort();
    // Labels are written in their order, and the bound comes first.
    expect(await lines(registry)).toEqual(await lines(theirs));
    expect((await lines(registry)).length).toBe(2 + 5 * (buckets.length + 3));
  });

  it('are counted apart from work, which is told only where some was done', async () => {
    const registry = new Registry();
    const metrics = metricsOf(registry);
    metrics.observe('mainnet', '/api/v2', 'getMasterchainInfo', 200, 0.001);
    metrics.worked('mainnet', '/api/v3', 'transactions', 1.5);
    metrics.worked('mainnet', '/api/v3', 'transactions', 2);
    const [, , ...lines] = (await registry.getSingleMetricAsString('tern_http_work_units_total')).split('\n');
    expect(lines).toEqual(['tern_http_work_units_total{network="mainnet",api="/api/v3",endpoint="transactions"} 3.5']);
  });
});
