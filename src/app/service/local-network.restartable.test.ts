import { describe, expect, it } from 'vitest';
import { Restartable, type Running } from '#app/service/local-network.js';

/** Counts what was started and closed; each can be made to end by itself. */
function started() {
  const events: string[] = [];
  const ends: ((error: Error) => void)[] = [];
  let number = 0;
  const start = async (): Promise<Running & { readonly number: number }> => {
    const own = ++number;
    events.push(`start ${own}`);
    const ended = new Promise<void>((_, reject) => ends.push(reject));
    ended.catch(() => {});
    return { number: own, ended, close: async () => void events.push(`close ${own}`) };
  };
  return { events, ends, start };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what can be begun anew', () => {
  it('is closed before the change, and started after it', async () => {
    const { events, start } = started();
    const restartable = await Restartable.begin(start);
    expect(restartable.current.number).toBe(1);
    expect(restartable.change(async () => void events.push('change'))).toBe(true);
    expect(restartable.change(async () => void events.push('another'))).toBe(false);
    await settled();
    expect(events).toEqual(['start 1', 'close 1', 'change', 'start 2']);
    expect(restartable.current.number).toBe(2);
    await restartable.close();
    expect(events.at(-1)).toBe('close 2');
    await restartable.ended;
  });

  it('ends when what runs ends by itself, or cannot be changed', async () => {
    const one = started();
    const ending = await Restartable.begin(one.start);
    one.ends[0]!(new TypeError('gone'));
    await expect(ending.ended).rejects.toThrow('gone');

    const two = started();
    const failing = await Restartable.begin(two.start);
    failing.change(async () => {
      throw new TypeError('no such snapshot');
    });
    await expect(failing.ended).rejects.toThrow('no such snapshot');
  });

  it('is not started again when it is closed meanwhile', async () => {
    const { events, start } = started();
    const restartable = await Restartable.begin(start);
    let finish = (): void => {};
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    restartable.change(() => work);
    await settled();
    const closing = restartable.close();
    finish();
    await closing;
    expect(events).toEqual(['start 1', 'close 1', 'close 1']);
  });
});
