import { Worker } from 'node:worker_threads';
import type { Logger } from '#kernel/logger.js';
import { isTernError, TernError } from '#kernel/tern-error.js';
import type {
  DetectionChain,
  DetectionQuery,
  DetectPace,
  DetectStart,
  DetectSums,
  FromDetector,
  ToDetector,
} from '#services/indexer/contracts/detect-protocol.js';
import { indexerErrors } from '#services/indexer/errors.js';

export interface DetectThreadModules {
  readonly chain: DetectionChain;
  readonly logger: Logger;
  readonly onLooked: (sums: DetectSums) => void;
  readonly onQueued: (queued: number) => void;
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
  /** Why one contract could not be asked now, or nothing could be done. */
  readonly onPostponed: (error: TernError) => void;
  readonly onTrouble: (error: TernError) => void;
}

// In a published package this file is .js and so is the thread's beside it.
const fromSources = import.meta.url.endsWith('.ts');
const entry = new URL(fromSources ? './detect-main-source.mjs' : './detect-main.js', import.meta.url);
const conditions = fromSources ? ['--conditions=source'] : [];

/** It may be in the middle of a transaction. */
const GIVE_UP_MS = 2000;

/** The thread that looks at contracts. */
export class DetectThread {
  readonly #worker: Worker;
  readonly #modules: DetectThreadModules;
  /** Rejects when the thread ends, unless it was told to. */
  readonly ended: Promise<void>;
  #problem: TernError | null = null;
  #stopping = false;
  #started = false;

  constructor(start: DetectStart, modules: DetectThreadModules) {
    this.#modules = modules;
    this.#worker = new Worker(entry, { workerData: start, execArgv: conditions });
    this.#worker.on('message', (message: FromDetector) => this.#receive(message));
    this.ended = new Promise((resolve, reject) => {
      let problem: string | null = null;
      this.#worker.on('error', (error) => {
        problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
      });
      this.#worker.once('exit', (code) => {
        if (this.#stopping) resolve();
        else
          reject(this.#problem ?? indexerErrors['thread-lost']({ problem: problem ?? `it ended with code ${code}` }));
      });
    });
    this.ended.catch(() => {});
  }

  setPace(pace: DetectPace): void {
    this.#say({ kind: 'pace', pace });
  }

  wake(number: number): void {
    this.#say({ kind: 'wake', number });
  }

  /** Ends it: what is not written is left for later. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#say({ kind: 'stop' });
    const giveUp = setTimeout(() => void this.#worker.terminate(), this.#started ? GIVE_UP_MS : 0);
    await this.ended.catch(() => {});
    clearTimeout(giveUp);
  }

  #receive(message: FromDetector): void {
    const { logger, onLooked, onQueued, onIdle, onPostponed, onTrouble } = this.#modules;
    switch (message.kind) {
      case 'started':
        this.#started = true;
        return;
      case 'question':
        void this.#answer(message.id, message.question);
        return;
      case 'looked':
        onLooked(message.sums);
        return;
      case 'queued':
        onQueued(message.queued);
        return;
      case 'idle':
        onIdle(message.number, message.queued, message.soon);
        return;
      case 'postponed':
        onPostponed(TernError.fromPlain(message.error));
        return;
      case 'trouble':
        onTrouble(TernError.fromPlain(message.error));
        return;
      case 'log':
        logger[message.level](message.message, message.fields);
        return;
      case 'ended':
        this.#problem = TernError.fromPlain(message.error);
    }
  }

  async #answer(id: number, question: DetectionQuery): Promise<void> {
    const { chain } = this.#modules;
    try {
      const ask = chain[question.name].bind(chain) as (of: DetectionQuery['of']) => Promise<unknown>;
      this.#say({ kind: 'answer', id, value: await ask(question.of) });
    } catch (error) {
      const known = isTernError(error) ? error : indexerErrors.unexpected({ problem: String(error) });
      this.#say({ kind: 'refused', id, error: known.toPlain() });
    }
  }

  #say(message: ToDetector): void {
    this.#worker.postMessage(message);
  }
}
