import { expect, it } from 'vitest';
import { CountsByTwo, WakeCounter } from '#services/indexer/wake-loop.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('measures the delay of each followed batch from its own end', () => {
  const clock = new FakeClock();
  const wakes = new WakeCounter(clock);
  expect(wakes.delays).toEqual({ newest: null, median: null, p99: null });
  const first = wakes.nextOfBatch('follow');
  clock.advance(1000);
  wakes.nextOfBatch('fill');
  const last = wakes.nextOfBatch('follow');
  clock.advance(500);
  wakes.measure(first);
  expect(wakes.delays.newest).toBe(1.5);
  wakes.measure(last);
  expect(wakes.delays).toEqual({ newest: 0.5, median: 1.5, p99: 1.5 });
});

it('keeps the delays of the newest batches', () => {
  const clock = new FakeClock();
  const wakes = new WakeCounter(clock);
  for (let i = 0; i < 2500; i++) {
    const wake = wakes.nextOfBatch('follow');
    clock.advance(i < 1500 ? 60_000 : 100);
    wakes.measure(wake);
  }
  expect(wakes.delays).toEqual({ newest: 0.1, median: 0.1, p99: 0.1 });
});

it('measures from the loss of a thread what that left', () => {
  const clock = new FakeClock();
  const wakes = new WakeCounter(clock);
  const wake = wakes.nextOfBatch('follow');
  clock.advance(60_000);
  wakes.restartDelays();
  clock.advance(200);
  wakes.measure(wake);
  expect(wakes.delays.newest).toBe(0.2);
});

it('ends waits for the wakes that are done, and those of an aborted signal', async () => {
  const wakes = new WakeCounter(new FakeClock());
  const ended: string[] = [];
  const abort = new AbortController();
  const early = wakes.next();
  const one = wakes.wait(new AbortController().signal).then(() => ended.push('one'));
  wakes.next();
  const two = wakes.wait(abort.signal).then(() => ended.push('two'));
  wakes.resolve(early);
  await one;
  expect(ended).toEqual(['one']);
  abort.abort();
  await two;
  await wakes.wait(abort.signal);
});

it('sums counts by two labels', () => {
  const sums = new CountsByTwo();
  sums.add({ 'a x': 1, 'a y': 2 });
  sums.add({ 'a x': 3, 'b x': 4 });
  expect(sums.counts).toEqual({ a: { x: 4, y: 2 }, b: { x: 4 } });
});
