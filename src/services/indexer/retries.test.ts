import { describe, expect, it } from 'vitest';
import { storeErrors } from '#drivers/store/errors.js';
import { Retries } from '#services/indexer/retries.js';
import { FakeClock } from '#test/support/fake-clock.js';

const gone = storeErrors.unreachable({ problem: 'gone' });
const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

function retries() {
  const clock = new FakeClock();
  const said: string[] = [];
  const logger = {
    info: (message: string) => said.push(message),
    warn: (message: string, fields: { code?: unknown } = {}) => said.push(`${message}: ${fields.code}`),
  };
  return { clock, said, retries: new Retries(clock, logger) };
}

describe('work that is tried again', () => {
  it('ends as soon as it succeeds, after longer and longer pauses, and says once what was wrong', async () => {
    const { clock, said, retries: each } = retries();
    const times: number[] = [];
    const done = each.run(async () => {
      times.push(clock.now());
      if (times.length < 8) throw gone;
      return 'done';
    }, never);
    for (let i = 0; i < 8; i++) {
      await settle();
      if (i > 0 && i < 7) expect(each.problem).toBe(gone);
      clock.advance((clock.next ?? clock.now()) - clock.now());
    }
    expect(await done).toBe('done');
    expect(times).toEqual([0, 100, 300, 700, 1500, 3100, 5100, 7100]);
    expect(said).toEqual(['indexing is waiting for a retry: store/unreachable', 'indexing continues']);
    expect([each.problem, each.count, clock.pending]).toEqual([null, 7, 0]);
  });

  it('waits longer after what another attempt will hardly change', async () => {
    const { clock, said, retries: each } = retries();
    const times: number[] = [];
    const done = each.run(async () => {
      times.push(clock.now());
      if (times.length < 9) throw new TypeError('odd');
    }, never);
    for (let i = 0; i < 9; i++) {
      await settle();
      clock.advance((clock.next ?? clock.now()) - clock.now());
    }
    await done;
    expect(times).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000, 183_000]);
    expect(said[0]).toBe('indexing is waiting for a retry: indexer/unexpected');
  });

  it('ends with what is final, and when it is stopped', async () => {
    const { clock, retries: each } = retries();
    const fail = async () => {
      throw gone;
    };
    await expect(each.run(fail, never, () => true)).rejects.toBe(gone);
    const stop = new AbortController();
    const running = each.run(fail, stop.signal);
    const ended = expect(running).rejects.toMatchObject({ code: 'indexer/stopped' });
    await settle();
    stop.abort();
    await ended;
    await expect(each.run(async () => 1, stop.signal)).rejects.toMatchObject({ code: 'indexer/stopped' });
    expect([each.problem, clock.pending]).toEqual([null, 0]);
  });
});
