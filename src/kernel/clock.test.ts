import { describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { FakeClock } from '#test/support/fake-clock.js';

describe('the clock of the computer', () => {
  it('does not go back, and calls after the delay', async () => {
    const before = systemClock.now();
    await new Promise<void>((resolve) => systemClock.schedule(20, resolve));
    expect(systemClock.now() - before).toBeGreaterThan(15);
  });

  it('does not call what was cancelled, nor at once what is far away', async () => {
    const called: string[] = [];
    const cancel = systemClock.schedule(5, () => called.push('cancelled'));
    const cancelFar = systemClock.schedule(2 ** 40, () => called.push('far'));
    cancel();
    cancel();
    await new Promise<void>((resolve) => systemClock.schedule(30, resolve));
    cancelFar();
    expect(called).toEqual([]);
  });
});

describe('the clock of tests', () => {
  it('calls in order of time, each at its time, also what is scheduled on the way', () => {
    const clock = new FakeClock(1000);
    const called: string[] = [];
    const note = (name: string) => () => called.push(`${name}@${clock.now()}`);
    clock.schedule(20, note('b'));
    clock.schedule(10, () => {
      note('a')();
      clock.schedule(5, note('a2'));
    });
    clock.schedule(10, note('a1'));
    const cancel = clock.schedule(15, note('never'));
    clock.schedule(31, note('later'));
    cancel();
    clock.advance(30);
    expect(called).toEqual(['a@1010', 'a1@1010', 'a2@1015', 'b@1020']);
    expect([clock.now(), clock.pending]).toEqual([1030, 1]);
  });
});
