import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect, it } from 'vitest';
import { type BenchCase, measureCase, spreadOf } from './harness.js';
import { reportText } from './report.js';

/** A clock that only moves when work is done on it. */
function fakeTime() {
  let ms = 0;
  return {
    options: { runs: 5, sampleMs: 200, now: () => ms },
    pass: (duration: number) => {
      ms += duration;
    },
  };
}

it('reports least, middle and greatest', () => {
  expect(spreadOf([3, 1, 2])).toEqual({ min: 1, median: 2, max: 3 });
  expect(spreadOf([4, 1, 2, 3])).toEqual({ min: 1, median: 2.5, max: 4 });
});

it('runs both sides in turn and long enough, and divides pair by pair', () => {
  const { options, pass } = fakeTime();
  const order: string[] = [];
  const bench: BenchCase = {
    name: 'boil water',
    unit: 'litres',
    work: 10,
    target: 50,
    ours: () => {
      order.push('ours');
      pass(1);
    },
    baseline: () => {
      order.push('baseline');
      pass(500);
    },
  };
  const result = measureCase(bench, options);
  expect(result.ours.median).toBeCloseTo(10_000);
  expect(result.baseline?.median).toBeCloseTo(20);
  expect(result.ratio?.median).toBeCloseTo(500);
  expect(result.met).toBe(true);

  const sides = order.filter((side, i) => side !== order[i - 1]);
  expect(sides.slice(-10)).toEqual(Array.from({ length: 5 }, () => ['ours', 'baseline']).flat());
  expect(order.slice(order.lastIndexOf('ours') + 1)).toEqual(['baseline']);
  expect(order.filter((side) => side === 'ours').length / 5).toBeGreaterThanOrEqual(200);
});

it('takes the ratio of units, not of calls', () => {
  const { options, pass } = fakeTime();
  const bench: BenchCase = {
    name: 'uneven',
    unit: 'cells',
    work: 100,
    baselineWork: 1,
    target: 101,
    ours: () => pass(10),
    baseline: () => pass(10),
  };
  const { ratio, met } = measureCase(bench, options);
  expect(ratio?.median).toBeCloseTo(100);
  expect(met).toBe(false);
});

it('measures alone when there is nothing to compare with', () => {
  const { options, pass } = fakeTime();
  const result = measureCase({ name: 'alone', unit: 'calls', work: 1, ours: () => pass(2) }, options);
  expect(result).toMatchObject({ baseline: null, ratio: null, target: null, met: null, runs: 5 });
});

it('prints figure, baseline, ratio and spread of every case', () => {
  const { options, pass } = fakeTime();
  const cases = [
    measureCase(
      { name: 'a', unit: 'cells', work: 7, target: 3, ours: () => pass(1), baseline: () => pass(4) },
      options,
    ),
    measureCase({ name: 'b', unit: 'calls', work: 1, ours: () => pass(2) }, options),
  ];
  const machine = { cpu: 'abacus', cores: 2, platform: 'wood', node: '20.18.0' };
  const text = reportText({ name: 'counting', baseline: 'fingers 10', machine, cases, latencies: [] });
  expect(text).toContain('counting: Tern against fingers 10, medians of 5 interleaved runs\nabacus, 2 cores, wood');
  expect(text).toMatch(/^a +7,000 cells\/s .* 1,750 cells\/s .* 4\.00x .* 3\.00x met$/m);
  expect(text).toMatch(/^b +500 calls\/s +500 … 500 +- +- +- +- +-$/m);
});

it('lists the known names when asked for another one', () => {
  const node = ['--conditions=source', '--import', 'tsx', 'bench/run.ts', 'no-such-bench'];
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^bench: there is no "no-such-bench"\..* known names: [^\n]+\n$/);
});
