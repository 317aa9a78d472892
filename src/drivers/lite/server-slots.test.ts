import { describe, expect, it } from 'vitest';
import { ServerSlots, type SlotTurn, URGENT_SLOTS } from '#drivers/lite/server-slots.js';
import { FakeClock } from '#test/support/fake-clock.js';

/** Asks for slots; says who got one, in order. */
class Askers {
  readonly clock = new FakeClock();
  readonly slots: ServerSlots;
  readonly granted: string[] = [];
  readonly releases: (() => void)[] = [];

  constructor(most: number) {
    this.slots = new ServerSlots(most, this.clock);
  }

  async ask(name: string, turn: SlotTurn = { client: name }, signal = new AbortController().signal): Promise<void> {
    const asking = this.slots.acquire(turn, signal);
    void asking.then(
      (release) => {
        this.granted.push(name);
        this.releases.push(release);
      },
      () => {},
    );
    await Promise.resolve();
  }

  /** Gives the oldest slot back. */
  async release(): Promise<void> {
    this.releases.shift()!();
    await Promise.resolve();
  }
}

describe('the slots of a server', () => {
  it('are never all of one client', async () => {
    const askers = new Askers(8);
    for (let i = 0; i < 20; i++) await askers.ask('greedy');
    expect([askers.granted.length, askers.slots.waiting]).toEqual([6, 14]);
    await askers.ask('other');
    expect(askers.granted.at(-1)).toBe('other');
  });

  it('go to clients by turns', async () => {
    const askers = new Askers(1);
    await askers.ask('first');
    for (let i = 0; i < 3; i++) await askers.ask('greedy');
    await askers.ask('other');
    for (let i = 0; i < 5; i++) await askers.release();
    expect(askers.granted).toEqual(['first', 'greedy', 'other', 'greedy', 'greedy']);
    expect(askers.slots.taken).toBe(0);
  });

  it('go to those with a key every other time', async () => {
    const askers = new Askers(1);
    await askers.ask('first');
    for (let i = 0; i < 3; i++) await askers.ask(`anonymous${i}`, { client: `anonymous${i}`, hasKey: false });
    for (let i = 0; i < 2; i++) await askers.ask('key');
    for (let i = 0; i < 5; i++) await askers.release();
    expect(askers.granted.slice(1)).toEqual(['key', 'anonymous0', 'key', 'anonymous1', 'anonymous2']);
  });

  it('are for executions in a part only, whose queue delays no reads', async () => {
    const askers = new Askers(16);
    for (let i = 0; i < 40; i++) await askers.ask('execution', { client: `sender${i}`, isExecution: true });
    expect(askers.granted.length).toBe(2);
    for (let i = 0; i < 14; i++) await askers.ask('read', { client: `reader${i % 2}` });
    expect(askers.granted.length).toBe(16);
    await askers.release();
    expect(askers.granted.at(-1)).toBe('execution');
    expect([askers.slots.taken, askers.slots.waiting]).toEqual([16, 37]);
  });

  it('are for fewer executions at a time while these are slow, and for more again when they are not', async () => {
    const askers = new Askers(64);
    const executing: number[] = [];
    let sent = 0;
    const send = () => askers.ask('execution', { client: `sender${sent++}`, isExecution: true });
    // The server executes one after the other: the last one waits for all before it.
    const execute = async (count: number, ms: number) => {
      for (let i = 0; i < count; i++) {
        executing.push(askers.slots.taken);
        await askers.clock.advance(ms);
        await askers.release();
        await send();
      }
    };
    for (let i = 0; i < 16; i++) await send();
    expect(askers.slots.taken).toBe(8);
    await execute(30, 400);
    expect(executing.at(-1)).toBeLessThanOrEqual(2);
    await execute(60, 5);
    expect(executing.at(-1)).toBe(8);
  });

  it('are for executions of clients with a key, however slow those of others are', async () => {
    const askers = new Askers(64);
    const of = (client: string, hasKey: boolean): SlotTurn => ({ client, hasKey, isExecution: true });
    // What clients without a key send takes seconds, each time.
    for (let i = 0; i < 20; i++) await askers.ask('other', of(`address${i}`, false));
    expect(askers.granted.length).toBe(4);
    for (let i = 0; i < 6; i++) {
      askers.clock.advance(i === 0 ? 20 : 3_000);
      await askers.release();
    }
    const slow = askers.granted.length;
    for (let i = 0; i < 5; i++) await askers.ask('key', of('key', true));
    expect(askers.granted.slice(slow)).toEqual(['key', 'key', 'key', 'key', 'key']);
    expect(askers.slots.waiting).toBe(20 - slow);
  });

  it('are for one execution of each kind of clients at least', async () => {
    const askers = new Askers(4);
    for (const name of ['first', 'second']) {
      await askers.ask(`other ${name}`, { client: `address ${name}`, hasKey: false, isExecution: true });
    }
    await askers.ask('key', { client: 'key', isExecution: true });
    expect(askers.granted).toEqual(['other first', 'key']);
  });

  it('are fewer while even the quickest reads wait in the server, and all again when they do not', async () => {
    const askers = new Askers(64);
    let asked = 0;
    const ask = () => askers.ask(`client${asked % 50}`, { client: `client${asked++ % 50}` });
    // The server answers one after the other.
    const answer = async (count: number, ms: number) => {
      for (let i = 0; i < count; i++) {
        askers.clock.advance(ms);
        await askers.release();
        await ask();
      }
    };
    for (let i = 0; i < 200; i++) await ask();
    expect(askers.slots.taken).toBe(64);
    await answer(16, 0.2);
    expect(askers.slots.taken).toBe(64);
    await answer(600, 20);
    expect(askers.slots.taken).toBeLessThanOrEqual(16);
    expect(askers.slots.taken).toBeGreaterThanOrEqual(4);
    await answer(600, 0.2);
    expect(askers.slots.taken).toBe(64);
  });

  it('stay as many where some reads are large and others are not', async () => {
    const askers = new Askers(64);
    for (let i = 0; i < 400; i++) {
      const release = await askers.slots.acquire({ client: `client${i}` }, new AbortController().signal);
      askers.clock.advance(i % 8 === 0 ? 10 : 900);
      release();
    }
    for (let i = 0; i < 64; i++) await askers.ask(`client${i}`);
    expect(askers.slots.taken).toBe(64);
  });

  it('count the time of executions to the client: who sends what is slow waits for others', async () => {
    const askers = new Askers(8);
    const greedy = { client: 'greedy', isExecution: true };
    const other = { client: 'other', isExecution: true };
    await askers.ask('greedy', greedy);
    for (let i = 0; i < 4; i++) await askers.ask('other', other);
    for (let i = 0; i < 4; i++) await askers.ask('greedy', greedy);
    await askers.clock.advance(350);
    for (let i = 0; i < 6; i++) await askers.release();
    expect(askers.granted).toEqual(['greedy', 'other', 'other', 'other', 'other', 'greedy', 'greedy']);
  });

  it('beside the others are for urgent queries, which go first', async () => {
    const askers = new Askers(2);
    await askers.ask('a');
    await askers.ask('b');
    await askers.ask('c');
    for (let i = 0; i <= URGENT_SLOTS; i++) await askers.ask('head', { isUrgent: true });
    expect(askers.granted.filter((name) => name === 'head').length).toBe(URGENT_SLOTS);
    await askers.release();
    expect(askers.granted.at(-1)).toBe('head');
    expect(askers.slots.waiting).toBe(1);
  });

  it('are not given to those who left, and only once for each release', async () => {
    const askers = new Askers(1);
    const leaving = new AbortController();
    await askers.ask('a');
    await askers.ask('b', { client: 'b' }, leaving.signal);
    await askers.ask('c');
    leaving.abort();
    const [release] = askers.releases;
    await askers.release();
    release!();
    await Promise.resolve();
    expect([askers.granted, askers.slots.taken, askers.slots.waiting]).toEqual([['a', 'c'], 1, 0]);
    await expect(askers.slots.acquire({}, leaving.signal)).rejects.toThrow();
  });
});
