import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { BEHIND, lowerPriority, ownThreadCpuTime, readThreadCpuMs } from '#kernel/os-thread.js';

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

it('the threads that Node starts with a process go behind its main thread', () => {
  if (ownThreadCpuTime() === null) return;
  const module = new URL('os-thread.ts', import.meta.url).href;
  const script = `const { lowerPlatformThreads } = await import('${module}');
    const { getPriority } = await import('node:os');
    const { readdirSync } = await import('node:fs');
    const threads = readdirSync('/proc/self/task').map(Number);
    lowerPlatformThreads();
    console.log(JSON.stringify([getPriority(process.pid), threads.filter((id) => id !== process.pid).map((id) => getPriority(id))]));`;
  const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script];
  const [main, others] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [number, number[]];
  expect(main).toBe(getPriority(process.pid));
  expect(others.length).toBeGreaterThan(3);
  expect(new Set(others)).toEqual(new Set([Math.min(19, main + BEHIND.worker)]));
});
