import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';

/** The newest proven masterchain block. */
export interface ProvenHead {
  readonly seqno: number;
  /** Unix seconds; `null` for the zerostate. */
  readonly gen_utime: number | null;
}

export interface HeadWatchModules {
  readonly chain: Pick<ChainReads, 'head'>;
  readonly source: Pick<LiteSource, 'headSeqno'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of checks for a newer block. */
const LOOK_MS = 250;

/** While all servers are behind the proven head, a proof is made this often. */
const BEHIND_MS = 5_000;

/** Pause after a failed proof. */
const RETRY_MS = 1_000;

/**
 * Proves the newest masterchain block continuously, independent of requests. This shows whether the network is readable,
 * records key blocks, and keeps a proven head for requests.
 */
export class HeadWatch {
  readonly #options: { readonly deadlineMs: number };
  readonly #modules: HeadWatchModules;
  readonly #polling: Polling;
  #head: ProvenHead | null = null;
  #problem: string | null = null;
  #operatorProblem: string | null = null;
  /** When the last proof began; milliseconds of the clock. */
  #proven = 0;

  constructor(options: { readonly deadlineMs: number }, modules: HeadWatchModules) {
    this.#options = options;
    this.#modules = modules;
    this.#polling = new Polling(async (signal) => {
      if (this.#isDue(modules.source.headSeqno)) await this.#prove(signal);
      return this.#problem === null ? LOOK_MS : RETRY_MS;
    }, modules.clock);
  }

  /** `null` before the first proof. */
  get head(): ProvenHead | null {
    return this.#head;
  }

  /** Why the last proof failed, without addresses of servers; `null` when it succeeded. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The same with the servers that were asked, for who runs the service. */
  get operatorProblem(): string | null {
    return this.#operatorProblem;
  }

  /** Proves a newer block at once, if servers have one: somebody waits for it. */
  hasten(): void {
    const { headSeqno } = this.#modules.source;
    if (this.#problem === null && headSeqno > (this.#head?.seqno ?? 0)) this.#polling.wake();
  }

  start(): void {
    this.#polling.start();
  }

  close(): Promise<void> {
    return this.#polling.close();
  }

  /** When all servers are behind the proven head, they may be on another branch: that is looked at from time to time. */
  #isDue(claimed: number): boolean {
    if (this.#head === null || this.#problem !== null || claimed > this.#head.seqno) return true;
    return claimed > 0 && claimed < this.#head.seqno && this.#modules.clock.now() - this.#proven >= BEHIND_MS;
  }

  async #prove(signal: AbortSignal): Promise<void> {
    this.#proven = this.#modules.clock.now();
    const { chain, logger } = this.#modules;
    try {
      const { block, gen_utime } = await chain.head({ deadlineMs: this.#options.deadlineMs, signal });
      if (this.#problem !== null || this.#head === null) logger.info('the head is proven', { seqno: block.seqno });
      this.#head = { seqno: block.seqno, gen_utime };
      this.#problem = null;
      this.#operatorProblem = null;
    } catch (error) {
      if (signal.aborted) return;
      const problem = isTernError(error) ? `${error.code}: ${error.message}` : String(error);
      if (this.#problem === null) logger.warn('the newest block cannot be proven; retrying', { problem });
      // The page that shows it is public.
      this.#problem = isTernError(error) ? `${error.code}: ${error.publicMessage}` : problem;
      this.#operatorProblem = problem;
    }
  }
}
