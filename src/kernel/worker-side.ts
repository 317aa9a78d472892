import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import type { LogFields, Logger } from '#kernel/logger.js';
import type { PlainError } from '#kernel/tern-error.js';
import {
  Channel,
  type ChannelMessage,
  type Notify,
  plainError,
  type Remote,
  type UnexpectedError,
  type ValueCodec,
} from '#kernel/worker-channel.js';

/** What `WorkerThread` starts a thread with. */
export interface WorkerData {
  /** URL of the module to run: read by `worker-source-entry.mjs`. */
  readonly entry: string;
  readonly start: unknown;
}

export type ToWorker = ChannelMessage | { readonly control: 'close' };

export type FromWorker =
  | ChannelMessage
  | { readonly control: 'ready'; readonly value: unknown }
  | { readonly control: 'failed'; readonly error: PlainError }
  | { readonly control: 'warning'; readonly name: string; readonly message: string; readonly stack: string };

/** What the two sides of a thread agree on. */
export interface WorkerContract {
  /** What the thread is started with: plain data, `SharedArrayBuffer`s, WebAssembly modules. */
  readonly start: unknown;
  /** What the thread may call at the side that started it. */
  readonly host: object;
  /** What that side may call in the thread. */
  readonly methods: object;
  /** What the thread reports when it has started. */
  readonly ready: unknown;
}

/** What a thread serves once it has started. */
export interface WorkerService<Contract extends WorkerContract> {
  readonly methods: Contract['methods'];
  readonly ready: Contract['ready'];
  /** Called when the thread is to end. */
  readonly close?: () => Promise<void>;
}

/** What a host takes for a thread that writes a log. */
export interface LogMethods {
  log(level: 'info' | 'warn', message: string, fields: LogFields): void;
}

/** The inner side of a `WorkerThread`; one for each thread. */
export class WorkerSide<Contract extends WorkerContract> {
  readonly #unexpected: UnexpectedError;
  readonly #channel: Channel<Contract['methods'], Contract['host']>;
  #serveMethods: (methods: Contract['methods']) => void = () => {};
  #close: () => void = () => {};
  readonly #closing: Promise<void>;
  readonly start: Contract['start'];

  constructor(options: { readonly unexpected: UnexpectedError; readonly values?: ValueCodec }) {
    this.start = (workerData as WorkerData).start as Contract['start'];
    this.#unexpected = options.unexpected;
    const methods = new Promise<Contract['methods']>((resolve) => {
      this.#serveMethods = resolve;
    });
    this.#channel = new Channel({ post: (message, transfer) => post(message, transfer), methods, ...options });
    this.#closing = new Promise((settle) => {
      this.#close = settle;
    });
    // Node would write them to standard error; the process that started the thread has a log.
    process.removeAllListeners('warning').on('warning', ({ name, message, stack = '' }) => {
      post({ control: 'warning', name, message, stack });
    });
    parentPort!.on('message', (message: ToWorker) => {
      if ('control' in message) this.#close();
      else this.#channel.receive(message);
    });
  }

  /** Calls of the host. */
  get host(): Remote<Contract['host']> {
    return this.#channel.call;
  }

  /** One-way calls of the host. */
  get notify(): Notify<Contract['host']> {
    return this.#channel.notify;
  }

  /** Starts what the thread is for, and serves it until the thread is closed. When that fails, the host gets the error, and the thread ends. */
  async serve(start: () => Promise<WorkerService<Contract>>): Promise<void> {
    try {
      const { methods, ready, close } = await start();
      this.#serveMethods(methods);
      post({ control: 'ready', value: ready });
      await this.#closing;
      await close?.();
    } catch (error) {
      post({ control: 'failed', error: plainError(error, this.#unexpected) });
    } finally {
      parentPort!.close();
    }
  }
}

/** A logger whose lines the host writes. */
export function forwardedLogger(notify: Notify<LogMethods>): Logger {
  return {
    info: (message, fields = {}) => notify.log('info', message, fields),
    warn: (message, fields = {}) => notify.log('warn', message, fields),
  };
}

function post(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer);
}
