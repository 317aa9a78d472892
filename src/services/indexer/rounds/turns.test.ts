import { expect, it } from 'vitest';
import { Turns } from '#services/indexer/rounds/turns.js';

it('gives the next turn to the lowest rank, and among equals to who came first', async () => {
  const turns = new Turns(1);
  const { signal } = new AbortController();
  const order: string[] = [];
  let begin = (): void => {};
  const first = turns.take(9, () => new Promise<void>((resolve) => (begin = resolve)), signal);
  const rest = [3, 1, 2, 1].map((rank, i) => turns.take(rank, async () => void order.push(`${rank}/${i}`), signal));
  begin();
  await Promise.all([first, ...rest]);
  expect(order).toEqual(['1/1', '1/3', '2/2', '3/0']);
});

it('lets work at once only as many as there are turns, whether or not they fail', async () => {
  const turns = new Turns(3);
  const { signal } = new AbortController();
  let working = 0;
  let most = 0;
  const jobs = Array.from({ length: 12 }, (_, i) =>
    turns.take(
      i,
      async () => {
        most = Math.max(most, ++working);
        await new Promise((resolve) => setImmediate(resolve));
        working--;
        if (i % 2 === 0) throw new RangeError('no');
      },
      signal,
    ),
  );
  const results = await Promise.allSettled(jobs);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(6);
  expect(most).toBe(3);
});

it('ends the wait with the signal, and keeps no turn for it', async () => {
  const turns = new Turns(1);
  const controller = new AbortController();
  const never = new AbortController().signal;
  let end = (): void => {};
  const working = turns.take(0, () => new Promise<void>((resolve) => (end = resolve)), never);
  const waiting = turns.take(0, async () => {}, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'chain/aborted' });
  await expect(turns.take(0, async () => {}, controller.signal)).rejects.toMatchObject({ code: 'chain/aborted' });
  end();
  await working;
  expect(await turns.take(0, async () => 'mine', never)).toBe('mine');
});
