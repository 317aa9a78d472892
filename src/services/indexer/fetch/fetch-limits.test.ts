import { expect, it } from 'vitest';
import { ByteBudget, FetchRates, PrioritySemaphore } from '#services/indexer/fetch/fetch-limits.js';

it('gives the next turn to the lowest rank, and among equals to who came first', async () => {
  const turns = new PrioritySemaphore(1);
  const { signal } = new AbortController();
  const order: string[] = [];
  let begin = (): void => {};
  const first = turns.run(9, () => new Promise<void>((resolve) => (begin = resolve)), signal);
  const rest = [3, 1, 2, 1].map((rank, i) => turns.run(rank, async () => void order.push(`${rank}/${i}`), signal));
  begin();
  await Promise.all([first, ...rest]);
  expect(order).toEqual(['1/1', '1/3', '2/2', '3/0']);
});

it('lets work at once only as many as there are turns, whether or not they fail', async () => {
  const turns = new PrioritySemaphore(3);
  const { signal } = new AbortController();
  let working = 0;
  let most = 0;
  const jobs = Array.from({ length: 12 }, (_, i) =>
    turns.run(
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
  const turns = new PrioritySemaphore(1);
  const controller = new AbortController();
  const never = new AbortController().signal;
  let end = (): void => {};
  const working = turns.run(0, () => new Promise<void>((resolve) => (end = resolve)), never);
  const waiting = turns.run(0, async () => {}, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'chain/aborted' });
  await expect(turns.run(0, async () => {}, controller.signal)).rejects.toMatchObject({ code: 'chain/aborted' });
  end();
  await working;
  expect(await turns.run(0, async () => 'mine', never)).toBe('mine');
});

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('lets wait who is not exempt until less than the limit is held', async () => {
  const budget = new ByteBudget(100);
  const { signal } = new AbortController();
  let isExempt = false;
  const passed: string[] = [];
  const pass = async (name: string, exempt: () => boolean) => {
    await budget.waitForRoom(exempt, signal);
    passed.push(name);
  };
  await pass('at first', () => false);
  budget.take(130);
  const all = [pass('waits', () => false), pass('is exempt later', () => isExempt), pass('is exempt', () => true)];
  await settle();
  expect(passed).toEqual(['at first', 'is exempt']);
  budget.release(30);
  await settle();
  isExempt = true;
  await settle();
  expect(passed).toEqual(['at first', 'is exempt']);
  budget.wake();
  await settle();
  expect(passed).toEqual(['at first', 'is exempt', 'is exempt later']);
  budget.release(1);
  await Promise.all(all);
  expect(passed.at(-1)).toBe('waits');
  expect(budget.held).toBe(99);
});

it('ends the wait with the signal', async () => {
  const budget = new ByteBudget(1);
  budget.take(1);
  const controller = new AbortController();
  const waiting = budget.waitForRoom(() => false, controller.signal);
  controller.abort();
  budget.wake();
  await expect(waiting).rejects.toMatchObject({ code: 'chain/aborted' });
});

it('follows what was seen lately', () => {
  const rates = new FetchRates();
  const { answerMs, bundleBytes: roundBytes } = rates;
  for (let i = 0; i < 100; i++) rates.answered(4);
  rates.answered(20);
  expect(answerMs).toBeGreaterThan(20);
  expect(rates.answerMs).toBeGreaterThan(4);
  expect(rates.answerMs).toBeLessThan(6);
  for (let i = 0; i < 20; i++) rates.fetched(32, 320_000);
  expect(roundBytes).toBeGreaterThan(50_000);
  expect(rates.bundleBytes).toBeCloseTo(10_000, -1);
});
