import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { BEHIND, lowerPriority, ownCpuTimeReader, ownThreadCpuTime, readThreadCpuMs } from '#kernel/os-thread.js';

it('the CPU time of a thread grows while it works, where the system reports it', () => {
  const own = ownThreadCpuTime();
  if (!existsSync('/proc/thread-self/schedstat')) {
    expect(own).toBeNull();
    return;
  }
  const before = readThreadCpuMs(own!)!;
  let after = before;
  for (let i = 0; i < 1e6 && after === before; i++) after = readThreadCpuMs(own!)!;
  expect(after).toBeGreaterThan(before);
});

it('a thread reads its own again and again from a file that stays open', () => {
  const own = ownThreadCpuTime();
  if (own === null) return;
  const read = ownCpuTimeReader(own);
  const first = read();
  let last = first;
  for (let i = 0; i < 1e7 && last < first + 10; i++) last = read();
  expect(last).toBeGreaterThanOrEqual(first + 10);
  const before = read();
  const between = readThreadCpuMs(own)!;
  expect(between).toBeGreaterThanOrEqual(before);
  expect(read()).toBeGreaterThanOrEqual(between);
});

it('of a thread that has ended there is none', () => {
  expect(readThreadCpuMs({ threadId: 0, file: '/proc/0/task/0/schedstat' })).toBeNull();
});

it('a worker goes behind the main thread, which stays where it is', async () => {
  if (ownThreadCpuTime() === null) return;
  const before = getPriority(process.pid);
  // A thread that only tells its number, and stays.
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const [, , thread] = require('node:fs').readlinkSync('/proc/thread-self').split('/');
     parentPort.on('message', () => parentPort.close()).postMessage(Number(thread));`,
    { eval: true },
  );
  const threadId = await new Promise<number>((resolve) => worker.once('message', resolve));
  lowerPriority({ threadId }, BEHIND.worker);
  expect([getPriority(threadId), getPriority(process.pid)]).toEqual([Math.min(19, before + BEHIND.worker), before]);
  await worker.terminate();
});
