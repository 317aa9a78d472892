import { expect, it } from 'vitest';
import { defineErrors } from '#kernel/tern-error.js';
import { allowedMemory, allowedMs, emptyTally, exercise, type Meter, makeInput } from './exercise.js';
import type { FuzzTarget } from './fuzz-target.js';
import { realMeter } from './real-meter.js';

const errors = defineErrors('fixture', {
  expected: { class: 'caller', message: () => 'as it should be', remedy: 'None.' },
  surprise: { class: 'internal', message: () => 'as it should not be', remedy: 'None.' },
});

const target = (run: FuzzTarget['run']): FuzzTarget => ({
  name: 'fixture',
  make: (random) => random.bytes(random.between(1, 2000)),
  run,
  allowed: (error) => error.code === errors.expected.code,
});

function runOnce(run: FuzzTarget['run'], meter: Meter = realMeter) {
  const tally = emptyTally();
  exercise(target(run), 'seed', 5, tally, meter);
  return tally;
}

/** A meter whose readings the call itself moves. */
function fakeMeter() {
  const state = { ms: 0, bytes: 0, collected: 0 };
  const meter: Meter = {
    now: () => state.ms,
    memory: () => state.bytes,
    collect: () => {
      state.collected++;
    },
  };
  return { state, meter };
}

it('makes the same input again from seed and iteration', () => {
  const fixture = target(() => {});
  expect(makeInput(fixture, 'seed', 5)).toEqual(makeInput(fixture, 'seed', 5));
  expect(makeInput(fixture, 'seed', 5)).not.toEqual(makeInput(fixture, 'seed', 6));
});

it('accepts success and allowed errors', () => {
  expect(runOnce(() => {})).toMatchObject({ iterations: 1, accepted: 1, errors: {}, failures: [] });
  const refused = runOnce(() => {
    throw errors.expected({});
  });
  expect(refused).toMatchObject({ iterations: 1, accepted: 0, errors: { 'fixture/expected': 1 }, failures: [] });
});

it('reports foreign errors and codes that are not allowed', () => {
  const throwing = (thrown: unknown) =>
    runOnce(() => {
      throw thrown;
    }).failures.map(({ kind, iteration }) => ({ kind, iteration }));
  expect(throwing(new TypeError('x'))).toEqual([{ kind: 'TypeError', iteration: 5 }]);
  expect(throwing('text')).toEqual([{ kind: 'thrown', iteration: 5 }]);
  expect(throwing(undefined)).toEqual([{ kind: 'thrown', iteration: 5 }]);
  expect(throwing(errors.surprise({}))).toEqual([{ kind: 'fixture/surprise', iteration: 5 }]);
  const overflow: () => number = () => 1 + overflow();
  expect(runOnce(overflow).failures).toMatchObject([{ kind: 'RangeError' }]);
});

it('reports a call that is slow every time, not one that was disturbed once', () => {
  const { state, meter } = fakeMeter();
  const slow = runOnce((input) => {
    state.ms += allowedMs(input.length) + 1;
  }, meter);
  expect(slow.failures).toMatchObject([{ kind: 'slow' }]);
  let calls = 0;
  const disturbed = runOnce((input) => {
    state.ms += calls++ === 0 ? allowedMs(input.length) + 1 : 1;
  }, meter);
  expect(disturbed.failures).toEqual([]);
  expect(disturbed.slowest.ms).toBe(1);
});

it('reports a call that takes more memory than its input justifies', () => {
  const { state, meter } = fakeMeter();
  const hungry = runOnce((input) => {
    state.bytes += allowedMemory(input.length) + 1;
  }, meter);
  expect(hungry.failures).toMatchObject([{ kind: 'memory' }]);
  expect(state.collected).toBe(3);

  const real = runOnce(() => void new Uint8Array(2 ** 26));
  expect(real.failures.map(({ kind }) => kind)).toContain('memory');
});

it('allows 50 ms per KiB, and 50 ms at least', () => {
  expect(allowedMs(0)).toBe(50);
  expect(allowedMs(1024)).toBe(50);
  expect(allowedMs(4096)).toBe(200);
});

it('reports each kind of failure once', () => {
  const tally = emptyTally();
  const crashing = target(() => {
    throw new TypeError('again');
  });
  for (let i = 0; i < 10; i++) exercise(crashing, 'seed', i, tally, realMeter);
  expect(tally.iterations).toBe(10);
  expect(tally.failures).toHaveLength(1);
});
