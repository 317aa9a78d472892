import { describe, expect, it } from 'vitest';
import { LatencyHistogram, ServerHealth, ServerStatistics } from '#drivers/lite/server-health.js';
import { Random } from '#test/fuzz/random.js';
import { FakeClock } from '#test/support/fake-clock.js';

describe('quantiles of round trips', () => {
  it('are right to a fifth', () => {
    const random = new Random('round trips');
    const trips = new LatencyHistogram();
    const times = Array.from({ length: 400 }, () => 1 + random.below(2_000) ** 2 / 1_000);
    for (const ms of times) trips.add(ms);
    times.sort((a, b) => a - b);
    for (const share of [0.1, 0.5, 0.9, 0.95, 0.99]) {
      const exact = times[Math.ceil(share * times.length) - 1] ?? 0;
      const found = trips.quantile(share) ?? 0;
      expect(found / exact, `${share}`).toBeGreaterThanOrEqual(0.999);
      expect(found / exact, `${share}`).toBeLessThan(1.2);
    }
  });

  it('forget old times, and take any number', () => {
    const trips = new LatencyHistogram();
    expect(trips.quantile(0.5)).toBeNull();
    for (let i = 0; i < 600; i++) trips.add(1_000);
    for (let i = 0; i < 1_500; i++) trips.add(10);
    expect(trips.quantile(0.8)).toBeLessThan(13);
    expect(trips.weight).toBeLessThanOrEqual(513);
    for (const odd of [0, -5, 1e9, Number.MAX_VALUE]) trips.add(odd);
    expect(trips.quantile(1)).toBeGreaterThan(90_000);
  });
});

describe('the mean of round trips', () => {
  it('follows time as well as number', () => {
    const clock = new FakeClock(1);
    const statistics = new ServerStatistics(clock);
    for (let i = 0; i < 50; i++) statistics.answered('a', 1_000);
    statistics.answered('a', 10);
    expect(statistics.meanMs).toBeCloseTo(802, 0);
    clock.advance(30_000);
    statistics.answered('a', 10);
    expect(statistics.meanMs).toBeLessThan(15);
  });

  it('rises with answers that were not waited for, and only then', () => {
    const statistics = new ServerStatistics(new FakeClock(1));
    for (let i = 0; i < 20; i++) statistics.answered('a', 10);
    statistics.tookLonger(5);
    expect(statistics.meanMs).toBe(10);
    statistics.tookLonger(500);
    expect(statistics.meanMs).toBeGreaterThan(100);
  });

  it('counts errors by code, but no more codes than a server may need', () => {
    const statistics = new ServerStatistics(new FakeClock());
    for (let code = 0; code < 1_000; code++) statistics.counted(String(-code));
    statistics.counted('-3');
    expect(statistics.errors.size).toBe(33);
    expect([statistics.errors.get('-3'), statistics.errors.get('other')]).toEqual([2, 968]);
  });

  it('knows functions apart when it has seen enough of them', () => {
    const statistics = new ServerStatistics(new FakeClock(1));
    for (let i = 0; i < 40; i++) statistics.answered('fast', 2);
    for (let i = 0; i < 10; i++) statistics.answered('slow', 200);
    expect(statistics.p95Of('fast')).toBeLessThan(3);
    expect(statistics.p95Of('slow')).toBe(statistics.p95);
    for (let i = 0; i < 10; i++) statistics.answered('slow', 200);
    expect(statistics.p95Of('slow')).toBeGreaterThan(199);
    expect(new ServerStatistics(new FakeClock()).p95Of('any')).toBeNull();
  });
});

describe('the health of a server', () => {
  const settings = { breakerFailures: 3, breakerMs: 100, quarantineMs: 1_000, quarantineMaxMs: 5_000 };

  it('goes from connecting over healthy to lagging and back', () => {
    const health = new ServerHealth(settings, new FakeClock(1));
    expect(health.state(0, 8)).toBe('connecting');
    health.connected();
    expect(health.state(0, 8)).toBe('connecting');
    health.gaveHead();
    expect([health.state(8, 8), health.state(9, 8)]).toEqual(['healthy', 'lagging']);
    health.disconnected('cut');
    expect([health.state(0, 8), health.problem]).toEqual(['failing', 'cut']);
  });

  it('fails after some failures in a row, for longer each time, until an answer comes', () => {
    const clock = new FakeClock(1);
    const health = new ServerHealth(settings, clock);
    health.connected();
    health.gaveHead();
    const failUntilBroken = () => {
      let failures = 0;
      for (; !health.isBroken; failures++) health.failed('no answer');
      let ms = 0;
      for (; health.isBroken; ms += 10) clock.advance(10);
      return [failures, ms];
    };
    expect([failUntilBroken(), failUntilBroken(), failUntilBroken()]).toEqual([
      [3, 100],
      [1, 200],
      [1, 400],
    ]);
    health.answered();
    expect(failUntilBroken()).toEqual([3, 100]);
  });

  it('keeps liars away for longer each time, up to a limit, and forgives in the end', () => {
    const clock = new FakeClock(1);
    const health = new ServerHealth(settings, clock);
    const times = [0, 0, 0, 0].map(() => {
      const ms = health.quarantine('a false proof');
      expect([health.isQuarantined, health.quarantine('again')]).toEqual([true, 0]);
      clock.advance(ms);
      expect(health.isQuarantined).toBe(false);
      return ms;
    });
    expect(times).toEqual([1_000, 2_000, 4_000, 5_000]);
    clock.advance(60_000);
    health.answered();
    expect(health.quarantine('a false proof')).toBe(1_000);
    expect(health.quarantines).toBe(5);
  });
});
