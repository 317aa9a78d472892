import type { Database } from '#drivers/store/database.js';
import type { NetworkIdentity } from '#drivers/store/network-identity.js';
import { type IndexProgress, readIndexProgress } from '#drivers/store/read/index-progress.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';

export interface IndexWatchOptions {
  readonly network: NetworkIdentity;
  /** How often it looks by itself. */
  readonly lookMs: number;
}

export interface IndexWatchModules {
  /** `null` while there is none. */
  readonly database: () => Database | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A database that is down is not asked so often. */
const RETRY_MS = 1_000;

/** However often it is told to look: not more often. */
const LEAST_MS = 20;

const QUERY_MS = 5_000;

/** Looks again and again where is read how far the index is, so that answers can say how new they are. */
export class IndexWatch {
  readonly #options: IndexWatchOptions;
  readonly #modules: IndexWatchModules;
  readonly #stop = new AbortController();
  #progress: IndexProgress | null = null;
  #problem: string | null = null;
  #version = 0;
  #isDue = false;
  #wake = (): void => {};
  #running: Promise<void> = Promise.resolve();

  constructor(options: IndexWatchOptions, modules: IndexWatchModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /** As it was found last; `null` before the index is begun. */
  get progress(): IndexProgress | null {
    return this.#progress;
  }

  /** Why the database could not be asked just now; `null` when it could. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Another one when there is something else in the index; 0 before anything is. */
  get version(): number {
    return this.#version;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Looks soon: something has been written. */
  lookNow(): void {
    this.#isDue = true;
    this.#wake();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database } = this.#modules;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#isDue = false;
      const found = database();
      if (found !== null) await this.look(found).catch((error) => this.#noteProblem(error));
      await this.#pause(LEAST_MS);
      const rest = (this.#problem === null ? this.#options.lookMs : RETRY_MS) - LEAST_MS;
      if (!this.#isDue && !signal.aborted) await this.#pause(rest);
    }
  }

  /** Looks now. @throws store/other-network, and what the database says */
  async look(database: Database): Promise<void> {
    const limits = { signal: this.#stop.signal, timeoutMs: QUERY_MS };
    const progress = await readIndexProgress(database, this.#options.network, limits);
    const before = this.#progress;
    const isOther = progress?.rounds !== before?.rounds || progress?.contract_changes !== before?.contract_changes;
    if (isOther) this.#version++;
    this.#progress = progress;
    if (this.#problem !== null) this.#modules.logger.info('the index can be read again');
    this.#problem = null;
  }

  #noteProblem(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const problem = isTernError(error) ? error.message : String(error);
    if (this.#problem === null) this.#modules.logger.warn('the index cannot be read; it is tried again', { problem });
    this.#problem = problem;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#modules.clock.schedule(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
