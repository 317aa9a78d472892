import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ownThreadCpuTime, readThreadCpuMs } from '#kernel/os-thread.js';

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
