import { expect, it } from 'vitest';
import { ConnectionDeadlines } from '#drivers/adnl/connection.js';
import type { ConnectionOptions } from '#drivers/adnl/options.js';

const options = { packetTimeoutMs: 60, writeTimeoutMs: 30, pingAfterMs: 10, deadAfterMs: 100 } as ConnectionOptions;

it('asks for a ping in silence, once, and again after an answer', () => {
  const deadlines = new ConnectionDeadlines(options, 0);
  expect([deadlines.verdict(9), deadlines.nextCheckMs(0)]).toEqual(['wait', 10]);
  expect(deadlines.verdict(10)).toBe('ping');
  deadlines.pinged();
  expect(deadlines.verdict(99)).toBe('wait');
  deadlines.received(50, 'none');
  expect([deadlines.verdict(59), deadlines.verdict(60)]).toEqual(['wait', 'ping']);
  expect(deadlines.verdict(150)).toBe('silent');
});

it('a packet has its time from its first byte, however many follow', () => {
  const deadlines = new ConnectionDeadlines(options, 0);
  deadlines.received(5, 'new');
  for (let now = 10; now < 65; now += 5) deadlines.received(now, 'same');
  expect([deadlines.verdict(64), deadlines.verdict(65)]).toEqual(['wait', 'slow-packet']);
  deadlines.received(65, 'new');
  expect(deadlines.verdict(65)).toBe('wait');
  deadlines.received(70, 'none');
  expect(deadlines.verdict(79)).toBe('wait');
});

it('a pause counts against nobody, but a peer that does not read is not forgiven', () => {
  const deadlines = new ConnectionDeadlines(options, 0);
  deadlines.received(0, 'new');
  deadlines.paused();
  expect(deadlines.verdict(10_000)).toBe('wait');
  deadlines.resumed(10_000);
  expect([deadlines.verdict(10_009), deadlines.verdict(10_060)]).toEqual(['wait', 'slow-packet']);
  deadlines.paused();
  deadlines.blocked(10_061);
  expect([deadlines.verdict(10_090), deadlines.verdict(10_091)]).toEqual(['wait', 'not-reading']);
  deadlines.unblocked();
  expect(deadlines.verdict(20_000)).toBe('wait');
});

it('nothing falls due before the next look, whatever happens in between', () => {
  const happenings: ((deadlines: ConnectionDeadlines, now: number) => void)[] = [
    (deadlines, now) => deadlines.received(now, 'none'),
    (deadlines, now) => deadlines.received(now, 'new'),
    (deadlines, now) => deadlines.blocked(now),
    (deadlines) => deadlines.unblocked(),
    (deadlines) => deadlines.paused(),
    (deadlines, now) => deadlines.resumed(now),
  ];
  for (const pingAfterMs of [0, 10, 40]) {
    for (const [i, first] of happenings.entries()) {
      for (const [k, second] of happenings.entries()) {
        const deadlines = new ConnectionDeadlines({ ...options, pingAfterMs }, 0);
        first(deadlines, 3);
        const look = 5 + deadlines.nextCheckMs(5);
        second(deadlines, 7);
        expect(deadlines.verdict(look - 0.5), `ping ${pingAfterMs}, ${i} then ${k}, look at ${look}`).toBe('wait');
      }
    }
  }
});
