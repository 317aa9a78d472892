import { describe, expect, it } from 'vitest';
import { type Link, LinkedList } from '#kernel/linked-list.js';

describe('a linked list', () => {
  it('has its items in the order in which they were added', () => {
    const list = new LinkedList<string>();
    expect([list.size, list.first, [...list]]).toEqual([0, undefined, []]);
    for (const item of ['a', 'b', 'a']) list.add(item);
    expect([list.size, list.first, [...list]]).toEqual([3, 'a', ['a', 'b', 'a']]);
  });

  it.each([0, 1, 2])('removes an item at place %d once', (place) => {
    const list = new LinkedList<number>();
    const links = [0, 1, 2].map((item) => list.add(item));
    expect(list.remove(links[place]!)).toBe(true);
    expect(list.remove(links[place]!)).toBe(false);
    expect(list.remove(null)).toBe(false);
    const left = [0, 1, 2].filter((item) => item !== place);
    expect([list.size, list.first, [...list]]).toEqual([2, left[0], left]);
    list.add(3);
    expect([...list]).toEqual([...left, 3]);
  });

  it('is as a set under any sequence of changes', () => {
    const list = new LinkedList<number>();
    const set = new Set<number>();
    const links = new Map<number, Link<number>>();
    let random = 1;
    for (let step = 0; step < 5_000; step++) {
      random = (random * 48_271) % 2_147_483_647;
      const item = random % 50;
      if (set.delete(item)) expect(list.remove(links.get(item)!)).toBe(true);
      else links.set(set.add(item) && item, list.add(item));
      if (random % 97 === 0) {
        const [first] = set;
        expect(list.take()).toBe(first);
        set.delete(first!);
      }
      expect(list.size).toBe(set.size);
      if (step % 100 === 0) expect([...list]).toEqual([...set]);
    }
  });

  it('lets an item be removed while it is visited', () => {
    const list = new LinkedList<number>();
    const links = [0, 1, 2].map((item) => list.add(item));
    const visited: number[] = [];
    for (const item of list) {
      visited.push(item);
      list.remove(links[item]!);
    }
    expect([visited, list.size, list.first]).toEqual([[0, 1, 2], 0, undefined]);
  });

  it('returns what it is cleared of, and keeps no link to another', () => {
    const list = new LinkedList<number>();
    const links = [0, 1, 2].map((item) => list.add(item));
    expect(list.clear()).toEqual([0, 1, 2]);
    expect([list.size, list.first, list.take()]).toEqual([0, undefined, undefined]);
    for (const { previous, next, isIn } of links) expect([previous, next, isIn]).toEqual([null, null, false]);
  });
});
