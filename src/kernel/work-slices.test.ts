import { expect, it } from 'vitest';
import { WorkSlices } from '#kernel/work-slices.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('says when a slice is over, and lets others have their turn', async () => {
  const clock = new FakeClock(1_000);
  const slices = new WorkSlices(clock, new AbortController().signal);
  slices.begin();
  clock.advance(9);
  expect(slices.isOver).toBe(false);
  clock.advance(1);
  expect(slices.isOver).toBe(true);
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  await slices.next();
  expect(hadTurn).toBe(true);
  expect(slices.isOver).toBe(false);
});

it('ends when the work is called off', async () => {
  const controller = new AbortController();
  const slices = new WorkSlices(new FakeClock(), controller.signal);
  const reason = new Error('nobody waits');
  controller.abort(reason);
  await expect(slices.next()).rejects.toBe(reason);
});
