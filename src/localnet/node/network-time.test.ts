import { expect, it } from 'vitest';
import { NetworkTime } from '#localnet/node/network-time.js';

it('is that of the computer, in whole seconds', () => {
  let machine = 1_700_000_000_999;
  const time = new NetworkTime(() => machine);
  expect(time.now()).toBe(1_700_000_000);
  machine += 1;
  expect(time.now()).toBe(1_700_000_001);
});

it('can be moved forward, and goes on from there', () => {
  let machine = 1_000_000;
  const time = new NetworkTime(() => machine);
  time.advance(86_400);
  expect(time.now()).toBe(87_400);
  machine += 5_000;
  expect(time.now()).toBe(87_405);
  expect(time.offset).toBe(86_400);
});

it('goes on from the time of a chain that is ahead, and not back to that of one behind', () => {
  const time = new NetworkTime(() => 1_000_000);
  time.continueFrom(5_000);
  expect(time.now()).toBe(5_000);
  time.continueFrom(10);
  expect(time.now()).toBe(5_000);
  expect(new NetworkTime(() => 1_000_000).offset).toBe(0);
});

it('stands still or runs slower until the computer has caught up, and never goes back', () => {
  let machine = 1_000_000;
  const time = new NetworkTime(() => machine);
  time.setSpeed(0);
  expect(time.speed).toBe(1);
  time.advance(100);
  time.setSpeed(0);
  expect([time.now(), time.offset, time.speed]).toEqual([1_100, 100, 0]);
  machine += 40_000;
  expect([time.now(), time.offset]).toEqual([1_100, 60]);
  time.setSpeed(0.5);
  machine += 40_000;
  expect([time.now(), time.offset, time.speed]).toEqual([1_120, 40, 0.5]);
  // Another move counts from there.
  time.advance(10);
  expect([time.now(), time.offset]).toEqual([1_130, 50]);
  machine += 100_000;
  expect([time.now(), time.offset, time.speed]).toEqual([1_180, 0, 1]);
  machine += 5_000;
  expect(time.now()).toBe(1_185);
});

it('does not run faster when the computer sets its clock back', () => {
  let machine = 1_000_000;
  const time = new NetworkTime(() => machine);
  time.advance(100);
  time.setSpeed(0);
  machine -= 50_000;
  expect(time.now()).toBe(1_050);
});
