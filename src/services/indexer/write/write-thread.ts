import { Worker } from 'node:worker_threads';
import type { BatchOrder } from '#drivers/store/write/write-batch.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { McBlockBundle } from '#services/indexer/fetch/mc-block-bundle.js';
import type { BatchReport, BundleBatch } from '#services/indexer/write/batch-writer.js';
import {
  type FromThread,
  packBundles,
  type ThreadStart,
  type ToThread,
} from '#services/indexer/write/thread-protocol.js';

/** The version of the rules that a key block set. */
export type GlobalVersionOf = (key_block: number) => Promise<number>;

interface Running {
  readonly turn: () => Promise<void>;
  readonly resolve: (report: BatchReport) => void;
  readonly reject: (error: TernError) => void;
}

// In a published package this file is .js and so is the thread's beside it.
const fromSources = import.meta.url.endsWith('.ts');
const entry = new URL(fromSources ? './thread-main-source.mjs' : './thread-main.js', import.meta.url);
const conditions = fromSources ? ['--conditions=source'] : [];

/** The rows of a batch live as long as it: with less room for what is young, they are moved again and again. */
const YOUNG = { maxYoungGenerationSizeMb: 128 };

/** A thread that writes batches, one at a time. */
export class WriteThread {
  readonly #worker: Worker;
  readonly #globalVersion: GlobalVersionOf;
  readonly #ended: Promise<void>;
  #started: { readonly resolve: () => void; readonly reject: (error: TernError) => void } | null = null;
  #running: Running | null = null;
  #alive = true;

  private constructor(start: ThreadStart, globalVersion: GlobalVersionOf) {
    this.#globalVersion = globalVersion;
    this.#worker = new Worker(entry, { workerData: start, execArgv: conditions, resourceLimits: YOUNG });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error.message : String(error)));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#end(`the thread ended with code ${code}`);
        resolve();
      });
    });
  }

  /** @throws indexer/thread-lost */
  static async start(start: ThreadStart, globalVersion: GlobalVersionOf): Promise<WriteThread> {
    const thread = new WriteThread(start, globalVersion);
    await new Promise<void>((resolve, reject) => {
      thread.#started = { resolve, reject };
    });
    return thread;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /**
   * Writes a batch, or nothing of it.
   *
   * @throws indexer/thread-lost, store/overlap, and as `BatchWriter.write`
   */
  write({ rounds, zerostates }: BundleBatch, { exclusive, awaitPrevious }: BatchOrder): Promise<BatchReport> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) {
        reject(indexerErrors['thread-lost']({ problem: 'it was stopped' }));
        return;
      }
      this.#running = { turn: awaitPrevious, resolve, reject };
      const packed = packBundles(rounds as readonly McBlockBundle[]);
      this.#say({ kind: 'batch', packed, zerostates, alone: exclusive }, [packed.bytes]);
    });
  }

  /** Ends the thread, whatever it is doing. */
  async stop(): Promise<void> {
    await this.#worker.terminate();
    await this.#ended;
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'started':
        this.#started?.resolve();
        this.#started = null;
        return;
      case 'turn':
        void this.#giveTurn();
        return;
      case 'version':
        void this.#giveVersion(message.key_block);
        return;
      case 'done':
        this.#finish()?.resolve(message.report);
        return;
      case 'failed':
        this.#finish()?.reject(TernError.fromPlain(message.error));
    }
  }

  #finish(): Running | null {
    const running = this.#running;
    this.#running = null;
    return running;
  }

  async #giveTurn(): Promise<void> {
    try {
      await this.#running?.turn();
      this.#say({ kind: 'turn', refused: null });
    } catch (error) {
      this.#say({ kind: 'turn', refused: plainOf(error) });
    }
  }

  async #giveVersion(key_block: number): Promise<void> {
    try {
      this.#say({ kind: 'version', key_block, version: await this.#globalVersion(key_block) });
    } catch (error) {
      this.#say({ kind: 'version', key_block, version: plainOf(error) });
    }
  }

  #say(message: ToThread, transfer: ArrayBuffer[] = []): void {
    if (this.#alive) this.#worker.postMessage(message, transfer);
  }

  #end(problem: string): void {
    if (!this.#alive) return;
    this.#alive = false;
    const error = indexerErrors['thread-lost']({ problem });
    this.#started?.reject(error);
    this.#started = null;
    this.#finish()?.reject(error);
  }
}

function plainOf(error: unknown) {
  return (isTernError(error) ? error : indexerErrors.unexpected({ problem: String(error) })).toPlain();
}
