import { expect, it } from 'vitest';
import { ConnectionDeadlines } from '#drivers/adnl/connection.js';
import type { ConnectionOptions } from '#drivers/adnl/options.js';

const options = { packetTimeoutMs: 60, writeTimeoutMs: 30, pingAfterMs: 10, deadAfterMs: 100 } as ConnectionOptions;

it('asks for a ping in silence, once, and again after an answer', () => {
  const patience = new ConnectionDeadlines(options, 0);
  expect([patience.verdict(9), patience.nextCheckMs(0)]).toEqual(['wait', 10]);
  expect(patience.verdict(10)).toBe('ping');
  patience.pinged();
  expect(patience.verdict(99)).toBe('wait');
  patience.received(50, 'none');
  expect([patience.verdict(59), patience.verdict(60)]).toEqual(['wait', 'ping']);
  expect(patience.verdict(150)).toBe('silent');
});

it('a packet has its time from its first byte, however many follow', () => {
  const patience = new ConnectionDeadlines(options, 0);
  patience.received(5, 'new');
  for (let now = 10; now < 65; now += 5) patience.received(now, 'same');
  expect([patience.verdict(64), patience.verdict(65)]).toEqual(['wait', 'slow-packet']);
  patience.received(65, 'new');
  expect(patience.verdict(65)).toBe('wait');
  patience.received(70, 'none');
  expect(patience.verdict(79)).toBe('wait');
});

it('a pause counts against nobody, but a peer that does not read is not forgiven', () => {
  const patience = new ConnectionDeadlines(options, 0);
  patience.received(0, 'new');
  patience.paused();
  expect(patience.verdict(10_000)).toBe('wait');
  patience.resumed(10_000);
  expect([patience.verdict(10_009), patience.verdict(10_060)]).toEqual(['wait', 'slow-packet']);
  patience.paused();
  patience.blocked(10_061);
  expect([patience.verdict(10_090), patience.verdict(10_091)]).toEqual(['wait', 'not-reading']);
  patience.unblocked();
  expect(patience.verdict(20_000)).toBe('wait');
});

it('nothing falls due before the next look, whatever happens in between', () => {
  const happenings: ((patience: ConnectionDeadlines, now: number) => void)[] = [
    (patience, now) => patience.received(now, 'none'),
    (patience, now) => patience.received(now, 'new'),
    (patience, now) => patience.blocked(now),
    (patience) => patience.unblocked(),
    (patience) => patience.paused(),
    (patience, now) => patience.resumed(now),
  ];
  for (const pingAfterMs of [0, 10, 40]) {
    for (const [i, first] of happenings.entries()) {
      for (const [k, second] of happenings.entries()) {
        const patience = new ConnectionDeadlines({ ...options, pingAfterMs }, 0);
        first(patience, 3);
        const look = 5 + patience.nextCheckMs(5);
        second(patience, 7);
        expect(patience.verdict(look - 0.5), `ping ${pingAfterMs}, ${i} then ${k}, look at ${look}`).toBe('wait');
      }
    }
  }
});
