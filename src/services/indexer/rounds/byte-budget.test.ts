import { expect, it } from 'vitest';
import { ByteBudget } from '#services/indexer/rounds/byte-budget.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('lets wait who is not exempt until less than the limit is held', async () => {
  const budget = new ByteBudget(100);
  const { signal } = new AbortController();
  let isExempt = false;
  const passed: string[] = [];
  const pass = async (name: string, exempt: () => boolean) => {
    await budget.room(exempt, signal);
    passed.push(name);
  };
  await pass('at first', () => false);
  budget.take(130);
  const all = [pass('waits', () => false), pass('is exempt later', () => isExempt), pass('is exempt', () => true)];
  await settle();
  expect(passed).toEqual(['at first', 'is exempt']);
  budget.give(30);
  await settle();
  isExempt = true;
  await settle();
  expect(passed).toEqual(['at first', 'is exempt']);
  budget.wake();
  await settle();
  expect(passed).toEqual(['at first', 'is exempt', 'is exempt later']);
  budget.give(1);
  await Promise.all(all);
  expect(passed.at(-1)).toBe('waits');
  expect(budget.held).toBe(99);
});

it('ends the wait with the signal', async () => {
  const budget = new ByteBudget(1);
  budget.take(1);
  const controller = new AbortController();
  const waiting = budget.room(() => false, controller.signal);
  controller.abort();
  budget.wake();
  await expect(waiting).rejects.toMatchObject({ code: 'chain/aborted' });
});
