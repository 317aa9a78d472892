import { tvmErrors } from '#drivers/tvm/errors.js';
import {
  type Job,
  JobOrder,
  type JobResult,
  type TvmWorkerContract,
  type WorkerStart,
} from '#drivers/tvm/worker-protocol.js';
import type { ThreadCpuTime } from '#kernel/os-thread.js';
import { lowerPriority, readThreadCpuMs } from '#kernel/os-thread.js';
import { WorkerThread } from '#kernel/worker-thread.js';

/** The emulator recurses over stacks, tuples and cells. */
const STACK_MIB = 32;

/** What a job allocates outside of the emulator lives as long as the job. */
const YOUNG_MIB = 12;

const COLD_JOBS = 5;

/** A TVM worker: a thread that executes one job at a time, and tells its CPU time while it does. */
export class TvmThread {
  readonly #worker: WorkerThread<TvmWorkerContract>;
  /** CPU time of the thread at the beginning of its job, in milliseconds. Written by the thread. */
  readonly #begunAt: Float64Array;
  readonly #order: Int32Array;
  #cpuTime: ThreadCpuTime | null = null;
  #jobs = 0;

  constructor(start: Omit<WorkerStart, 'begunAt' | 'order'>) {
    const begunAt = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
    this.#begunAt = new Float64Array(begunAt);
    const order = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    this.#order = new Int32Array(order);
    const worker: WorkerThread<TvmWorkerContract> = new WorkerThread<TvmWorkerContract>({
      entry: new URL('./tvm-worker.js', import.meta.url),
      start: { ...start, begunAt, order },
      host: {},
      lost: (problem) => tvmErrors[worker.isReady ? 'crashed' : 'not-started']({ problem }),
      closed: () => tvmErrors.closed({}),
      unexpected: (problem, cause) => tvmErrors.crashed({ problem }, cause),
      resourceLimits: { stackSizeMb: STACK_MIB, maxYoungGenerationSizeMb: YOUNG_MIB },
      silent: true,
    });
    this.#worker = worker;
  }

  /** Resolves when it takes jobs. @throws tvm/not-started */
  async start(): Promise<void> {
    this.#cpuTime = await this.#worker.ready;
  }

  /** Rejects when the thread ends by itself. */
  get ended(): Promise<void> {
    return this.#worker.ended;
  }

  /** Whether it executes one of its first jobs, which take longer: code is compiled, configurations are read. */
  get isCold(): boolean {
    return this.#jobs <= COLD_JOBS;
  }

  run(job: Job): Promise<JobResult> {
    this.#jobs++;
    this.#begunAt[0] = Number.NaN;
    Atomics.store(this.#order, 0, JobOrder.goOn);
    return this.#worker.call.run(job);
  }

  /** Tells it to give up its job, which it does within microseconds, unless the code makes no calls that can be interrupted. */
  interrupt(): void {
    Atomics.compareExchange(this.#order, 0, JobOrder.goOn, JobOrder.giveUp);
  }

  /** Whether it has given up its job, and only needs a fresh emulator for the next one. */
  get hasGivenUp(): boolean {
    return Atomics.load(this.#order, 0) === JobOrder.givenUp;
  }

  /** CPU milliseconds of the job under way; null where the system does not tell. */
  cpuMs(): number | null {
    const startedAt = this.#begunAt[0]!;
    if (this.#cpuTime === null) return null;
    if (Number.isNaN(startedAt)) return 0;
    const now = readThreadCpuMs(this.#cpuTime);
    return now === null ? null : Math.max(0, now - startedAt);
  }

  /** A thread that executes slow runs gets what the others leave. */
  lowerPriority(): void {
    lowerPriority(this.#cpuTime);
  }

  terminate(): Promise<void> {
    return this.#worker.terminate();
  }
}
