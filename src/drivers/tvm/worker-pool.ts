import { tvmErrors } from '#drivers/tvm/errors.js';
import { FairQueue, type Turn } from '#drivers/tvm/fair-queue.js';
import { LeakyBucket } from '#drivers/tvm/leaky-bucket.js';
import type { TvmModules, TvmSettings } from '#drivers/tvm/options.js';
import type { Lane } from '#drivers/tvm/run-history.js';
import type { TvmThread } from '#drivers/tvm/tvm-thread.js';
import { Timers, TvmThreads } from '#drivers/tvm/tvm-threads.js';
import type { Job, Reply } from '#drivers/tvm/worker-protocol.js';
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
  /** Called when it turns out to be slow, before it is executed anew. */
  readonly onDemoted?: () => void;
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
  /** Ends it while it runs. */
  stop: ((error: TernError) => void) | null;
  settle: (outcome: { readonly reply: Reply } | { readonly error: TernError }) => void;
}

/** One of so many runs is a fresh one, when known ones wait, too. */
const FRESH_TURN = 8;
/** Pause between looks at the CPU time of a run that is near its limit: about a tick of the scheduler. */
const LOOK_MS = 4;
/** How much longer the first runs of a thread may take before they are slow. */
const COLD_FACTOR = 4;
/**
 * CPU time that runs may take from the workers until they turn out to be slow, at once in milliseconds and per second. When it is
 * used up, methods of which nothing is known are tried on threads of low priority.
 */
const TRIALS = { mostMs: 500, msPerSecond: 50 } as const;

/**
 * Executes jobs on threads, one each at a time.
 *
 * A multilevel feedback queue: each run starts on a worker; one that turns out to be slow is given up and executed anew on a thread
 * of low priority. So slow runs hold up others for no longer than `slowMs`, and never all workers at once. In each lane, clients
 * and contracts take turns.
 */
export class WorkerPool {
  readonly #settings: TvmSettings;
  readonly #modules: TvmModules;
  readonly #threads: TvmThreads;
  readonly #queues: Readonly<Record<Lane, FairQueue<Run>>>;
  readonly #timers: Timers;
  readonly #trials: LeakyBucket;
  /** Workers with a fresh run. */
  #trying = 0;
  #turn = 0;
  #closed = false;
  #demoted = 0;
  #runs = 0;
  #cpuMs = 0;
  #slowCpuMs = 0;
  #waitMs = 0;
  #emulatorBytes = 0;

  constructor(settings: TvmSettings, modules: TvmModules) {
    this.#settings = settings;
    this.#modules = modules;
    this.#timers = new Timers(modules.clock);
    this.#threads = new TvmThreads(settings, modules, () => this.#dispatch());
    this.#trials = new LeakyBucket(TRIALS.msPerSecond, modules.clock);
    const { maxWaiting: most, maxWaitingOfClient: mostOfClient, maxWaitingOfContract: mostOfContract } = settings;
    const queue = (): FairQueue<Run> => new FairQueue({ most, mostOfClient, mostOfContract });
    this.#queues = { known: queue(), fresh: queue(), slow: queue() };
  }

  /** Starts all workers and spares; resolves when the first one is ready. @throws tvm/not-started, tvm/closed */
  start(module: WebAssembly.Module): Promise<void> {
    return this.#threads.start(module);
  }

  counts() {
    const { known, fresh, slow } = this.#queues;
    return {
      ...this.#threads.counts(),
      waiting: known.size + fresh.size + slow.size,
      waiting_slow: slow.size,
      demoted: this.#demoted,
      runs: this.#runs,
      run_seconds: this.#cpuMs / 1000,
      slow_run_seconds: this.#slowCpuMs / 1000,
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
        job,
        options,
        lane,
        client,
        contract,
        spentMs: 0,
        isSlow: false,
        waitsSince: 0,
        cancelWait: () => {},
        stop: null,
        settle: (outcome) => {
          signal?.removeEventListener('abort', onAbort);
          run.cancelWait();
          if ('reply' in outcome) resolve(outcome.reply);
          else reject(outcome.error);
        },
      };
      const onAbort = (): void => {
        const error = tvmErrors.aborted({}, signal?.reason);
        this.#queues[run.lane].remove(run);
        if (run.stop === null) run.settle({ error });
        else run.stop(error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#enqueue(run);
    });
  }

  /** Stops all threads; what runs or waits fails with tvm/closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timers.cancel();
    for (const queue of Object.values(this.#queues)) {
      for (const run of queue.clear()) run.settle({ error: tvmErrors.closed({}) });
    }
    await this.#threads.close();
  }

  #enqueue(run: Run): void {
    const { clock } = this.#modules;
    const { queueTimeoutMs, slowQueueTimeoutMs } = this.#settings;
    const afterMs = run.lane === 'slow' ? Math.min(slowQueueTimeoutMs, queueTimeoutMs) : queueTimeoutMs;
    run.waitsSince = clock.now();
    const queue = this.#queues[run.lane];
    if (queue.size === 0 && this.#startNow(run)) return;
    const refused = queue.add(run);
    if (refused !== null) {
      refused.settle({ error: tvmErrors.overloaded({ waiting: queue.size, ofClient: refused === run }) });
    }
    if (refused === run) return;
    run.cancelWait = this.#timers.schedule(afterMs, () => {
      queue.remove(run);
      run.settle({ error: tvmErrors['waited-too-long']({ afterMs }) });
    });
    this.#dispatch();
  }

  /** Starts a run that need not wait. */
  #startNow(run: Run): boolean {
    const { lane } = run;
    const isSlow = lane === 'slow' || (lane === 'fresh' && !this.#mayTry());
    const mayTake = isSlow || lane === 'known' || this.#canTry();
    const thread = !mayTake ? undefined : isSlow ? this.#threads.takeSlow() : this.#threads.take();
    if (thread === undefined) return false;
    this.#execute(thread, run, !isSlow);
    return true;
  }

  /** Starts what waits on threads that are free. */
  #dispatch(): void {
    if (this.#closed) return;
    const { known, fresh, slow } = this.#queues;
    while (this.#threads.idle > 0) {
      const canFresh = fresh.size > 0 && this.#canTry();
      const isFresh = canFresh && (known.size === 0 || ++this.#turn % FRESH_TURN === 0);
      const run = (isFresh ? fresh : known).take();
      if (run === undefined) break;
      this.#execute(this.#threads.take()!, run, true);
    }
    for (;;) {
      // Trials go first: they are short, and it is not known yet that they are of the same kind.
      const queue = fresh.size > 0 && !this.#mayTry() ? fresh : slow;
      if (queue.size === 0) break;
      const thread = this.#threads.takeSlow();
      if (thread === undefined) break;
      this.#execute(thread, queue.take()!, false);
    }
  }

  /** Whether trials have not taken too much from the workers of late. */
  #mayTry(): boolean {
    return this.#trials.level < TRIALS.mostMs;
  }

  /** Fresh runs, which may turn out to be slow and to cost their worker, leave one to the others. */
  #canTry(): boolean {
    const { idle, busy } = this.#threads;
    return this.#mayTry() && idle + busy - this.#trying >= Math.min(2, this.#settings.workers);
  }

  /** @param isWorker not a thread of low priority */
  #execute(thread: TvmThread, run: Run, isWorker: boolean): void {
    const { clock } = this.#modules;
    const { job, options, lane } = run;
    run.cancelWait();
    const isTrial = isWorker && lane === 'fresh';
    if (isTrial) this.#trying++;
    const { slowMs, slowWorkers } = this.#settings;
    const running = thread.run(job);
    const quickMs = thread.isCold ? slowMs * COLD_FACTOR : slowMs;
    const began = clock.now();
    this.#waitMs += began - run.waitsSince;
    this.#runs++;
    const elapsed = (): number => clock.now() - began;
    const used = (): number => thread.cpuMs() ?? elapsed();
    const mustBeQuick = lane !== 'slow' && slowWorkers > 0;
    let isOver = false;
    let cancel: CancelSchedule = () => {};
    const end = (cpuMs: number): void => {
      isOver = true;
      run.stop = null;
      cancel();
      if (isTrial) this.#trying--;
      run.spentMs += cpuMs;
      run.isSlow ||= cpuMs >= quickMs;
      this.#cpuMs += cpuMs;
      if (!isWorker) this.#slowCpuMs += cpuMs;
      else if (run.isSlow && mustBeQuick) this.#trials.add(cpuMs);
    };
    const stop = (error: TernError, cpuMs = used()): void => {
      end(cpuMs);
      this.#threads.interrupt(thread, running);
      options.onCpuTime?.(run.spentMs, run.isSlow);
      run.settle({ error });
    };
    run.stop = stop;
    const look = (): void => {
      const cpuMs = used();
      if (cpuMs >= options.cpuMs) {
        stop(tvmErrors['cpu-time']({ limitMs: options.cpuLimitMs }), cpuMs);
      } else if (elapsed() >= options.timeoutMs) {
        stop(tvmErrors.timeout({ afterMs: options.timeoutMs }), cpuMs);
      } else if (mustBeQuick && cpuMs >= quickMs) {
        this.#demoted++;
        options.onDemoted?.();
        end(cpuMs);
        this.#threads.interrupt(thread, running);
        run.lane = 'slow';
        this.#enqueue(run);
      } else watch(cpuMs);
    };
    const watch = (cpuMs: number): void => {
      const leftMs = (mustBeQuick ? Math.min(quickMs, options.cpuMs) : options.cpuMs) - cpuMs;
      const delayMs = Math.max(Math.min(leftMs, options.timeoutMs - elapsed()), LOOK_MS);
      cancel = this.#timers.schedule(delayMs, look);
    };
    watch(0);
    running.then(
      ({ reply, memoryBytes, cpuMs }) => {
        if (isOver) return;
        end(cpuMs);
        this.#emulatorBytes = Math.max(this.#emulatorBytes, memoryBytes);
        options.onCpuTime?.(run.spentMs, run.isSlow);
        run.settle({ reply });
        this.#threads.release(thread);
      },
      (error) => {
        if (isOver) return;
        end(elapsed());
        options.onCpuTime?.(run.spentMs, run.isSlow);
        run.settle({ error: this.#closed ? tvmErrors.closed({}) : error });
      },
    );
  }
}
