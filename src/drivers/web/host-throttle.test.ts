import { describe, expect, it } from 'vitest';
import { HostThrottle } from '#drivers/web/host-throttle.js';
import { FakeClock } from '#test/support/fake-clock.js';

const LIMITS = { atOnce: 2, failures: 3, backoffMs: 1_000, maxBackoffMs: 5_000 };

function turnsAt(clock: FakeClock): HostThrottle {
  return new HostThrottle(LIMITS, () => clock.now());
}

describe('turns at a host', () => {
  it('are so many at once, and others come when it has become free', () => {
    const turns = turnsAt(new FakeClock());
    expect([turns.take('a'), turns.take('a')]).toEqual([0, 0]);
    const waits = Array.from({ length: 1_000 }, () => turns.take('a'));
    expect(waits.every((wait) => wait > 0)).toBe(true);
    // 500 ms each, two at once.
    expect(waits.at(-1)).toBe(250_000);
    expect(turns.take('b')).toBe(0);
    turns.done('a', 500, true);
    expect(turns.take('a')).toBe(0);
    turns.release('a');
    expect(turns.take('a')).toBe(0);
  });

  it('are not given to a host that fails again and again, for longer each time', () => {
    const clock = new FakeClock();
    const turns = turnsAt(clock);
    const failOnce = () => {
      expect(turns.take('a')).toBe(0);
      turns.done('a', 10, false);
    };
    for (let i = 0; i < 3; i++) failOnce();
    expect([turns.take('a'), turns.backingOff]).toEqual([1_000, 1]);
    clock.advance(1_000);
    failOnce();
    expect(turns.take('a')).toBe(2_000);
    for (const rest of [4_000, 5_000, 5_000]) {
      clock.advance(5_000);
      failOnce();
      expect(turns.take('a')).toBe(rest);
    }
    clock.advance(5_000);
    expect(turns.take('a')).toBe(0);
    turns.done('a', 10, true);
    expect([turns.take('a'), turns.backingOff]).toEqual([0, 0]);
    turns.done('a', 10, false);
    expect(turns.take('a')).toBe(0);
  });

  it('are given as before to a host of which a request tells nothing', () => {
    const clock = new FakeClock();
    const turns = turnsAt(clock);
    for (const responded of [null, false, null, false, null, null]) {
      expect(turns.take('a')).toBe(0);
      turns.done('a', 10, responded);
    }
    expect(turns.take('a')).toBe(0);
    turns.done('a', 10, false);
    expect(turns.take('a')).toBe(1_000);
    clock.advance(1_000);
    expect(turns.take('a')).toBe(0);
    turns.done('a', 10, null);
    expect(turns.take('a')).toBe(0);
  });

  it('are remembered of a bounded number of hosts', () => {
    const turns = turnsAt(new FakeClock());
    turns.take('busy');
    turns.take('busy');
    for (let i = 0; i < 50_000; i++) {
      turns.take(`${i}`);
      turns.done(`${i}`, 1, true);
    }
    expect(turns.take('busy')).toBeGreaterThan(0);
  });
});
