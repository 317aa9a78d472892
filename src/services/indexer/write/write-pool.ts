import type { BatchOrder } from '#drivers/store/write/write-batch.js';
import { type Clock, pause } from '#kernel/clock.js';
import { Semaphore } from '#kernel/semaphore.js';
import type { BatchReport, BundleBatch } from '#services/indexer/write/batch-writer.js';
import type { ThreadStart } from '#services/indexer/write/thread-protocol.js';
import { type GlobalVersionOf, WriteThread } from '#services/indexer/write/write-thread.js';

export interface WritePoolModules {
  readonly clock: Clock;
  readonly globalVersion: GlobalVersionOf;
}

/** A batch that is given up may still be on the way to a database that does not answer. */
const GIVE_UP_MS = 2000;

/** Threads that write batches at the same time. They start when they are needed; one that is lost is replaced. */
export class WritePool {
  readonly #start: ThreadStart;
  readonly #modules: WritePoolModules;
  readonly #permits: Semaphore;
  readonly #idle: WriteThread[] = [];
  readonly #busy = new Set<WriteThread>();
  #closed = false;
  #lost = 0;

  constructor(threads: number, start: ThreadStart, modules: WritePoolModules) {
    this.#start = start;
    this.#modules = modules;
    this.#permits = new Semaphore(threads);
  }

  /** How many threads were lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Writes a batch on a thread that is free, or nothing of it.
   *
   * @param signal gives the batch up where that can be done, and else waits for its end for a short time
   * @throws indexer/thread-lost, store/overlap, and as `BatchWriter.write`
   */
  async write(batch: BundleBatch, order: BatchOrder, signal: AbortSignal): Promise<BatchReport> {
    const release = await this.#permits.acquire(signal)!;
    try {
      const thread = this.#idle.pop() ?? (await WriteThread.start(this.#start, this.#modules.globalVersion));
      return await this.#write(thread, batch, order, signal);
    } finally {
      release();
    }
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#idle, ...this.#busy].map((thread) => thread.stop()));
    this.#idle.length = 0;
  }

  async #write(thread: WriteThread, batch: BundleBatch, order: BatchOrder, signal: AbortSignal): Promise<BatchReport> {
    const { clock } = this.#modules;
    this.#busy.add(thread);
    const ended = new AbortController();
    const giveUp = async (): Promise<void> => {
      await pause(GIVE_UP_MS, clock, ended.signal);
      if (!ended.signal.aborted) await thread.stop();
    };
    const onAbort = (): void => void giveUp();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await thread.write(batch, order);
    } finally {
      ended.abort();
      signal.removeEventListener('abort', onAbort);
      this.#busy.delete(thread);
      if (!thread.alive) this.#lost++;
      else if (this.#closed) void thread.stop();
      else this.#idle.push(thread);
    }
  }
}
