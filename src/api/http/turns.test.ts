import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { type TurnKind, TurnQueues, Turns } from '#api/http/turns.js';

const SETTINGS = { turnMs: 5, maxUnbegun: 1_000, maxUnbegunPerClient: 100, deadlineMs: 10_000 };

/** Requests that each take a time of a clock that stands still otherwise. */
class World {
  now = 0;
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  readonly turns: Turns;

  constructor(settings: Partial<typeof SETTINGS> = {}) {
    this.turns = new Turns({ ...SETTINGS, ...settings }, () => this.now);
  }

  /** @returns false: the request itself was refused at once */
  enter(name: string, ms: number, kind: TurnKind = 'others'): boolean {
    let isIn = true;
    const begin = (): void => {
      this.begun.push(name);
      this.now += ms;
    };
    const refuse = (): void => {
      isIn = false;
      this.refused.push(name);
    };
    this.turns.enter({ kind, client: name, weight: 1 }, begin, refuse);
    return isIn;
  }

  /** What is begun until the next turn ends. */
  async turn(): Promise<string[]> {
    const before = this.begun.length;
    await new Promise((resolve) => setImmediate(resolve));
    return this.begun.slice(before);
  }
}

function unexpected(): void {
  throw new Error('a request was refused');
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

  it('of which little was taken end without being waited for', async () => {
    const world = new World();
    const immediates = vi.spyOn(globalThis, 'setImmediate');
    try {
      // Each of these is the only one of its turn.
      for (let i = 0; i < 100; i++) {
        world.enter(`r${i}`, 0.1);
        world.now += 1;
      }
      expect([world.begun.length, immediates.mock.calls.length]).toEqual([100, 0]);
      world.enter('longer', 1);
      expect(immediates.mock.calls.length).toBe(1);
    } finally {
      immediates.mockRestore();
    }
    // The time of that one counts.
    for (let i = 0; i < 5; i++) world.enter(`after ${i}`, 1);
    expect([world.begun.length, world.turns.waiting]).toEqual([105, 1]);
  });

  it('take no more than their time, and one request', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 40; i++) world.enter(`r${i}`, 2);
    const turns: number[] = [];
    while (world.turns.waiting > 0) turns.push((await world.turn()).length);
    expect(world.begun.length).toBe(41);
    // Of 2 ms each: the third begins before 5 ms are over, and the fourth is the last of the few that may.
    expect(Math.max(...turns)).toBe(4);
    expect(turns.length).toBeLessThan(30);
  });

  it('are of the address that has had the least time', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 20; i++) world.enter('greedy', 4);
    for (let i = 0; i < 5; i++) world.enter('cheap', 0.1);
    world.enter('other', 1);
    await world.turn();
    await world.turn();
    await world.turn();
    expect(world.begun.slice(1, 6)).toEqual(['greedy', 'cheap', 'other', 'cheap', 'cheap']);
  });

  it('are first of clients whose requests took little lately, among those that have had as much', async () => {
    const world = new World();
    const ask = (name: string, ms: number, units: number): void => {
      const turn = { kind: 'others', client: name, weight: 1 } as const;
      const begin = (): void => {
        world.begun.push(name);
        world.now += ms;
        world.turns.charge(turn, units);
      };
      world.turns.enter(turn, begin, unexpected);
    };
    for (const [name, units] of [
      ...Array.from({ length: 30 }, (_, i) => [`dear${i}`, 400] as const),
      ['cheap', 1] as const,
    ]) {
      ask(name, 0.1, units);
      while (world.turns.waiting > 0) await world.turn();
    }
    // What they had is forgotten after so long without anybody waiting; what their requests took is not.
    world.now += 20_000;
    await world.turn();
    world.begun.length = 0;
    world.enter('first', 100);
    for (let i = 0; i < 30; i++) ask(`dear${i}`, 0.1, 400);
    ask('unknown', 0.1, 1);
    ask('cheap', 0.1, 1);
    while (world.turns.waiting > 0) await world.turn();
    expect(world.begun.slice(0, 3)).toEqual(['first', 'cheap', 'dear0']);
    // Who asks for little, but often, does not keep the others from their turns for ever.
    world.now += 20_000;
    await world.turn();
    world.begun.length = 0;
    world.enter('first', 100);
    ask('dear1', 0.1, 400);
    for (let i = 0; i < 40; i++) ask('cheap', 0.1, 1);
    while (world.turns.waiting > 0) await world.turn();
    expect(world.begun.indexOf('dear1')).toBeLessThan(world.begun.lastIndexOf('cheap'));
  });

  it('are shared between what is urgent, clients with a key, and all others', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 6; i++) world.enter(`anonymous${i}`, 0);
    for (let i = 0; i < 4; i++) world.enter('key', 0, 'keyed');
    for (let i = 0; i < 2; i++) world.enter('healthz', 0, 'urgent');
    while (world.turns.waiting > 0) await world.turn();
    const expected = ['healthz', 'key', 'anonymous0', 'key', 'healthz', 'key', 'anonymous1', 'key'];
    expect(world.begun.slice(1, 9)).toEqual(expected);
    expect(world.begun.length).toBe(13);
  });

  it('are shared by time: a kind that takes less than its share does not wait for the others', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 30; i++) for (const kind of ['keyed', 'others'] as const) world.enter(`${kind}${i}`, 1, kind);
    const first: (string | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      world.enter(`healthz${i}`, 0.5, 'urgent');
      first.push((await world.turn())[0]);
    }
    expect(first).toEqual(Array.from({ length: 8 }, (_, i) => `healthz${i}`));
  });

  it('do not count what a kind had while nothing waited', async () => {
    const world = new World();
    for (let i = 0; i < 100; i++) {
      world.enter('key', 1, 'keyed');
      world.now += 10;
    }
    world.enter('first', 100);
    for (let i = 0; i < 9; i++) for (const kind of ['keyed', 'others'] as const) world.enter(`${kind}${i}`, 1, kind);
    world.begun.length = 0;
    while (world.begun.length < 9) await world.turn();
    expect(world.begun.slice(0, 9).filter((name) => name.startsWith('keyed')).length).toBe(6);
  });

  it('do not owe a kind what its clients were not to have', () => {
    const queues = new TurnQueues<string>(() => 0);
    for (let i = 0; i < 40; i++) {
      for (const kind of ['keyed', 'others'] as const) queues.add({ kind, client: kind, weight: 1 }, kind, 0);
    }
    for (let i = 0; i < 20; i++) expect(queues.take((client) => client !== 'keyed')).toBe('others');
    const taken = Array.from({ length: 9 }, () => queues.take());
    // Two of three, and one more for the turn that it had waited for.
    expect(taken.filter((kind) => kind === 'keyed').length).toBe(7);
  });

  it('last as long as what came between, up to a bound', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 40; i++) world.enter(`r${i}`, 1);
    expect((await world.turn()).length).toBe(5);
    world.now += 8;
    expect((await world.turn()).length).toBe(8);
    world.now += 100;
    expect((await world.turn()).length).toBe(10);
    expect((await world.turn()).length).toBe(5);
  });

  it('wait for a client alone until half of what it leaves free', async () => {
    const world = new World({ maxUnbegun: 1_000, maxUnbegunPerClient: 100 });
    world.enter('first', 100);
    const fill = (name: string) => {
      let taken = 0;
      while (world.enter(name, 0)) taken++;
      return taken;
    };
    expect([fill('burst'), fill('second'), fill('third')]).toEqual([334, 222, 148]);
    // Others still have as many as each client has at least.
    expect([fill('fourth'), fill('fifth')]).toEqual([100, 100]);
    expect(world.turns.waiting).toBe(904);
  });

  it('refuse what is too much for one address, and for all', () => {
    const world = new World({ maxUnbegun: 5, maxUnbegunPerClient: 2 });
    world.enter('first', 100);
    const entered = ['a', 'a', 'a', 'b', 'c', 'd', 'd', 'e'].map((name) => world.enter(name, 1));
    expect(entered).toEqual([true, true, false, true, true, true, false, true]);
    expect([world.turns.waiting, world.turns.refused, world.refused]).toEqual([5, 3, ['a', 'd', 'a']]);
    // What is urgent is not kept out by the others.
    expect(world.enter('healthz', 1, 'urgent')).toBe(true);
  });

  it('refuse the oldest of the client with the most when there is no room for that of another', async () => {
    const world = new World({ maxUnbegun: 6, maxUnbegunPerClient: 4 });
    world.enter('first', 100);
    for (const name of ['a', 'a', 'a', 'b', 'b', 'c']) expect(world.enter(name, 1)).toBe(true);
    expect([world.enter('d', 1), world.refused]).toEqual([true, ['a']]);
    expect([world.enter('e', 1), world.refused]).toEqual([true, ['a', 'a']]);
    // b has no more than it would have itself.
    expect([world.enter('c', 1), world.refused]).toEqual([false, ['a', 'a', 'c']]);
    expect([world.turns.waiting, world.turns.refused]).toEqual([6, 3]);
    while (world.turns.waiting > 0) await world.turn();
    expect(world.begun.slice(1).toSorted()).toEqual(['a', 'b', 'b', 'c', 'd', 'e']);
  });

  it('refuse what waited for half of its deadline, some in each turn', async () => {
    const world = new World({ deadlineMs: 1_000 });
    world.enter('first', 100);
    for (let i = 0; i < 100; i++) world.enter(`old${i}`, 1);
    world.now += 499;
    await world.turn();
    expect([world.refused.length, world.begun.length]).toEqual([0, 6]);
    world.enter('new', 1);
    world.enter('probe a', 1, 'urgent');
    world.enter('probe b', 1, 'urgent');
    world.now += 1;
    const { signal } = new AbortController();
    const work = world.turns.do({ kind: 'others', client: 'begun', weight: 1 }, () => 'done', signal);
    await world.turn();
    expect(world.refused.length).toBe(64);
    world.now += 10_000;
    while (world.turns.waiting > 0) await world.turn();
    // What was begun is done however long it waited.
    expect(await work).toBe('done');
    expect([world.refused.length + world.begun.length, world.turns.refused]).toEqual([104, world.refused.length]);
    expect(world.refused).toContain('new');
    // So is what must be answered whatever happens.
    expect(world.begun).toEqual(expect.arrayContaining(['probe a', 'probe b']));
  });

  it('wait for as long as it takes when one client alone asks for so much', async () => {
    const world = new World({ deadlineMs: 1_000 });
    world.enter('first', 100);
    for (let i = 0; i < 80; i++) expect(world.enter('only', 50)).toBe(true);
    while (world.turns.waiting > 0) await world.turn();
    expect([world.begun.length, world.refused]).toEqual([81, []]);
    expect(world.now).toBeGreaterThan(4_000);
  });

  it('are of newcomers and of who has asked for long alike', async () => {
    const world = new World();
    for (let i = 0; i < 1_000; i++) {
      world.now += 100;
      world.enter('regular', 1);
      await world.turn();
    }
    world.enter('first', 100);
    for (let i = 0; i < 20; i++) for (let client = 0; client < 20; client++) world.enter(`flood${client}`, 5);
    world.enter('regular', 1);
    const before = world.now;
    while (world.turns.waiting > 0 && !world.begun.slice(1_001).includes('regular')) await world.turn();
    expect(world.begun.length).toBeGreaterThan(1_001);
    expect(world.now - before).toBeLessThan(500);
  });

  it('are of the client that has had the least work for its weight', async () => {
    const world = new World();
    const begun: string[] = [];
    const clients = {
      heavy: { weight: 1, units: 50 },
      light: { weight: 1, units: 1 },
      large: { weight: 20, units: 50 },
    };
    world.enter('first', 100);
    for (let i = 0; i < 10; i++) {
      for (const [client, { weight, units }] of Object.entries(clients)) {
        const turn = { kind: 'keyed', client, weight } as const;
        world.turns.enter(
          turn,
          () => {
            begun.push(client);
            world.now += 1;
            world.turns.charge(turn, units);
          },
          unexpected,
        );
      }
    }
    while (world.turns.waiting > 0) await world.turn();
    expect(begun.slice(0, 3)).toEqual(['large', 'large', 'heavy']);
    // All of the others come before the second one of the client that is charged the most for its weight.
    expect(begun.indexOf('heavy', 3)).toBeGreaterThan(18);
  });

  it('begin a few cheap requests even when the time of the turn is over', async () => {
    const world = new World();
    world.enter('first', 100);
    for (let i = 0; i < 8; i++) world.enter(`r${i}`, 6);
    expect(await world.turn()).toEqual(['r0', 'r1', 'r2', 'r3']);
  });

  it('are taken by work in the middle of a request, too, whose time counts', async () => {
    const world = new World();
    world.enter('first', 100);
    const done: string[] = [];
    const { signal } = new AbortController();
    const work = (client: string, ms: number) =>
      world.turns.do(
        { kind: 'others', client, weight: 1 },
        () => {
          world.now += ms;
          done.push(client);
          return ms;
        },
        signal,
      );
    const all = Promise.all([work('greedy', 4), work('greedy', 4), work('greedy', 4), work('other', 1)]);
    await world.turn();
    expect(done.slice(0, 2).toSorted()).toEqual(['greedy', 'other']);
    while (world.turns.waiting > 0) await world.turn();
    expect(await all).toEqual([4, 4, 4, 1]);
    await expect(
      world.turns.do(
        { kind: 'others', client: 'faulty', weight: 1 },
        () => {
          throw new TypeError('a fault');
        },
        signal,
      ),
    ).rejects.toThrow('a fault');
  });

  it('are not taken by work that nobody waits for any more', async () => {
    const world = new World();
    world.enter('first', 100);
    const controller = new AbortController();
    let isDone = false;
    const waiting = world.turns.do(
      { kind: 'others', client: 'gone', weight: 1 },
      () => {
        isDone = true;
      },
      controller.signal,
    );
    expect(world.turns.waiting).toBe(1);
    controller.abort(new Error('the client has gone'));
    await expect(waiting).rejects.toThrow('the client has gone');
    expect(world.turns.waiting).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await world.turn();
    await world.turn();
    expect(isDone).toBe(false);
  });
});
