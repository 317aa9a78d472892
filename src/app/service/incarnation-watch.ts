import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError } from '#kernel/tern-error.js';

export interface IncarnationWatchModules {
  /** Reads the global config of the network again. */
  readonly read: () => Promise<GlobalConfig>;
  /** Serves the chain of another config in place of the one before. */
  readonly replace: (config: GlobalConfig) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of reads. */
const LOOK_MS = 2_000;

/** Pause after a chain could not be opened. */
const RETRY_MS = 5_000;

/**
 * Follows a local network that is served by another process: a reset or a loaded snapshot replaces its chain, which its global
 * config announces as another incarnation.
 */
export class IncarnationWatch {
  readonly #modules: IncarnationWatchModules;
  readonly #polling: Polling;
  /** Of the chain that is served; null while none is. */
  #served: string | null;
  #problem: string | null = null;

  /** @param served the incarnation of the chain that is open */
  constructor(served: string, modules: IncarnationWatchModules) {
    this.#served = served;
    this.#modules = modules;
    this.#polling = new Polling(() => this.#look(), modules.clock);
  }

  start(): void {
    this.#polling.start();
  }

  close(): Promise<void> {
    return this.#polling.close();
  }

  async #look(): Promise<number> {
    const { read, replace, logger } = this.#modules;
    // A network that is being started again may have no config for a while: its liteserver is missed by those who need it.
    const config = await read().catch(() => null);
    if (config === null || config.incarnation === null || config.incarnation === this.#served) return LOOK_MS;
    const { incarnation } = config;
    const began = this.#served !== null;
    if (began) logger.info('the local network has begun another chain, which is opened', { incarnation });
    this.#served = null;
    try {
      await replace(config);
    } catch (error) {
      const problem = isTernError(error) ? `${error.code}: ${error.message}` : String(error);
      if (began || problem !== this.#problem) {
        logger.warn('the other chain of the local network cannot be opened; retrying', { incarnation, problem });
      }
      this.#problem = problem;
      return RETRY_MS;
    }
    this.#problem = null;
    this.#served = incarnation;
    logger.info('the other chain of the local network is open', { incarnation });
    return LOOK_MS;
  }
}
