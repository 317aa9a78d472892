import { describe, expect, it } from 'vitest';
import type { Deadline } from '#kernel/deadline.js';
import { type Flight, SingleFlight } from '#kernel/single-flight.js';
import { FakeClock } from '#test/support/fake-clock.js';

/** Work that ends when the test says so. */
class Work {
  startedAt = 0;
  flight: Flight | null = null;
  resolve: (value: string) => void = () => {};
  reject: (error: unknown) => void = () => {};

  readonly start = (flight: Flight): Promise<string> => {
    this.startedAt++;
    this.flight = flight;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  };
}

function within(rest: Partial<Deadline> = {}): Deadline {
  return {
    until: Number.POSITIVE_INFINITY,
    expired: () => new TypeError('expired'),
    aborted: (reason) => new TypeError(`aborted: ${String(reason)}`),
    ...rest,
  };
}

const message = (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.message);

describe('one flight', () => {
  it('serves all who come while it is under way, and none who come later', async () => {
    const flights = new SingleFlight<string>(new FakeClock());
    const work = new Work();
    const both = [1, 2].map(() => flights.do('a', work.start, within()));
    const other = flights.do('b', async () => 'else', within());
    expect([work.startedAt, flights.joined]).toEqual([1, 1]);
    work.resolve('done');
    expect(await Promise.all([...both, other])).toEqual(['done', 'done', 'else']);
    expect(flights.size).toBe(0);
    void flights.do('a', work.start, within());
    expect(work.startedAt).toBe(2);
  });

  it('fails for all', async () => {
    const flights = new SingleFlight<string>(new FakeClock());
    const work = new Work();
    const both = [1, 2].map(() => message(flights.do('a', work.start, within())));
    work.reject(new TypeError('no'));
    expect(await Promise.all(both)).toEqual(['no', 'no']);
    expect(flights.size).toBe(0);
  });

  it('lasts as long as somebody waits, and is called off when nobody does', async () => {
    const clock = new FakeClock(1_000);
    const flights = new SingleFlight<string>(clock);
    const work = new Work();
    const controller = new AbortController();
    const short = message(flights.do('a', work.start, within({ until: 1_010 })));
    const long = message(flights.do('a', work.start, within({ until: 1_050, signal: controller.signal })));
    expect(work.flight?.until).toBe(1_050);
    clock.advance(20);
    expect(await short).toBe('expired');
    expect(work.flight?.signal.aborted).toBe(false);
    controller.abort('enough');
    expect(await long).toBe('aborted: enough');
    expect(work.flight?.signal.aborted).toBe(true);
    expect([flights.size, clock.pending]).toEqual([0, 0]);
    // Whoever comes now gets work of his own, whatever becomes of the old one.
    const next = message(flights.do('a', work.start, within()));
    expect(work.startedAt).toBe(2);
    work.resolve('new');
    expect(await next).toBe('new');
  });
});
