import { tvmErrors } from '#drivers/tvm/errors.js';
import type { TvmModules, TvmSettings } from '#drivers/tvm/options.js';
import type { Job, Reply, TvmWorkerContract, WorkerStart } from '#drivers/tvm/worker-protocol.js';
import type { CancelSchedule } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';
import { WorkerThread } from '#kernel/worker-thread.js';

/** How long and how far a run may go. */
export interface RunOptions {
  /** Calls it off: a run that waits is taken out, of one under way the result is dropped. */
  readonly signal?: AbortSignal;
  /** Milliseconds; instead of `timeoutMs` of the pool. */
  readonly timeoutMs?: number;
}

type TvmWorker = WorkerThread<TvmWorkerContract>;

interface Waiting {
  readonly take: (thread: TvmWorker) => void;
  readonly refuse: (error: TernError) => void;
}

/** The pause after a thread could not be started, before the next attempt. */
const RESTART_MS = 1_000;

/** Threads that run jobs, one each at a time; a job that takes too long costs its thread, which another one replaces. */
export class WorkerPool {
  readonly #settings: TvmSettings;
  readonly #modules: TvmModules;
  #start: WorkerStart | null = null;
  readonly #idle: TvmWorker[] = [];
  readonly #busy = new Set<TvmWorker>();
  readonly #spares: TvmWorker[] = [];
  readonly #waiting = new Set<Waiting>();
  readonly #timers = new Set<CancelSchedule>();
  #closed = false;
  /** Threads that are about to start or to end. */
  readonly #moving = new Set<Promise<void>>();
  #replaced = 0;
  #runs = 0;
  #runSeconds = 0;
  #waitSeconds = 0;
  #emulatorBytes = 0;

  constructor(settings: TvmSettings, modules: TvmModules) {
    this.#settings = settings;
    this.#modules = modules;
  }

  /** Starts all workers and spares; resolves when the first one is ready. @throws tvm/not-started, tvm/closed */
  async start(module: WebAssembly.Module): Promise<void> {
    const { workers, spares, configs, emulatorBytes } = this.#settings;
    if (this.#closed) throw tvmErrors.closed({});
    this.#start = { module, configs, emulatorBytes };
    await this.#follow(this.#add());
    for (let more = workers + spares - 1; more > 0; more--) void this.#restart();
  }

  counts() {
    return {
      workers: this.#idle.length + this.#busy.size,
      spares: this.#spares.length,
      busy: this.#busy.size,
      waiting: this.#waiting.size,
      replaced: this.#replaced,
      runs: this.#runs,
      run_seconds: this.#runSeconds,
      wait_seconds: this.#waitSeconds,
      emulator_bytes: this.#emulatorBytes,
    };
  }

  /**
   * Runs a job when a worker is free. A failure that the emulator reports is a reply.
   *
   * @throws tvm/timeout, tvm/overloaded, tvm/waited-too-long, tvm/aborted, tvm/closed, tvm/crashed
   */
  async run(job: Job, options: RunOptions): Promise<Reply> {
    const { clock } = this.#modules;
    const { signal } = options;
    const asked = clock.now();
    const thread = await this.#acquire(signal);
    const began = clock.now();
    this.#waitSeconds += (began - asked) / 1000;
    this.#runs++;
    const afterMs = options.timeoutMs ?? this.#settings.timeoutMs;
    return new Promise<Reply>((resolve, reject) => {
      const onAbort = (): void => settle(() => reject(tvmErrors.aborted({}, signal?.reason)));
      const cancel = this.#schedule(afterMs, () => {
        this.#replace(thread);
        settle(() => reject(tvmErrors.timeout({ afterMs })));
      });
      const settle = (result: () => void): void => {
        signal?.removeEventListener('abort', onAbort);
        result();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      thread.call.run(job).then(
        ({ reply, memoryBytes }) => {
          cancel();
          this.#runSeconds += (clock.now() - began) / 1000;
          this.#emulatorBytes = Math.max(this.#emulatorBytes, memoryBytes);
          this.#release(thread);
          settle(() => resolve(reply));
        },
        (error) => {
          cancel();
          settle(() => reject(this.#closed ? tvmErrors.closed({}) : error));
        },
      );
    });
  }

  /** Stops all threads; what runs or waits fails with tvm/closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#timers) cancel();
    for (const { refuse } of [...this.#waiting]) refuse(tvmErrors.closed({}));
    const threads = [...this.#idle, ...this.#busy, ...this.#spares];
    this.#idle.length = 0;
    this.#busy.clear();
    this.#spares.length = 0;
    for (const thread of threads) this.#stop(thread);
    while (this.#moving.size > 0) await Promise.allSettled(this.#moving);
  }

  #acquire(signal: AbortSignal | undefined): Promise<TvmWorker> {
    const { workers, maxWaiting, queueTimeoutMs } = this.#settings;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(tvmErrors.closed({}));
      if (signal?.aborted) return reject(tvmErrors.aborted({}, signal.reason));
      const thread = this.#idle.pop();
      if (thread !== undefined) {
        this.#busy.add(thread);
        return resolve(thread);
      }
      const waiting = this.#waiting.size;
      if (waiting >= maxWaiting) return reject(tvmErrors.overloaded({ workers, waiting }));
      const leave = (): void => {
        this.#waiting.delete(entry);
        cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const entry: Waiting = {
        take: (free) => {
          leave();
          resolve(free);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = (): void => entry.refuse(tvmErrors.aborted({}, signal?.reason));
      signal?.addEventListener('abort', onAbort, { once: true });
      const cancel = this.#schedule(queueTimeoutMs, () =>
        entry.refuse(tvmErrors['waited-too-long']({ afterMs: queueTimeoutMs })),
      );
      this.#waiting.add(entry);
    });
  }

  /** Gives a thread that is free to who waits longest. */
  #release(thread: TvmWorker): void {
    this.#busy.delete(thread);
    if (this.#closed) return;
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#idle.push(thread);
      return;
    }
    this.#busy.add(thread);
    next.take(thread);
  }

  #replace(thread: TvmWorker): void {
    this.#forget(thread);
    this.#stop(thread);
  }

  /** Puts a spare, when there is one, in the place of a thread that is gone, and starts a new one. */
  #forget(thread: TvmWorker): void {
    const wasSpare = removeFrom(this.#spares, thread);
    if (!wasSpare && !this.#busy.delete(thread)) removeFrom(this.#idle, thread);
    if (this.#closed) return;
    this.#replaced++;
    this.#modules.logger?.warn('a worker of the emulator is replaced');
    const spare = wasSpare ? undefined : this.#spares.pop();
    if (spare !== undefined) this.#release(spare);
    void this.#restart();
  }

  #stop(thread: TvmWorker): void {
    void this.#follow(thread.terminate());
  }

  /** Closing waits for it. */
  #follow(moving: Promise<void>): Promise<void> {
    this.#moving.add(moving);
    const forget = (): void => void this.#moving.delete(moving);
    moving.then(forget, forget);
    return moving;
  }

  /** Starts a thread: a worker as long as there are not enough, else a spare. */
  async #add(): Promise<void> {
    const thread = startWorker(this.#start as WorkerStart);
    await thread.ready;
    thread.ended.catch(() => this.#forget(thread));
    if (this.#closed) this.#stop(thread);
    else if (this.#idle.length + this.#busy.size < this.#settings.workers) this.#release(thread);
    else this.#spares.push(thread);
  }

  async #restart(): Promise<void> {
    try {
      await this.#follow(this.#add());
    } catch (error) {
      if (this.#closed) return;
      this.#modules.logger?.warn('a worker of the emulator does not start', { problem: (error as Error).message });
      this.#schedule(RESTART_MS, () => void this.#restart());
    }
  }

  #schedule(delayMs: number, run: () => void): CancelSchedule {
    const cancel = this.#modules.clock.schedule(delayMs, () => {
      this.#timers.delete(cancelOnce);
      run();
    });
    const cancelOnce = (): void => {
      this.#timers.delete(cancelOnce);
      cancel();
    };
    this.#timers.add(cancelOnce);
    return cancelOnce;
  }
}

/** The emulator recurses over stacks, tuples and cells. */
const STACK_MIB = 32;

function startWorker(start: WorkerStart): TvmWorker {
  const worker: TvmWorker = new WorkerThread<TvmWorkerContract>({
    entry: new URL('./tvm-worker.js', import.meta.url),
    start,
    host: {},
    lost: (problem) => tvmErrors[worker.isReady ? 'crashed' : 'not-started']({ problem }),
    closed: () => tvmErrors.closed({}),
    unexpected: (problem, cause) => tvmErrors.crashed({ problem }, cause),
    resourceLimits: { stackSizeMb: STACK_MIB },
    silent: true,
  });
  return worker;
}

function removeFrom<T>(list: T[], member: T): boolean {
  const at = list.indexOf(member);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
