import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** What `/proc/PID/stat` says of a process, in milliseconds of CPU time. */
function statOf(
  pid: number | string,
): { readonly parent: number; readonly own: number; readonly children: number } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in brackets may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (at: number) => Number(fields[at]) * TICK_MS;
  return { parent: Number(fields[1]), own: ticks(11) + ticks(12), children: ticks(13) + ticks(14) };
}

/** CPU time that a process has taken, without its children; in milliseconds. */
export function processMs(pid: number): number {
  return statOf(pid)?.own ?? 0;
}

/** CPU time that one thread of a process has taken; in milliseconds. */
export function threadMs(pid: number, thread: number): number {
  return statOf(`${pid}/task/${thread}`)?.own ?? 0;
}

/** CPU time that each thread of a process has taken, by its id; in milliseconds. */
export function threadsMs(pid: number): ReadonlyMap<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return new Map(threads.map((thread) => [thread, threadMs(pid, thread)]));
}

/** CPU time that a process and its children have taken, with those that have ended; in milliseconds. */
export function processTreeMs(pid: number): number {
  const root = statOf(pid);
  if (root === null) return 0;
  let sum = root.own + root.children;
  for (const child of childrenOf(pid)) sum += statOf(child)?.own ?? 0;
  return sum;
}

/** Processes that a process has started, without theirs; none where there is no `/proc`. */
export function childrenOf(pid: number): number[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => statOf(each)?.parent === pid);
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Memory that a process and its children have for themselves, what they share counted once; in bytes. */
export function proportionalBytes(pid: number): number {
  let sum = 0;
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      const text = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8');
      sum += Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
    } catch {
      // It has ended.
    }
  }
  return sum;
}
