import { describe, expect, it } from 'vitest';
import { Turns } from '#api/http/turns.js';

const SETTINGS = { turnMs: 5, maxUnbegun: 1_000, maxUnbegunPerAddress: 100 };

/** Requests that each take a time of a clock that stands still otherwise. */
class World {
  now = 0;
  readonly begun: string[] = [];
  readonly turns: Turns;

  constructor(settings: Partial<typeof SETTINGS> = {}) {
    this.turns = new Turns({ ...SETTINGS, ...settings }, () => this.now);
  }

  enter(name: string, ms: number, isUrgent = false, client = name): boolean {
    return this.turns.enter(
      client,
      () => {
        this.begun.push(name);
        this.now += ms;
      },
      isUrgent,
    );
  }

  /** What is begun until the next turn ends. */
  async turn(): Promise<string[]> {
    const before = this.begun.length;
    await new Promise((resolve) => setImmediate(resolve));
    return this.begun.slice(before);
  }
}

describe('turns', () => {
  it('begin requests at once while there is time', async () => {
    const world = new World();
    for (let i = 0; i < 5; i++) world.enter(`r${i}`, 1);
    expect(world.begun.length).toBe(5);
    world.enter('late', 1);
    expect([world.begun.length, world.turns.waiting]).toEqual([5, 1]);
    expect(await world.turn()).toEqual(['late']);
    expect(world.turns.waiting).toBe(0);
  });

  it('take no more than their time, and one request', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 40; i++) world.enter(`r${i}`, 2);
    const turns: number[] = [];
    while (world.turns.waiting > 0) turns.push((await world.turn()).length);
    expect(world.begun.length).toBe(41);
    // Of 2 ms each: the third begins before 5 ms are over.
    expect(Math.max(...turns)).toBe(3);
    expect(turns.length).toBeLessThan(30);
  });

  it('are of the address that has had the least time', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 20; i++) world.enter('greedy', 4);
    for (let i = 0; i < 5; i++) world.enter('cheap', 0.5);
    world.enter('other', 1);
    await world.turn();
    await world.turn();
    await world.turn();
    expect(world.begun.slice(1, 6)).toEqual(['greedy', 'cheap', 'other', 'cheap', 'cheap']);
  });

  it('are every other time for what is urgent', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 3; i++) world.enter('api', 0);
    for (let i = 0; i < 3; i++) world.enter('healthz', 0, true);
    while (world.turns.waiting > 0) await world.turn();
    expect(world.begun.slice(1)).toEqual(['healthz', 'api', 'healthz', 'api', 'healthz', 'api']);
  });

  it('refuse what is too much for one address, and for all', () => {
    const world = new World({ maxUnbegun: 5, maxUnbegunPerAddress: 2 });
    world.enter('first', 100);
    const entered = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((name) => world.enter(name, 1));
    expect(entered).toEqual([true, true, false, true, true, true, false]);
    expect([world.turns.waiting, world.turns.refused]).toEqual([5, 2]);
    // What is urgent is not kept out by the others.
    expect(world.enter('healthz', 1, true)).toBe(true);
  });

  it('are waited for in the middle of a request', async () => {
    const world = new World();
    expect(world.turns.next('a')).toBe(undefined);
    world.enter('first', 100);
    const order: string[] = [];
    const waiting = ['b', 'c'].map((client) => world.turns.next(client)!.then(() => order.push(client)));
    await Promise.all(waiting);
    expect(order).toEqual(['b', 'c']);
  });
});
