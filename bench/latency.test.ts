import { expect, it } from 'vitest';
import { type LatencyCase, measureLatency, percentile } from './latency.js';
import { reportText } from './report.js';

/** A clock that goes on by itself: the calls that wait end in the order of their times. */
function fakeTime() {
  let ms = 0;
  const due: { at: number; resolve: () => void }[] = [];
  const tick = (): void => {
    due.sort((a, b) => a.at - b.at);
    const next = due.shift();
    if (next === undefined) return;
    ms = next.at;
    next.resolve();
    setImmediate(tick);
  };
  return {
    options: { runs: 3, sampleMs: 1000, now: () => ms },
    wait: (duration: number) =>
      new Promise<void>((resolve) => {
        if (due.length === 0) setImmediate(tick);
        due.push({ at: ms + duration, resolve });
      }),
  };
}

it('reports percentiles by rank', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(percentile(hundred, 0.5)).toBe(50);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile([7], 0.99)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});

it('keeps so many calls under way, and times each of them', async () => {
  const { options, wait } = fakeTime();
  let calls = 0;
  let underWay = 0;
  let most = 0;
  const bench: LatencyCase = {
    name: 'fetch',
    unit: 'fetches',
    inFlight: 4,
    call: async () => {
      most = Math.max(most, ++underWay);
      // 3 of 100 calls are slow.
      await wait(calls++ % 100 < 3 ? 200 : 10);
      underWay--;
    },
  };
  const result = await measureLatency(bench, options);
  expect(most).toBe(4);
  expect(underWay).toBe(0);
  expect(result).toMatchObject({ name: 'fetch', unit: 'fetches', inFlight: 4, runs: 3 });
  expect(result.p50.median).toBe(10);
  expect(result.p99.median).toBe(200);
  expect(result.rate.median).toBeGreaterThan(150);
  expect(result.rate.median).toBeLessThan(400);
});

it('ends with the error of a call', async () => {
  const { options, wait } = fakeTime();
  const call = async () => {
    await wait(10);
    throw new TypeError('no answer');
  };
  await expect(measureLatency({ name: 'a', unit: 'b', inFlight: 2, call }, options)).rejects.toThrow('no answer');
});

it('stands in the report in a table of its own', async () => {
  const { options, wait } = fakeTime();
  let cpu = 0;
  const read = { name: 'read', unit: 'reads', inFlight: 2, call: () => wait(4) };
  const free = await measureLatency(read, options);
  const costly = async () => {
    cpu += 0.25;
    await wait(4);
  };
  const measured = { ...read, name: 'costly', call: costly, cpuMs: async () => cpu, cpuTarget: 0.2 };
  const counted = await measureLatency(measured, options);
  const machine = { cpu: 'abacus', cores: 2, platform: 'wood', node: '20.18.0' };
  const text = reportText({ name: 'counting', baseline: null, machine, cases: [], latencies: [free, counted] });
  expect(text).toMatch(/^calls that wait +in flight +rate .* p50 .* p99 .* CPU .* target$/m);
  expect(text).toMatch(/^read +2 +500 reads\/s +500 … 500 +4 ms +4 … 4 +4 ms +4 … 4 +- +- +-$/m);
  expect(text).toMatch(/^costly .* 0\.25 ms +0\.25 … 0\.25 +0\.2 ms missed$/m);
});
