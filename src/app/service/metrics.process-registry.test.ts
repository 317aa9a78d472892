import perfHooks from 'node:perf_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { ProcessRegistry } from '#app/service/metrics.js';

afterEach(() => vi.restoreAllMocks());

const LAG = /^nodejs_eventloop_lag_p99_seconds \d/m;

it('measures the event loop from the first time that it is read', async () => {
  const measure = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  const registry = new ProcessRegistry();
  expect(measure).not.toHaveBeenCalled();

  const first = await registry.metrics();
  expect(measure).toHaveBeenCalledOnce();
  expect(first).toMatch(/^process_cpu_seconds_total \d/m);
  // Nothing was measured yet: its least value would be that of no value at all.
  expect(first).not.toMatch(LAG);

  expect(await registry.metrics()).toMatch(LAG);
  expect(measure).toHaveBeenCalledOnce();
});
