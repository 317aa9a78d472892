import { describe, expect, it } from 'vitest';
import { FairShare } from '#kernel/fair-share.js';

let now = 0;

function filled(items: Readonly<Record<string, readonly string[]>>): FairShare<string> {
  const queue = new FairShare<string>({ now: () => now });
  for (const [client, own] of Object.entries(items)) for (const item of own) queue.add(client, item);
  return queue;
}

const all = (queue: FairShare<string>): string[] => Array.from({ length: queue.size }, () => queue.take()!);

describe('a fair share', () => {
  it('lets clients take turns, no matter how many items each has', () => {
    const queue = filled({ a: ['a1', 'a2', 'a3', 'a4'], b: ['b1'], c: ['c1', 'c2'] });
    expect(all(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
    expect([queue.size, queue.clients, queue.take()]).toEqual([0, 0, undefined]);
  });

  it('lets a newcomer go before those who have had more, but not for all the time that it did not ask', () => {
    const queue = filled({ a: Array.from({ length: 20 }, (_, i) => `a${i}`) });
    for (let i = 0; i < 10; i++) queue.take();
    queue.add('b', 'b0');
    queue.add('b', 'b1');
    queue.add('b', 'b2');
    expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(['b0', 'a10', 'b1', 'a11']);
  });

  it('lets those of whom less is expected go first among newcomers, and not for ever', () => {
    const queue = filled({ a: ['a0'], b: ['b0'] });
    for (let i = 0; i < 3; i++) queue.add('light', `l${i}`, 0.5);
    queue.add('heavy', 'h0', 1.7);
    expect(all(queue)).toEqual(['a0', 'b0', 'l0', 'l1', 'h0', 'l2']);
  });

  it('counts what an item has cost', () => {
    const queue = filled({ a: ['a0', 'a1', 'a2'], b: ['b0', 'b1', 'b2'] });
    expect(queue.take()).toBe('a0');
    queue.charge('a', 1.5);
    expect(all(queue)).toEqual(['b0', 'b1', 'b2', 'a1', 'a2']);
  });

  it('remembers the cost of a client that has nothing left', () => {
    const queue = filled({ a: ['a0'] });
    queue.take();
    queue.charge('a', 5);
    queue.add('b', 'b0');
    queue.add('a', 'a1');
    queue.add('b', 'b1');
    expect(all(queue)).toEqual(['b0', 'b1', 'a1']);
  });

  it('passes over clients that may not have anything, and gives up items that are removed', () => {
    const queue = filled({ a: ['a0', 'a1'], b: ['b0'] });
    expect(queue.take((client) => client !== 'a')).toBe('b0');
    expect(queue.take((client) => client !== 'a')).toBe(undefined);
    const place = queue.add('a', 'a2');
    expect([queue.remove('a', place), queue.remove('a', place), queue.sizeOf('a')]).toEqual([true, false, 2]);
    expect(queue.clear()).toEqual(['a0', 'a1']);
    expect([queue.size, queue.take()]).toEqual([0, undefined]);
  });

  it('forgets what was had while nobody waited', () => {
    const queue = filled({});
    for (let i = 0; i < 36_000; i++) {
      now += 100;
      queue.charge('regular', 1);
    }
    for (let i = 0; i < 200; i++) for (const client of ['a', 'b']) queue.add(client, client);
    queue.add('regular', 'regular');
    const taken: (string | undefined)[] = [];
    do taken.push(queue.take());
    while (taken.at(-1) !== 'regular');
    expect(taken.length).toBeLessThan(15);
    // The others go on as before.
    expect([queue.take(), queue.take()].toSorted()).toEqual(['a', 'b']);
  });

  it('forgets nothing while somebody waits, however long it takes', () => {
    const queue = filled({ a: ['a0', 'a1', 'a2'], b: ['b0', 'b1'], c: ['c0', 'c1'] });
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['a0', 'b0', 'c0']);
    queue.charge('b', 3);
    queue.charge('a', 5);
    now += 1_000_000;
    for (let i = 0; i < 4; i++) queue.add('d', `d${i}`);
    expect(all(queue)).toEqual(['d0', 'c1', 'd1', 'd2', 'd3', 'b1', 'a1', 'a2']);
  });

  it('gives back no more than brings a client to where newcomers begin', () => {
    const queue = filled({ a: ['a0'] });
    expect(queue.take()).toBe('a0');
    queue.charge('a', 10);
    // What was charged counts a quarter by now.
    now += 500;
    queue.charge('a', -10);
    for (const client of ['a', 'b']) for (let i = 1; i < 4; i++) queue.add(client, `${client}${i}`);
    expect(all(queue)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  });

  it('tells the items of the client with the most', () => {
    const queue = filled({ a: ['a0'], b: ['b0', 'b1', 'b2'], c: ['c0', 'c1'] });
    const longest = queue.longest();
    expect([longest?.size, [...longest!]]).toEqual([3, ['b0', 'b1', 'b2']]);
    expect(filled({}).longest()).toBe(null);
  });
});
