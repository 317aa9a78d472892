import process from 'node:process';
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads';
import type { Logger } from '#kernel/logger.js';
import { TernError } from '#kernel/tern-error.js';
import { Channel, type Notify, type Remote, type UnexpectedError, type ValueCodec } from '#kernel/worker-channel.js';
import type { FromWorker, LogMethods, ToWorker, WorkerContract, WorkerData } from '#kernel/worker-side.js';

export interface WorkerThreadOptions<Contract extends WorkerContract> {
  /** The module that the thread runs, which makes a `WorkerSide`: `new URL('./name.js', import.meta.url)`, also from sources. */
  readonly entry: URL;
  /** Cloned, and given to the thread as `WorkerSide.start`. */
  readonly start: Contract['start'];
  /** What the thread may call here. */
  readonly host: Contract['host'];
  /** The error of all calls when the thread has ended by itself. `thrown` is what it did not catch. */
  readonly lost: (problem: string, thrown: Error | null) => TernError;
  /** The error of all calls once the thread is being closed or was terminated. */
  readonly closed: () => TernError;
  readonly unexpected: UnexpectedError;
  readonly values?: ValueCodec;
  readonly resourceLimits?: ResourceLimits;
  /** Drops what the thread writes to standard output and standard error. */
  readonly silent?: boolean;
}

// In a build this file is .js, and so are the entries. A thread does not inherit the TypeScript loader of the process.
const fromSources = import.meta.url.endsWith('.ts');
const SOURCE_ENTRY = new URL('./worker-source-entry.mjs', import.meta.url);

/** Starts a thread that runs a module, which finds `start` in its `workerData`. @param entry as in {@link WorkerThreadOptions} */
export function startThread(entry: URL, start: unknown, options: WorkerOptions = {}): Worker {
  return new Worker(fromSources ? SOURCE_ENTRY : entry, {
    ...options,
    workerData: { entry: entry.href, start } satisfies WorkerData,
    execArgv: [...(options.execArgv ?? []), ...(fromSources ? ['--conditions=source'] : [])],
  });
}

/**
 * A worker thread with typed calls in both directions.
 *
 * A call has no deadline of its own: a thread that is stuck in a loop hears nothing, so whoever sets a deadline terminates
 * the thread, with the error that its calls shall reject with.
 */
export class WorkerThread<Contract extends WorkerContract> {
  readonly #worker: Worker;
  readonly #channel: Channel<Contract['host'], Contract['methods']>;
  readonly #closed: () => TernError;
  #isReady = false;
  #isEnding = false;
  #hasExited = false;
  #exited: Promise<void>;
  /** Resolves when the thread serves calls; rejects with why it did not start. */
  readonly ready: Promise<Contract['ready']>;
  /** Resolves when the thread has ended by {@link close} or {@link terminate}; rejects when it has ended otherwise. */
  readonly ended: Promise<void>;

  constructor(options: WorkerThreadOptions<Contract>) {
    const { entry, start, host, unexpected, values, lost, resourceLimits, silent = false } = options;
    this.#closed = options.closed;
    this.#worker = startThread(entry, start, {
      stdout: silent,
      stderr: silent,
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
    this.id = this.#worker.threadId;
    const post = (message: ToWorker, transfer: ArrayBuffer[] = []): void => this.#worker.postMessage(message, transfer);
    this.#channel = new Channel({ post, methods: host, unexpected, ...(values === undefined ? {} : { values }) });
    let settleReady: { resolve: (value: Contract['ready']) => void; reject: (error: TernError) => void };
    this.ready = new Promise((resolve, reject) => {
      settleReady = { resolve, reject };
    });
    this.ready.catch(() => {});
    let failure: TernError | null = null;
    let thrown: Error | null = null;
    this.#worker.on('message', (message: FromWorker) => {
      if (!('control' in message)) {
        this.#channel.receive(message);
      } else if (message.control === 'warning') {
        const { name, message: text, stack } = message;
        process.emitWarning(Object.assign(new TypeError(text), { name, stack }));
      } else if (message.control === 'ready') {
        this.#isReady = true;
        settleReady.resolve(message.value);
      } else {
        failure = TernError.fromPlain(message.error);
        settleReady.reject(failure);
      }
    });
    this.#worker.on('error', (error: unknown) => {
      thrown = error instanceof Error ? error : new TypeError(String(error));
    });
    let exited = (): void => {};
    this.#exited = new Promise((resolve) => {
      exited = resolve;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#worker.once('exit', (code) => {
        this.#hasExited = true;
        const error = this.#isEnding
          ? this.#closed()
          : (failure ?? lost(thrown?.message ?? `the thread ended with code ${code}`, thrown));
        settleReady.reject(error);
        this.#channel.end(error);
        if (this.#isEnding) resolve();
        else reject(error);
        exited();
      });
    });
    this.ended.catch(() => {});
  }

  /** Calls of the thread's methods. */
  get call(): Remote<Contract['methods']> {
    return this.#channel.call;
  }

  /** One-way calls of the thread's methods. */
  get notify(): Notify<Contract['methods']> {
    return this.#channel.notify;
  }

  /** Whether it can still be called. */
  get isAlive(): boolean {
    return !this.#isEnding && !this.#hasExited;
  }

  /** Asks the thread to end what it does, and terminates it when it has not ended in time; not ready, it is terminated when `giveUpMs` is over, too. */
  async close(giveUpMs: number): Promise<void> {
    if (!this.#isEnding) this.#worker.postMessage({ control: 'close' } satisfies ToWorker);
    this.#isEnding = true;
    this.#channel.refuse(this.#closed());
    const timer = setTimeout(() => void this.#worker.terminate(), giveUpMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Ends the thread whatever it is doing. @param error what calls under way reject with; by default `closed()` */
  async terminate(error: TernError = this.#closed()): Promise<void> {
    this.#isEnding = true;
    this.#channel.end(error);
    await this.#worker.terminate();
    await this.#exited;
  }

  /** The number of the thread in this process; no other thread of it gets the same one. */
  readonly id: number;

  get isReady(): boolean {
    return this.#isReady;
  }
}

/** What takes the log lines that a thread forwards. */
export function logMethods(logger: Logger): LogMethods {
  return { log: (level, message, fields) => logger[level](message, fields) };
}
