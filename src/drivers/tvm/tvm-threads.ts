import { tvmErrors } from '#drivers/tvm/errors.js';
import type { TvmModules, TvmSettings } from '#drivers/tvm/options.js';
import { TvmThread } from '#drivers/tvm/tvm-thread.js';
import type { WorkerStart } from '#drivers/tvm/worker-protocol.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { LinkedList } from '#kernel/linked-list.js';

/** The pause after a thread could not be started, before the next attempt. */
const RESTART_MS = 1_000;
/** Threads for slow runs are stopped when they had nothing to do for this long. */
const IDLE_MS = 30_000;
/** Pause between looks at a thread that is to give up its job. */
const LOOK_MS = 4;
/** CPU time that a thread may take to give up its job, with compiling what it is in: code that does not hear it costs its thread. */
const GIVE_UP_CPU_MS = 100;
/** The same in elapsed time, for a thread that gets no processor, with the time of a fresh emulator. */
const GIVE_UP_MS = 2_000;

/** Calls that all can be cancelled at once. */
export class Timers {
  readonly #clock: Clock;
  readonly #pending = new LinkedList<CancelSchedule>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  schedule(delayMs: number, run: () => void): CancelSchedule {
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#pending.remove(place);
      run();
    });
    const cancelOnce = (): void => {
      this.#pending.remove(place);
      cancel();
    };
    const place = this.#pending.add(cancelOnce);
    return cancelOnce;
  }

  cancel(): void {
    for (const cancel of this.#pending) cancel();
  }
}

/**
 * The threads of a pool: workers, spares that take the place of lost ones, and threads of low priority for slow runs, which are
 * started when they are needed. A thread keeps its priority for good: raising it again is a privilege.
 */
export class TvmThreads {
  readonly #settings: TvmSettings;
  readonly #modules: TvmModules;
  readonly #onFree: () => void;
  readonly #timers: Timers;
  #start: Omit<WorkerStart, 'begunAt' | 'order'> | null = null;
  readonly #idle: TvmThread[] = [];
  readonly #busy = new Set<TvmThread>();
  readonly #spares: TvmThread[] = [];
  /** Each with the end of its rest. */
  readonly #slowIdle = new Map<TvmThread, CancelSchedule>();
  readonly #slowBusy = new Set<TvmThread>();
  #starting = 0;
  #startingSlow = 0;
  #closed = false;
  /** Threads that are about to start or to end. */
  readonly #moving = new Set<Promise<void>>();
  #replaced = 0;
  #interrupted = 0;

  /** @param onFree called when a thread may have become free */
  constructor(settings: TvmSettings, modules: TvmModules, onFree: () => void) {
    this.#settings = settings;
    this.#modules = modules;
    this.#onFree = onFree;
    this.#timers = new Timers(modules.clock);
  }

  /** Starts all workers and spares; resolves when the first one is ready. @throws tvm/not-started, tvm/closed */
  async start(module: WebAssembly.Module): Promise<void> {
    const { nice, configs, emulatorBytes, maxEmulatorBytes } = this.#settings;
    if (this.#closed) throw tvmErrors.closed({});
    this.#start = { module, nice, configs, emulatorBytes, maxEmulatorBytes };
    await this.#follow(this.#add());
    this.#fill();
  }

  counts() {
    return {
      workers: this.idle + this.busy,
      spares: this.#spares.length,
      slow_workers: this.#slowIdle.size + this.#slowBusy.size,
      busy: this.#busy.size + this.#slowBusy.size,
      replaced: this.#replaced,
      interrupted: this.#interrupted,
    };
  }

  /** Workers that are free. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Workers that are not. Those that are being replaced do not count. */
  get busy(): number {
    return this.#busy.size;
  }

  /** A free worker. */
  take(): TvmThread | undefined {
    const thread = this.#idle.pop();
    if (thread !== undefined) this.#busy.add(thread);
    return thread;
  }

  /** A free thread for a slow run; starts one when there may be more. */
  takeSlow(): TvmThread | undefined {
    const [first] = this.#slowIdle;
    if (first === undefined) {
      if (this.#slowBusy.size + this.#startingSlow < this.#settings.slowWorkers) this.#addSlow();
      return undefined;
    }
    const [thread, cancelRest] = first;
    cancelRest();
    this.#slowIdle.delete(thread);
    this.#slowBusy.add(thread);
    return thread;
  }

  /** A thread has done its job. */
  release(thread: TvmThread): void {
    if (this.#closed) return;
    if (this.#slowBusy.delete(thread)) this.#rest(thread);
    else if (this.#busy.delete(thread)) this.#idle.push(thread);
    this.#onFree();
  }

  /**
   * Ends the job of a thread, which is free again when it has given it up. A thread that does not is replaced.
   *
   * @param running settles when the job has ended
   */
  interrupt(thread: TvmThread, running: Promise<unknown>): void {
    const { clock } = this.#modules;
    const began = clock.now();
    const cpuAtBegin = thread.cpuMs();
    thread.interrupt();
    const look = (): void => {
      const elapsedMs = clock.now() - began;
      const cpuMs = (thread.cpuMs() ?? elapsedMs) - (cpuAtBegin ?? 0);
      const isDeaf = !thread.hasGivenUp && cpuMs >= GIVE_UP_CPU_MS;
      if (isDeaf || elapsedMs >= GIVE_UP_MS) this.#replace(thread);
      else cancel = this.#timers.schedule(LOOK_MS, look);
    };
    let cancel = this.#timers.schedule(LOOK_MS, look);
    running.then(
      () => {
        cancel();
        if (thread.hasGivenUp) this.#interrupted++;
        this.release(thread);
      },
      () => cancel(),
    );
  }

  /** Stops all threads. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timers.cancel();
    const threads = [...this.#idle, ...this.#busy, ...this.#spares, ...this.#slowIdle.keys(), ...this.#slowBusy];
    for (const list of [this.#idle, this.#spares]) list.length = 0;
    for (const each of [this.#busy, this.#slowIdle, this.#slowBusy]) each.clear();
    for (const thread of threads) this.#stop(thread);
    while (this.#moving.size > 0) await Promise.allSettled(this.#moving);
  }

  /** Keeps a thread for slow runs for a while. */
  #rest(thread: TvmThread): void {
    const cancelRest = this.#timers.schedule(IDLE_MS, () => {
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
    const isKnown =
      wasSlow || this.#busy.delete(thread) || removeFrom(this.#idle, thread) || removeFrom(this.#spares, thread);
    if (this.#closed || !isKnown) return;
    this.#replaced++;
    this.#modules.logger?.warn('a worker of the emulator is replaced');
    this.#fill();
    this.#onFree();
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
    let isAdded = false;
    while (this.idle + this.busy < workers) {
      const spare = this.#spares.pop();
      if (spare === undefined) break;
      this.#idle.push(spare);
      isAdded = true;
    }
    if (isAdded) this.#onFree();
    const all = this.idle + this.busy + this.#spares.length + this.#starting;
    for (let missing = workers + spares - all; missing > 0; missing--) void this.#restart();
  }

  async #restart(): Promise<void> {
    try {
      await this.#follow(this.#add());
    } catch (error) {
      if (this.#closed) return;
      this.#warn(error);
      this.#timers.schedule(RESTART_MS, () => this.#fill());
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
    else if (this.idle + this.busy < this.#settings.workers) {
      this.#idle.push(thread);
      this.#onFree();
    } else this.#spares.push(thread);
  }

  #addSlow(): void {
    this.#startingSlow++;
    const added = this.#startThread().then(
      (thread) => {
        this.#startingSlow--;
        thread.lowerPriority();
        if (this.#closed) return this.#stop(thread);
        this.#rest(thread);
        this.#onFree();
      },
      (error) => {
        this.#startingSlow--;
        if (this.#closed) return;
        this.#warn(error);
        this.#timers.schedule(RESTART_MS, this.#onFree);
      },
    );
    void this.#follow(added);
  }

  #warn(error: unknown): void {
    this.#modules.logger?.warn('a worker of the emulator does not start', { problem: (error as Error).message });
  }

  async #startThread(): Promise<TvmThread> {
    const thread = new TvmThread(this.#start!);
    await thread.start();
    thread.ended.catch(() => this.#forget(thread));
    return thread;
  }
}

function removeFrom<T>(list: T[], member: T): boolean {
  const at = list.indexOf(member);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
