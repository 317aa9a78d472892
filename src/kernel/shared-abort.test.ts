import process from 'node:process';
import { expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.js';
import { withDeadline } from '#kernel/deadline.js';
import { sharedAbortController, sharedSignalOf } from '#kernel/shared-abort.js';

/** The warnings of Node while so many operations wait with a signal. */
async function warningsOf(signal: AbortSignal, operations: number): Promise<string[]> {
  const names: string[] = [];
  const onWarning = ({ name }: Error) => void names.push(name);
  const before = process.listeners('warning');
  process.removeAllListeners('warning').on('warning', onWarning);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const give = () => new Error('it is over');
  const deadline = { until: Number.POSITIVE_INFINITY, signal, expired: give, aborted: give };
  const all = Array.from({ length: operations }, () => withDeadline(released, deadline, systemClock));
  release();
  await Promise.all(all);
  await new Promise(setImmediate);
  process.off('warning', onWarning);
  for (const listener of before) process.on('warning', listener);
  return names;
}

it('hundreds of operations may share the signal; a leak is still reported', async () => {
  const { signal } = sharedAbortController();
  for (let i = 0; i < 5; i++) expect(await warningsOf(signal, 900), String(i)).toEqual([]);
  expect(await warningsOf(sharedSignalOf([signal]), 900)).toEqual([]);
  expect(await warningsOf(signal, 1_001)).toEqual(['MaxListenersExceededWarning']);
});

it('a signal of several is aborted with the first', () => {
  const [one, other] = [sharedAbortController(), sharedAbortController()];
  const signal = sharedSignalOf([one.signal, other.signal]);
  other.abort('why');
  expect([signal.aborted, signal.reason]).toEqual([true, 'why']);
});
