import { describe, expect, it } from 'vitest';
import { type WorkPermit, type WorkPlace, WorkQueue, type WorkSettings } from '#api/http/work-queue.js';
import { FakeClock } from '#test/support/fake-clock.js';

const settings: WorkSettings = {
  maxWork: 1_000,
  smallWork: 5,
  largeWork: 50,
  maxLargePerClient: 2,
  maxWaiting: 20,
  maxWaitingPerClient: 10,
};

/** A queue, and the calls that began in it. */
class Desk {
  readonly clock = new FakeClock();
  readonly queue: WorkQueue;
  readonly begun: string[] = [];
  readonly permits = new Map<string, WorkPermit>();
  readonly failed: string[] = [];

  constructor(more: Partial<WorkSettings> = {}) {
    this.queue = new WorkQueue({ ...settings, ...more }, this.clock);
  }

  async enter(call: string, units: number, signal = new AbortController().signal, waitMs = 10_000): Promise<void> {
    await this.enterAt('here', call, units, { until: this.clock.now() + waitMs, signal });
  }

  async enterAt(
    place: WorkPlace,
    call: string,
    units: number,
    limit = { until: this.clock.now() + 10_000, signal: new AbortController().signal },
  ): Promise<void> {
    try {
      const permit = await this.queue.enter(call.slice(0, 1), units, limit, place);
      this.begun.push(call);
      this.permits.set(call, permit);
    } catch (error) {
      this.failed.push(`${call}: ${(error as Error).message}`);
    }
  }

  /** Lets what was decided happen. */
  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }

  async end(call: string): Promise<void> {
    this.permits.get(call)!.closed();
    await this.settle();
  }
}

describe('calls by their price', () => {
  it('that are small begin at once, whatever waits', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void desk.enter(call, 600);
    await desk.settle();
    expect(desk.begun).toEqual(['a1']);
    for (const call of ['a4', 'd1']) void desk.enter(call, 5);
    await desk.settle();
    expect(desk.begun).toEqual(['a1', 'a4', 'd1']);
    expect(desk.queue.waiting).toBe(5);
  });

  it('between small and large do not wait for large ones', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'a2', 'b1']) void desk.enter(call, 900);
    for (const call of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']) void desk.enter(call, 50);
    await desk.settle();
    expect(desk.begun).toEqual(['a1', 'c1', 'c2', 'c3', 'c4', 'c5']);
    expect(desk.queue.underWay).toBe(1_150);
  });

  it('of one client delay those of another by one', async () => {
    const desk = new Desk({ maxLargePerClient: 100 });
    for (const call of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) void desk.enter(call, 600);
    for (const call of ['b1', 'b2', 'c1']) void desk.enter(call, 600);
    await desk.settle();
    for (let i = 0; i < 9; i++) await desk.end(desk.begun.at(-1)!);
    expect(desk.begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4', 'a5', 'a6']);
    expect([desk.queue.waiting, desk.queue.underWay]).toEqual([0, 0]);
  });

  it('take turns by work, not by number', async () => {
    const desk = new Desk({ maxLargePerClient: 100, maxWork: 600 });
    for (const call of ['a1', 'a2', 'a3']) void desk.enter(call, 600);
    for (const call of ['b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7']) void desk.enter(call, 200);
    await desk.settle();
    for (let i = 0; i < 10; i++) await desk.end(desk.begun[i]!);
    expect(desk.begun.indexOf('a2')).toBeGreaterThan(desk.begun.indexOf('b3'));
    expect(desk.begun.indexOf('a2')).toBeLessThan(desk.begun.indexOf('b6'));
  });

  it('that are large are two of a client at a time, until their answers are written', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'a2', 'a3', 'b1']) void desk.enter(call, 100);
    await desk.settle();
    expect(desk.begun).toEqual(['a1', 'a2', 'b1']);
    desk.permits.get('a1')!.done();
    await desk.settle();
    expect(desk.begun).toEqual(['a1', 'a2', 'b1']);
    expect(desk.queue.underWay).toBe(200);
    await desk.end('a1');
    await desk.end('a1');
    expect(desk.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    expect(desk.queue.underWay).toBe(300);
  });

  it('between small and large do not wait for those that other threads do', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1']) void desk.enterAt('threads', call, 50);
    void desk.enter('h1', 20);
    await desk.settle();
    expect(desk.begun).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 'h1']);
    expect([desk.queue.underWay, desk.queue.waiting]).toEqual([270, 2]);
    await desk.end('b1');
    expect(desk.begun.at(-1)).toBe('f1');
  });

  it('whose results are cached do not wait for what others make; of one client two large ones are sent at a time', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'a2', 'a3', 'b1']) void desk.enter(call, 900);
    for (const call of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']) void desk.enter(call, 50);
    for (const call of ['d1', 'd2', 'd3']) void desk.enterAt('cached', call, 50);
    for (const call of ['e1', 'e2', 'e3']) void desk.enterAt('cached', call, 300);
    await desk.settle();
    const cached = () => desk.begun.filter((call) => call > 'd');
    expect(cached()).toEqual(['d1', 'd2', 'd3', 'e1', 'e2']);
    desk.permits.get('e1')!.done();
    await desk.settle();
    expect(cached()).toEqual(['d1', 'd2', 'd3', 'e1', 'e2']);
    await desk.end('e1');
    expect(cached()).toEqual(['d1', 'd2', 'd3', 'e1', 'e2', 'e3']);
  });

  it('that cost more than all there is begin alone', async () => {
    const desk = new Desk();
    for (const call of ['a1', 'b1']) void desk.enter(call, 5_000);
    await desk.settle();
    expect(desk.begun).toEqual(['a1']);
    await desk.end('a1');
    expect(desk.begun).toEqual(['a1', 'b1']);
  });

  it('wait until their time is over or their client has gone, and leave no trace', async () => {
    const desk = new Desk();
    const leaving = new AbortController();
    void desk.enter('a1', 900);
    void desk.enter('b1', 900, leaving.signal);
    void desk.enter('c1', 900, undefined, 500);
    void desk.enter('d1', 90);
    await desk.settle();
    leaving.abort();
    await desk.settle();
    desk.clock.advance(501);
    await desk.settle();
    expect(desk.failed).toEqual([
      'b1: the client closed the connection before the response',
      'c1: the server is overloaded: no room for a large request came in time',
    ]);
    expect(desk.begun).toEqual(['a1', 'd1']);
    expect(desk.queue.waiting).toBe(0);
  });

  it('are refused at once when too many wait', async () => {
    const desk = new Desk();
    for (let i = 0; i < 12; i++) void desk.enter(`a${i}`, 900);
    for (const client of 'bcdefghijklm') void desk.enter(`${client}0`, 900);
    await desk.settle();
    expect(desk.failed[0]).toBe('a11: the server is overloaded: too many large requests of this client are waiting');
    expect(desk.failed.at(-1)).toBe('m0: the server is overloaded: too many large requests are waiting');
    expect(desk.queue.waiting).toBe(20);
  });
});
