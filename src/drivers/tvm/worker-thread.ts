import { Worker } from 'node:worker_threads';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { FromWorker, Job, WorkerStart } from '#drivers/tvm/worker-protocol.js';
import type { TernError } from '#kernel/tern-error.js';

/** A reply of a worker, and how large the memory of its emulator is. */
export type Done = Extract<FromWorker, { reply: unknown }>;

interface Waiting<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (error: TernError) => void;
}

// In a published package this file is .js and so is the worker beside it.
const fromSources = import.meta.url.endsWith('.ts');
const entry = new URL(fromSources ? './tvm-worker-source.mjs' : './tvm-worker.js', import.meta.url);
const conditions = fromSources ? ['--conditions=source'] : [];

/** The emulator recurses over stacks, tuples and cells. */
const STACK_MIB = 32;

/** A thread with an emulator. It does one job at a time. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #lost: (thread: WorkerThread) => void;
  #start: Waiting<WorkerThread> | null = null;
  #job: Waiting<Done> | null = null;
  #alive = true;

  private constructor(start: WorkerStart, lost: (thread: WorkerThread) => void) {
    this.#lost = lost;
    this.#worker = new Worker(entry, {
      workerData: start,
      execArgv: conditions,
      resourceLimits: { stackSizeMb: STACK_MIB },
      stdout: true,
      stderr: true,
    });
    this.#worker.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error.message : String(error)));
    this.#worker.on('exit', (code) => this.#end(`the thread ended with code ${code}`));
  }

  /**
   * Starts a thread.
   *
   * @param lost called when the thread has ended after it had started, and not by {@link WorkerThread.stop}
   * @throws tvm/not-started
   */
  static start(start: WorkerStart, lost: (thread: WorkerThread) => void): Promise<WorkerThread> {
    return new Promise((resolve, reject) => {
      new WorkerThread(start, lost).#start = { resolve, reject };
    });
  }

  /** @throws tvm/crashed when the thread ends, also by {@link WorkerThread.stop} */
  run(job: Job): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#job = { resolve, reject };
      this.#worker.postMessage(job);
    });
  }

  /** Ends the thread, whatever it is doing. */
  async stop(): Promise<void> {
    this.#alive = false;
    await this.#worker.terminate();
  }

  #receive(message: FromWorker): void {
    if ('started' in message) {
      this.#start?.resolve(this);
      this.#start = null;
      return;
    }
    const job = this.#job;
    this.#job = null;
    job?.resolve(message);
  }

  #end(problem: string): void {
    const wasRunning = this.#alive && this.#start === null;
    this.#alive = false;
    this.#start?.reject(tvmErrors['not-started']({ problem }));
    this.#start = null;
    this.#job?.reject(tvmErrors.crashed({ problem }));
    this.#job = null;
    if (wasRunning) this.#lost(this);
  }
}
