import { describe, expect, it } from 'vitest';
import { pause } from '#kernel/clock.js';
import { withDeadline } from '#kernel/deadline.js';
import { FakeClock } from '#test/support/fake-clock.js';

const errors = { expired: () => new TypeError('expired'), aborted: (reason: unknown) => new TypeError(String(reason)) };

describe('waiting for a result', () => {
  it('ends with it, and leaves nothing behind', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    expect(await withDeadline(Promise.resolve(5), { until: 100, signal, ...errors }, clock)).toBe(5);
    await expect(withDeadline(Promise.reject(new TypeError('no')), { until: 100, ...errors }, clock)).rejects.toThrow(
      'no',
    );
    expect(clock.pending).toBe(0);
  });

  it('ends with the time or the signal', async () => {
    const clock = new FakeClock(50);
    const never = new Promise<never>(() => {});
    const late = withDeadline(never, { until: 60, ...errors }, clock);
    clock.advance(10);
    await expect(late).rejects.toThrow('expired');
    const controller = new AbortController();
    const abandoned = withDeadline(never, { until: 100, signal: controller.signal, ...errors }, clock);
    controller.abort('stop');
    await expect(abandoned).rejects.toThrow('stop');
    await expect(withDeadline(never, { until: 100, signal: controller.signal, ...errors }, clock)).rejects.toThrow(
      'stop',
    );
    expect(clock.pending).toBe(0);
  });
});

describe('a pause', () => {
  it('ends with the time or the signal', async () => {
    const clock = new FakeClock();
    const whole = pause(10, clock);
    clock.advance(10);
    await whole;
    const controller = new AbortController();
    const cut = pause(10, clock, controller.signal);
    controller.abort();
    await cut;
    await pause(10, clock, controller.signal);
    expect(clock.pending).toBe(0);
  });
});
