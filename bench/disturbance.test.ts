import { expect, it } from 'vitest';
import { type DisturbanceCase, measureDisturbance } from './disturbance.js';
import { reportText } from './report.js';

const options = { runs: 3, warmMs: 10, sampleMs: 100 };

/** Calls that take 10 ms, 2 of 100 take 30; on the other side so many times as long once something is wrong. */
function subject(factor: number, done: string[] = []): DisturbanceCase {
  const usual = Array.from({ length: 100 }, (_, i) => (i < 2 ? 30 : 10));
  return {
    name: 'one of three stalls',
    unit: 'reads',
    inFlight: 4,
    target: 1.2,
    open: async () => {
      done.push('open');
      let by = 1;
      return {
        sample: async (ms) => {
          done.push(`sample ${ms}`);
          return { usual, disturbed: usual.map((duration) => duration * by) };
        },
        disturb: async () => {
          done.push('disturb');
          by = factor;
        },
        close: async () => void done.push('close'),
      };
    },
  };
}

it('lets both sides make calls, disturbs one, and compares windows', async () => {
  const done: string[] = [];
  const result = await measureDisturbance(subject(1.1, done), options);
  const window = ['open', 'sample 10', 'disturb', 'sample 100', 'close'];
  expect(done).toEqual([...window, ...window, ...window]);
  expect(result).toMatchObject({ calls: 600, runs: 3, met: true });
  expect(result.usual.p50.median).toBe(10);
  expect(result.usual.p99.median).toBe(30);
  expect(result.ratio.p99.median).toBeCloseTo(1.1);
  expect((await measureDisturbance(subject(1.3), options)).met).toBe(false);
});

it('closes what it has opened when a call fails', async () => {
  const done: string[] = [];
  const failing: DisturbanceCase = {
    ...subject(1),
    open: async () => ({
      sample: () => Promise.reject(new TypeError('no answer')),
      disturb: async () => {},
      close: async () => void done.push('close'),
    }),
  };
  await expect(measureDisturbance(failing, options)).rejects.toThrow('no answer');
  expect(done).toEqual(['close']);
});

it('stands in the report in a table of its own', async () => {
  const disturbances = [await measureDisturbance(subject(1.5), options)];
  const machine = { cpu: 'abacus', cores: 2, platform: 'wood', node: '20.18.0' };
  const text = reportText({ name: 'faults', baseline: null, machine, cases: [], latencies: [], disturbances });
  expect(text).toMatch(/^while +in flight +windows +usual p50 .* p99 ratio +min … max +target$/m);
  expect(text).toMatch(/^one of three stalls +4 +3 +10 ms +30 ms .* 1\.50x +1\.50x +1\.50x … 1\.50x +1\.20x missed$/m);
  expect(text).not.toContain('baseline');
});
