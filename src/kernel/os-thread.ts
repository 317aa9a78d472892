import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import process from 'node:process';

/** How other threads of the process find the CPU time of a thread. Linux only. */
export interface ThreadCpuTime {
  /** Id of the thread in the operating system, which `os.setPriority` takes. */
  readonly threadId: number;
  /** The file of the kernel with the time; see proc(5). */
  readonly file: string;
}

/** Of the calling thread; null where the system does not tell it. */
export function ownThreadCpuTime(): ThreadCpuTime | null {
  try {
    const [process, , thread] = readlinkSync('/proc/thread-self').split('/');
    const found = { threadId: Number(thread), file: `/proc/${process}/task/${thread}/schedstat` };
    return readThreadCpuMs(found) === null ? null : found;
  } catch {
    return null;
  }
}

/** Milliseconds since a thread started: on a processor, and ready but waiting for one. */
export interface ThreadTimes {
  readonly ran: number;
  readonly waited: number;
}

/**
 * Times of a thread; of one that runs, as of the last tick of the scheduler, 1 to 10 ms ago. Null: the thread has ended, or the
 * kernel does not count.
 */
export function readThreadTimes({ file }: Pick<ThreadCpuTime, 'file'>): ThreadTimes | null {
  try {
    const [ran, waited] = readFileSync(file, 'latin1').split(' ');
    return Number(ran) > 0 ? { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 } : null;
  } catch {
    return null;
  }
}

/**
 * Reads the CPU time of the calling thread again and again, in milliseconds since it started, in a tenth of the time
 * that {@link readThreadCpuMs} takes. The file stays open until the thread ends.
 *
 * @param thread of {@link ownThreadCpuTime}
 * @returns what reads it
 * @throws what `openSync` throws
 */
export function ownCpuTimeReader({ file }: ThreadCpuTime): () => number {
  const descriptor = openSync(file, 'r');
  const text = Buffer.alloc(64);
  return () => {
    const length = readSync(descriptor, text, 0, text.length, 0);
    return Number(text.toString('latin1', 0, Math.min(length, text.indexOf(' ')))) / 1e6;
  };
}

/** CPU time of a thread in milliseconds since it started, as of {@link readThreadTimes}. */
export function readThreadCpuMs(thread: ThreadCpuTime): number | null {
  return readThreadTimes(thread)?.ran ?? null;
}

/** How far behind the main thread, in steps of the nice value: of workers, and of what may wait for all others. */
export const BEHIND = { worker: 5, background: 10 } as const;

const LOWEST = 19;

/**
 * Lets the main thread, and whoever is less far behind it, go before a thread, for good: only privileged processes may raise
 * priorities. The event loop otherwise gets as much of a processor as each thread that always works. Does nothing with null.
 */
export function lowerPriority(
  thread: Pick<ThreadCpuTime, 'threadId'> | null,
  behind: number = BEHIND.background,
): void {
  if (thread === null) return;
  try {
    setPriority(thread.threadId, Math.min(LOWEST, getPriority(process.pid) + behind));
  } catch {
    // Refused by the system: it runs like the others.
  }
}
