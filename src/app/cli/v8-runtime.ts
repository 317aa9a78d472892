import { readdirSync } from 'node:fs';
import process from 'node:process';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { BEHIND, lowerPriority, readThreadTimes, type ThreadTimes } from '#kernel/os-thread.js';

const LOOK_MS = 1_000;

/** Waiting in one look that is worth a change, in milliseconds of all threads together. */
const LEAST_WAIT_MS = 20;

/** Looks in a row without contention, after which collections are parallel again. */
const CALM_LOOKS = 5;

/** By how much the heap of a thread grows between two collections, in percent of what lives; see {@link limitHeapGrowth}. */
const GROWTH_OF_SMALL = 150;
const GROWTH = 50;

/** Heaps of the main thread below this size are small. */
const SMALL_HEAP = 96 * 2 ** 20;

/**
 * Bounds how much heaps grow between two collections: on machines with much memory V8 would let them grow fourfold. While the heap
 * of the main thread is small they may grow more, because a collection costs as much for each byte that lives, and memory little.
 */
export function limitHeapGrowth(): void {
  let before = 0;
  const look = (): void => {
    const growth = heapGrowth(getHeapStatistics().total_heap_size);
    if (growth !== before) setFlagsFromString(`--heap-growing-percent=${growth}`);
    before = growth;
  };
  look();
  setInterval(look, LOOK_MS).unref();
}

/** @param bytes of the heap of the main thread, with what is not used of it @returns percent */
export function heapGrowth(bytes: number): number {
  return bytes < SMALL_HEAP ? GROWTH_OF_SMALL : GROWTH;
}

/**
 * Turns off pretenuring, so that all objects are allocated in the young generation. V8 would allocate the objects of an allocation
 * site in the old generation once most earlier ones survived a collection, which those of a request in progress always do, and every
 * function literal that is assigned to a property (`run.stop = () => …`). There they stay until the next full collection, and keep the
 * whole request alive, which is copied and promoted.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Lowers the priority of the threads on which V8 collects garbage and compiles, four on every machine, below that of the main
 * thread. To be called before other threads are started. Linux only; elsewhere it does nothing.
 *
 * V8 collects the young generation on several of these threads, and the thread whose heap it is waits for all of them. While other
 * programs use the processors, one that goes behind waits for a processor in the middle of its part, and the main thread for it: then
 * each thread collects alone.
 */
export function configurePlatformThreads(): void {
  const files: string[] = [];
  try {
    for (const thread of readdirSync('/proc/self/task')) {
      const threadId = Number(thread);
      if (threadId === process.pid) continue;
      lowerPriority({ threadId }, BEHIND.worker);
      files.push(`/proc/${process.pid}/task/${thread}/schedstat`);
    }
  } catch {
    return;
  }
  const contention = new ProcessorContention();
  const look = (): void => {
    const changed = contention.note(sumOf(files));
    if (changed !== null) setFlagsFromString(changed ? '--no-parallel-scavenge' : '--parallel-scavenge');
  };
  setInterval(look, LOOK_MS).unref();
}

/** Whether threads wait for processors longer than they run. */
export class ProcessorContention {
  #before: ThreadTimes | null = null;
  #isContended = false;
  #calmLooks = 0;

  /** @param times of all threads together since they started. @returns whether there is contention now; null: as before */
  note(times: ThreadTimes): boolean | null {
    const before = this.#before ?? times;
    this.#before = times;
    const waited = times.waited - before.waited;
    const isContended = waited >= LEAST_WAIT_MS && waited > times.ran - before.ran;
    this.#calmLooks = isContended ? 0 : this.#calmLooks + 1;
    const next = isContended || (this.#isContended && this.#calmLooks < CALM_LOOKS);
    if (next === this.#isContended) return null;
    this.#isContended = next;
    return next;
  }
}

function sumOf(files: readonly string[]): ThreadTimes {
  let ran = 0;
  let waited = 0;
  for (const file of files) {
    const times = readThreadTimes({ file });
    ran += times?.ran ?? 0;
    waited += times?.waited ?? 0;
  }
  return { ran, waited };
}
