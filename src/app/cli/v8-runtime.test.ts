import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import process from 'node:process';
import { expect, it } from 'vitest';
import { heapGrowth, ProcessorContention } from '#app/cli/v8-runtime.js';
import { BEHIND, ownThreadCpuTime } from '#kernel/os-thread.js';

it('the threads that Node starts with a process go behind its main thread', () => {
  if (ownThreadCpuTime() === null) return;
  const module = new URL('v8-runtime.ts', import.meta.url).href;
  const script = `const { configurePlatformThreads } = await import('${module}');
    const { getPriority } = await import('node:os');
    const { readdirSync } = await import('node:fs');
    const threads = readdirSync('/proc/self/task').map(Number);
    configurePlatformThreads();
    console.log(JSON.stringify([getPriority(process.pid), threads.filter((id) => id !== process.pid).map((id) => getPriority(id))]));`;
  const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script];
  const [main, others] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [number, number[]];
  expect(main).toBe(getPriority(process.pid));
  expect(others.length).toBeGreaterThan(3);
  expect(new Set(others)).toEqual(new Set([Math.min(19, main + BEHIND.worker)]));
});

it('collections are parallel until threads wait longer than they run, and again some time after that', () => {
  const contention = new ProcessorContention();
  const sum = { ran: 0, waited: 0 };
  const after = (ran: number, waited: number) => {
    sum.ran += ran;
    sum.waited += waited;
    return contention.note({ ...sum });
  };
  expect(after(500, 5_000)).toBeNull();
  expect(after(100, 90)).toBeNull();
  // So little that it costs nothing.
  expect(after(1, 19)).toBeNull();
  expect(after(100, 110)).toBe(true);
  expect(after(100, 110)).toBeNull();
  expect([after(100, 0), after(0, 0), after(0, 30), after(100, 0), after(0, 0)]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([after(100, 0), after(0, 0), after(50, 40)]).toEqual([null, null, false]);
  expect(after(0, 0)).toBeNull();
});

it('what belongs to a request is not allocated in the old generation, where it would keep the rest of the request', () => {
  const module = new URL('v8-runtime.ts', import.meta.url).href;
  const fullCollections = (before: string): number => {
    const script = `import { PerformanceObserver } from 'node:perf_hooks';
      import { setTimeout as delay } from 'node:timers/promises';
      import { allocateYoung } from '${module}';
      ${before}
      let full = 0;
      new PerformanceObserver((list) => {
        for (const { detail } of list.getEntries()) if (detail.kind === 4) full++;
      }).observe({ entryTypes: ['gc'] });
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const request = async () => {
        const state = [];
        for (let number = 0; number < 1_500; number++) state.push({ number, next: null });
        const run = { stop: null };
        run.stop = () => state;
        await turn();
        run.stop = null;
        return state;
      };
      let begun = 0;
      await Promise.all(Array.from({ length: 16 }, async () => {
        while (begun++ < 15_000) await request();
      }));
      await delay(100);
      console.log(full);`;
    const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script];
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  };
  // Without and with it: Node 20 42 and 4; Node 22, where nothing of this is allocated so, 6 and 6; Node 24 26 and 18.
  expect(fullCollections('allocateYoung();')).toBeLessThan(Math.max(fullCollections('') * 0.8, 10));
});

it('small heaps may grow more between two collections', () => {
  const MIB = 2 ** 20;
  expect([10, 95, 96, 2_000].map((mib) => heapGrowth(mib * MIB))).toEqual([150, 150, 50, 50]);
});
