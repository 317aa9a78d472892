import { expect, it } from 'vitest';
import { type Closers, withClosers } from '#app/service/environment.js';

/** Adds three things, each of which notes when it is closed. */
function addThree(closers: Closers, closed: string[], broken: readonly string[] = []): void {
  for (const name of ['first', 'second', 'third']) {
    closers.add(async () => {
      closed.push(name);
      if (broken.includes(name)) throw new TypeError(name);
    });
  }
}

it('leaves open what has started', async () => {
  const closed: string[] = [];
  const closers = await withClosers(async (all) => {
    addThree(all, closed);
    return all;
  });
  expect(closed).toEqual([]);
  await closers.close();
  expect(closed).toEqual(['third', 'second', 'first']);
  await closers.close();
  expect(closed).toHaveLength(3);
});

it('closes in reverse order what has started before a failure, which is what it says', async () => {
  const closed: string[] = [];
  const starting = withClosers(async (closers) => {
    addThree(closers, closed, ['second']);
    throw new RangeError('the port is taken');
  });
  await expect(starting).rejects.toThrow('the port is taken');
  expect(closed).toEqual(['third', 'second', 'first']);
});

it('closes everything though something fails, and then says what', async () => {
  const closed: string[] = [];
  const closers = await withClosers(async (all) => {
    addThree(all, closed, ['third', 'second']);
    return all;
  });
  await expect(closers.close()).rejects.toThrow('third');
  expect(closed).toEqual(['third', 'second', 'first']);
});
