import { describe, expect, it } from 'vitest';
import { FairShare } from '#kernel/fair-share.js';

function filled(items: Readonly<Record<string, readonly string[]>>): FairShare<string> {
  const queue = new FairShare<string>();
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
});
