import { describe, expect, it } from 'vitest';
import { WorkSlices } from '#kernel/work-slices.js';
import { FakeClock } from '#test/support/fake-clock.js';

/** How much is done in each turn of the event loop: the last number is that of this turn. */
function countedTurns() {
  const done: number[] = [0];
  let isOver = false;
  const count = (): void => {
    done.push(0);
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const end = () => {
    isOver = true;
  };
  return { done, end };
}

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

it('gives all work on a thread together one slice in a turn of the event loop', async () => {
  const clock = new FakeClock(1_000);
  const { signal } = new AbortController();
  const turns: string[][] = [[]];
  let isOver = false;
  const countTurns = (): void => {
    turns.push([]);
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      new WorkSlices(clock, signal).map([1, 2, 3], (item) => {
        turns.at(-1)!.push(`${name}${item}`);
        clock.advance(10);
      }),
    ),
  );
  isOver = true;
  const worked = turns.filter(({ length }) => length > 0);
  expect(worked.flat().sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']);
  // Each begins at once, so that little work is not behind much; then they take turns.
  expect(worked[0]).toEqual(['a1', 'b1', 'c1']);
  expect(worked.slice(1)).toEqual([['a2'], ['b2'], ['c2'], ['a3'], ['b3'], ['c3']]);
});

it('does work for each item, and ends when it is called off in between', async () => {
  const controller = new AbortController();
  const clock = new FakeClock();
  const slices = new WorkSlices(clock, controller.signal);
  await expect(slices.map([1, 2], (item, position) => item * 10 + position)).resolves.toEqual([10, 21]);
  const done: number[] = [];
  const working = slices.map([1, 2, 3], (item) => {
    done.push(item);
    clock.advance(10);
    if (item === 2) controller.abort(new Error('left'));
  });
  await expect(working).rejects.toThrow('left');
  expect(done).toEqual([1, 2]);
});

it('runs work that yields, with turns of the event loop in between, and ends when it is called off', async () => {
  const controller = new AbortController();
  const clock = new FakeClock();
  const slices = new WorkSlices(clock, controller.signal);
  const turns = countedTurns();
  function* steps(): Generator<void, string> {
    for (let i = 0; i < 30; i++) {
      clock.advance(5);
      turns.done[turns.done.length - 1]!++;
      yield;
    }
    return 'done';
  }
  await expect(slices.run(steps())).resolves.toBe('done');
  turns.end();
  expect(turns.done.reduce((a, b) => a + b)).toBe(30);
  expect(Math.max(...turns.done)).toBe(2);
  controller.abort(new Error('left'));
  await expect(slices.run(steps())).rejects.toThrow('left');
});

describe('work that may wait', () => {
  it('is done for some items at a time, with a slice in each turn, and keeps their order', async () => {
    const clock = new FakeClock();
    const slices = new WorkSlices(clock, null);
    let running = 0;
    let most = 0;
    const items = Array.from({ length: 40 }, (_, i) => i);
    const results = await slices.mapWaiting(items, 4, async (item) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return item * 10;
    });
    expect(results).toEqual(items.map((item) => item * 10));
    expect(most).toBe(4);
  });

  it('is divided when it does not wait', async () => {
    const clock = new FakeClock();
    const slices = new WorkSlices(clock, null);
    const turns = countedTurns();
    await slices.mapWaiting(
      Array.from({ length: 100 }, (_, i) => i),
      4,
      async () => {
        clock.advance(1);
        turns.done[turns.done.length - 1]!++;
        await Promise.resolve();
      },
    );
    turns.end();
    expect(turns.done.reduce((a, b) => a + b)).toBe(100);
    // What was begun by the other lanes when the slice is over is still done.
    expect(Math.max(...turns.done)).toBeLessThanOrEqual(10 + 3);
  });

  it('begins nothing further after an error', async () => {
    const slices = new WorkSlices(new FakeClock(), null);
    let begun = 0;
    const done = slices.mapWaiting([1, 2, 3, 4, 5, 6], 2, async (item) => {
      begun++;
      await new Promise(setImmediate);
      if (item === 2) throw new Error('no');
    });
    await expect(done).rejects.toThrow('no');
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    expect(begun).toBeLessThanOrEqual(3);
  });
});
