import { tvmErrors } from '#drivers/tvm/errors.js';
import { FairQueue, type Turn } from '#drivers/tvm/fair-queue.js';
import type { TvmModules, TvmSettings } from '#drivers/tvm/options.js';
import type { Lane } from '#drivers/tvm/run-history.js';
import { TvmThread } from '#drivers/tvm/tvm-thread.js';
import type { Job, Reply, WorkerStart } from '#drivers/tvm/worker-protocol.js';
import type { CancelSchedule } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';

/** The order of a run among others, and its limits. */
export interface JobOptions extends Turn {
  readonly lane: Lane;
  /** Milliseconds of elapsed time. */
  readonly timeoutMs: number;
  /** Milliseconds of CPU time. */
  readonly cpuMs: number;
  /** The CPU time that the error about it names. */
  readonly cpuLimitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called once with the CPU milliseconds that a started run took, also when it was stopped, and whether it was slow. */
  readonly onCpuTime?: (cpuMs: number, isSlow: boolean) => void;
}

/** A job that waits or runs. */
interface Run extends Turn {
  readonly job: Job;
  readonly options: JobOptions;
  lane: Lane;
  /** CPU milliseconds of all attempts. */
  spentMs: number;
  isSlow: boolean;
  waitsSince: number;
  cancelWait: CancelSchedule;
  settle: (outcome: { readonly reply: Reply } | { readonly error: TernError }) => void;
}

/** The pause after a thread could not be started, before the next attempt. */
const RESTART_MS = 1_000;
/** One of so many runs is a fresh one, when known ones wait, too. */
const FRESH_TURN = 8;
/** Pause between looks at the CPU time of a run that is near its limit: about a tick of the scheduler. */
const LOOK_MS = 4;
/** Threads for slow runs are stopped when they had nothing to do for this long. */
const IDLE_MS = 30_000;
/** How much longer the first runs of a thread may take before they are slow. */
const COLD_FACTOR = 4;

/**
 * Threads that execute jobs, one each at a time.
 *
 * A multilevel feedback queue: each run starts on a worker; one that turns out to be slow is demoted together with its thread,
 * which gets a lower priority, and another thread takes its place. So slow runs hold up others for no longer than `slowMs`, and
 * never all workers at once. In each lane, clients and contracts take turns. A run that exceeds a limit costs its thread.
 */
export class WorkerPool {
  readonly #settings: TvmSettings;
  readonly #modules: TvmModules;
  #start: Omit<WorkerStart, 'begunAt'> | null = null;
  readonly #idle: TvmThread[] = [];
  readonly #busy = new Map<TvmThread, Run>();
  readonly #spares: TvmThread[] = [];
  /** Each with the end of its rest. */
  readonly #slowIdle = new Map<TvmThread, CancelSchedule>();
  readonly #slowBusy = new Set<TvmThread>();
  readonly #queues: Readonly<Record<Lane, FairQueue<Run>>>;
  readonly #timers = new Set<CancelSchedule>();
  #starting = 0;
  #startingSlow = 0;
  #turn = 0;
  #closed = false;
  /** Threads that are about to start or to end. */
  readonly #moving = new Set<Promise<void>>();
  #replaced = 0;
  #demoted = 0;
  #runs = 0;
  #cpuMs = 0;
  #waitMs = 0;
  #emulatorBytes = 0;

  constructor(settings: TvmSettings, modules: TvmModules) {
    this.#settings = settings;
    this.#modules = modules;
    const { maxWaiting: most, maxWaitingOfClient: mostOfClient, maxWaitingOfContract: mostOfContract } = settings;
    const queue = (): FairQueue<Run> => new FairQueue({ most, mostOfClient, mostOfContract });
    this.#queues = { known: queue(), fresh: queue(), slow: queue() };
  }

  /** Starts all workers and spares; resolves when the first one is ready. @throws tvm/not-started, tvm/closed */
  async start(module: WebAssembly.Module): Promise<void> {
    const { configs, emulatorBytes, maxEmulatorBytes } = this.#settings;
    if (this.#closed) throw tvmErrors.closed({});
    this.#start = { module, configs, emulatorBytes, maxEmulatorBytes };
    await this.#follow(this.#add());
    this.#fill();
  }

  counts() {
    const { known, fresh, slow } = this.#queues;
    return {
      workers: this.#idle.length + this.#busy.size,
      spares: this.#spares.length,
      slow_workers: this.#slowIdle.size + this.#slowBusy.size,
      busy: this.#busy.size + this.#slowBusy.size,
      waiting: known.size + fresh.size + slow.size,
      waiting_slow: slow.size,
      replaced: this.#replaced,
      demoted: this.#demoted,
      runs: this.#runs,
      run_seconds: this.#cpuMs / 1000,
      wait_seconds: this.#waitMs / 1000,
      emulator_bytes: this.#emulatorBytes,
    };
  }

  /**
   * Executes a job when it is its turn. A failure that the emulator reports is a reply.
   *
   * @throws tvm/timeout, tvm/cpu-time, tvm/overloaded, tvm/waited-too-long, tvm/aborted, tvm/closed, tvm/crashed
   */
  run(job: Job, options: JobOptions): Promise<Reply> {
    const { signal, client, contract } = options;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(tvmErrors.closed({}));
      if (signal?.aborted) return reject(tvmErrors.aborted({}, signal.reason));
      const lane = this.#settings.slowWorkers === 0 ? 'known' : options.lane;
      const run: Run = {
        ...{ job, options, lane, client, contract, spentMs: 0, isSlow: false, waitsSince: 0 },
        cancelWait: () => {},
        settle: (outcome) => {
          signal?.removeEventListener('abort', onAbort);
          run.cancelWait();
          if ('reply' in outcome) resolve(outcome.reply);
          else reject(outcome.error);
        },
      };
      const onAbort = (): void => {
        this.#queues[run.lane].remove(run);
        run.settle({ error: tvmErrors.aborted({}, signal?.reason) });
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#enqueue(run);
    });
  }

  /** Stops all threads; what runs or waits fails with tvm/closed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#timers) cancel();
    for (const queue of Object.values(this.#queues)) {
      for (const run of queue.clear()) run.settle({ error: tvmErrors.closed({}) });
    }
    const threads = [...this.#idle, ...this.#busy.keys(), ...this.#spares];
    threads.push(...this.#slowIdle.keys(), ...this.#slowBusy);
    for (const list of [this.#idle, this.#spares]) list.length = 0;
    this.#slowIdle.clear();
    this.#busy.clear();
    this.#slowBusy.clear();
    for (const thread of threads) this.#stop(thread);
    while (this.#moving.size > 0) await Promise.allSettled(this.#moving);
  }

  #enqueue(run: Run): void {
    const { clock } = this.#modules;
    const { queueTimeoutMs, slowQueueTimeoutMs } = this.#settings;
    const afterMs = run.lane === 'slow' ? Math.min(slowQueueTimeoutMs, queueTimeoutMs) : queueTimeoutMs;
    run.waitsSince = clock.now();
    const queue = this.#queues[run.lane];
    const isFirst = queue.size === 0 && this.#takeThread(run);
    if (isFirst) return;
    const refused = queue.add(run);
    if (refused !== null) {
      refused.settle({ error: tvmErrors.overloaded({ waiting: queue.size, ofClient: refused === run }) });
    }
    if (refused !== run) {
      run.cancelWait = this.#schedule(afterMs, () => {
        queue.remove(run);
        run.settle({ error: tvmErrors['waited-too-long']({ afterMs }) });
      });
    }
    this.#dispatch();
  }

  /** Starts a run that need not wait. */
  #takeThread(run: Run): boolean {
    const thread = run.lane === 'slow' ? this.#idleSlow() : this.#canStart(run.lane) ? this.#idle.pop() : undefined;
    if (thread === undefined) return false;
    this.#execute(thread, run);
    return true;
  }

  /** Starts what waits on threads that are idle. */
  #dispatch(): void {
    const { known, fresh, slow } = this.#queues;
    while (this.#idle.length > 0) {
      const canFresh = fresh.size > 0 && this.#canStart('fresh');
      const isFresh = canFresh && (known.size === 0 || ++this.#turn % FRESH_TURN === 0);
      const run = (isFresh ? fresh : known).take();
      if (run === undefined) break;
      this.#execute(this.#idle.pop()!, run);
    }
    while (slow.size > 0) {
      const thread = this.#idleSlow();
      if (thread === undefined) break;
      this.#execute(thread, slow.take()!);
    }
  }

  /** Fresh runs, which may turn out to be slow and to cost their worker, leave one to the others. */
  #canStart(lane: Lane): boolean {
    if (this.#idle.length === 0) return false;
    if (lane !== 'fresh') return true;
    let running = 0;
    for (const run of this.#busy.values()) if (run.lane === 'fresh') running++;
    // Workers that are being replaced do not count.
    const others = this.#idle.length + this.#busy.size - running;
    return others >= Math.min(2, this.#settings.workers);
  }

  /** A thread for a slow run; starts one when there may be more. */
  #idleSlow(): TvmThread | undefined {
    const { slowWorkers } = this.#settings;
    if (this.#slowBusy.size >= slowWorkers) return undefined;
    const thread = this.#takeIdleSlow();
    if (thread === undefined && this.#slowBusy.size + this.#startingSlow < slowWorkers) this.#addSlow();
    return thread;
  }

  #takeIdleSlow(): TvmThread | undefined {
    const [first] = this.#slowIdle;
    if (first === undefined) return undefined;
    const [thread, cancelRest] = first;
    cancelRest();
    this.#slowIdle.delete(thread);
    return thread;
  }

  #execute(thread: TvmThread, run: Run): void {
    const { clock } = this.#modules;
    const { job, options } = run;
    run.cancelWait();
    if (run.lane === 'slow') this.#slowBusy.add(thread);
    else this.#busy.set(thread, run);
    const { slowMs, slowWorkers } = this.#settings;
    const running = thread.run(job);
    const quickMs = thread.isCold ? slowMs * COLD_FACTOR : slowMs;
    const began = clock.now();
    this.#waitMs += began - run.waitsSince;
    this.#runs++;
    const elapsed = (): number => clock.now() - began;
    const used = (): number => thread.cpuMs() ?? elapsed();
    let isOver = false;
    let cancel: CancelSchedule = () => {};
    const end = (cpuMs: number): void => {
      isOver = true;
      cancel();
      run.spentMs += cpuMs;
      run.isSlow ||= cpuMs >= quickMs;
      this.#cpuMs += cpuMs;
    };
    const stop = (cpuMs: number, error: TernError): void => {
      end(cpuMs);
      this.#replace(thread);
      options.onCpuTime?.(run.spentMs, run.isSlow);
      run.settle({ error });
    };
    let isSlow = run.lane === 'slow' || slowWorkers === 0;
    const look = (): void => {
      const cpuMs = used();
      if (cpuMs >= options.cpuMs) {
        stop(cpuMs, tvmErrors['cpu-time']({ limitMs: options.cpuLimitMs }));
        return;
      }
      if (elapsed() >= options.timeoutMs) {
        stop(cpuMs, tvmErrors.timeout({ afterMs: options.timeoutMs }));
        return;
      }
      if (!isSlow && cpuMs >= quickMs) {
        isSlow = true;
        this.#demoted++;
        if (!this.#demote(thread)) {
          // No place for it now: it is executed anew when it is its turn.
          end(cpuMs);
          this.#replace(thread);
          run.lane = 'slow';
          this.#enqueue(run);
          return;
        }
      }
      watch(cpuMs);
    };
    const watch = (cpuMs: number): void => {
      const leftMs = (isSlow ? options.cpuMs : Math.min(quickMs, options.cpuMs)) - cpuMs;
      const delayMs = Math.max(Math.min(leftMs, options.timeoutMs - elapsed()), LOOK_MS);
      cancel = this.#schedule(delayMs, look);
    };
    watch(0);
    running.then(
      ({ reply, memoryBytes, cpuMs }) => {
        if (isOver) return;
        end(cpuMs);
        this.#emulatorBytes = Math.max(this.#emulatorBytes, memoryBytes);
        options.onCpuTime?.(run.spentMs, run.isSlow);
        run.settle({ reply });
        this.#release(thread);
      },
      (error) => {
        if (isOver) return;
        end(elapsed());
        options.onCpuTime?.(run.spentMs, run.isSlow);
        run.settle({ error: this.#closed ? tvmErrors.closed({}) : error });
      },
    );
  }

  /** Makes a busy worker a thread for slow runs; false: there are enough of them. */
  #demote(thread: TvmThread): boolean {
    if (this.#slowBusy.size >= this.#settings.slowWorkers) return false;
    thread.lowerPriority();
    this.#busy.delete(thread);
    this.#slowBusy.add(thread);
    const surplus = this.#takeIdleSlow();
    if (surplus !== undefined) this.#stop(surplus);
    this.#fill();
    return true;
  }

  #release(thread: TvmThread): void {
    const isSlow = this.#slowBusy.delete(thread);
    this.#busy.delete(thread);
    if (this.#closed) return;
    if (isSlow) this.#rest(thread);
    else this.#idle.push(thread);
    this.#dispatch();
  }

  /** Keeps a thread for slow runs for a while. */
  #rest(thread: TvmThread): void {
    if (this.#slowIdle.size + this.#slowBusy.size >= this.#settings.slowWorkers) {
      this.#stop(thread);
      return;
    }
    const cancelRest = this.#schedule(IDLE_MS, () => {
      this.#slowIdle.delete(thread);
      this.#stop(thread);
    });
    this.#slowIdle.set(thread, cancelRest);
  }

  #replace(thread: TvmThread): void {
    this.#forget(thread);
    this.#stop(thread);
  }

  /** Replaces a thread that is gone. */
  #forget(thread: TvmThread): void {
    this.#slowIdle.get(thread)?.();
    const wasSlow = this.#slowBusy.delete(thread) || this.#slowIdle.delete(thread);
    if (!wasSlow && !this.#busy.delete(thread) && !removeFrom(this.#idle, thread)) removeFrom(this.#spares, thread);
    if (this.#closed) return;
    this.#replaced++;
    this.#modules.logger?.warn('a worker of the emulator is replaced');
    this.#fill();
    this.#dispatch();
  }

  #stop(thread: TvmThread): void {
    void this.#follow(thread.terminate());
  }

  /** Closing waits for it. */
  #follow(moving: Promise<void>): Promise<void> {
    this.#moving.add(moving);
    const forget = (): void => void this.#moving.delete(moving);
    moving.then(forget, forget);
    return moving;
  }

  /** Puts spares in the place of missing workers, and starts what is missing then. */
  #fill(): void {
    if (this.#closed) return;
    const { workers, spares } = this.#settings;
    const isMissing = (): boolean => this.#idle.length + this.#busy.size < workers;
    let isAdded = false;
    for (let spare = isMissing() ? this.#spares.pop() : undefined; spare !== undefined; ) {
      this.#idle.push(spare);
      isAdded = true;
      spare = isMissing() ? this.#spares.pop() : undefined;
    }
    if (isAdded) this.#dispatch();
    const all = this.#idle.length + this.#busy.size + this.#spares.length + this.#starting;
    for (let missing = workers + spares - all; missing > 0; missing--) void this.#restart();
  }

  async #restart(): Promise<void> {
    try {
      await this.#follow(this.#add());
    } catch (error) {
      if (this.#closed) return;
      this.#modules.logger?.warn('a worker of the emulator does not start', { problem: (error as Error).message });
      this.#schedule(RESTART_MS, () => this.#fill());
    }
  }

  /** Starts a thread: a worker as long as there are not enough, else a spare. */
  async #add(): Promise<void> {
    this.#starting++;
    let thread: TvmThread;
    try {
      thread = await this.#startThread();
    } finally {
      this.#starting--;
    }
    if (this.#closed) this.#stop(thread);
    else if (this.#idle.length + this.#busy.size < this.#settings.workers) this.#release(thread);
    else this.#spares.push(thread);
  }

  #addSlow(): void {
    this.#startingSlow++;
    const added = this.#startThread().then(
      (thread) => {
        this.#startingSlow--;
        thread.lowerPriority();
        if (this.#closed) return this.#stop(thread);
        this.#rest(thread);
        this.#dispatch();
      },
      (error) => {
        this.#startingSlow--;
        if (this.#closed) return;
        this.#modules.logger?.warn('a worker of the emulator does not start', { problem: (error as Error).message });
        this.#schedule(RESTART_MS, () => this.#dispatch());
      },
    );
    void this.#follow(added);
  }

  async #startThread(): Promise<TvmThread> {
    const thread = new TvmThread(this.#start!);
    await thread.start();
    thread.ended.catch(() => this.#forget(thread));
    return thread;
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

function removeFrom<T>(list: T[], member: T): boolean {
  const at = list.indexOf(member);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
