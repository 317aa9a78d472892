import type { Database } from '#drivers/store/database.js';
import { readNewestMcBlockId } from '#drivers/store/write/neighbours.js';
import { sameBlock } from '#formats/proofs/block-id.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { idOfStored, otherBranch } from '#services/indexer/write/chain-continuity.js';

export interface BranchWatchModules {
  /** `null` while it is not open. */
  readonly database: () => Pick<Database, 'query'> | null;
  readonly chain: Pick<ChainReads, 'blockId'>;
  /** The newest proven masterchain block. */
  readonly headSeqno: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of comparisons. */
const LOOK_MS = 10_000;

/** Time limit of a read. */
const READ_MS = 5_000;

/** Compares the newest indexed block with the chain from time to time, for processes that read an index that others write. */
export class BranchWatch {
  readonly #modules: BranchWatchModules;
  readonly #stop = new AbortController();
  #contradiction: string | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(modules: BranchWatchModules) {
    this.#modules = modules;
  }

  /** The two blocks, and what to do; `null` while index and chain agree as far as is known. */
  get contradiction(): string | null {
    return this.#contradiction;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Why database or chain cannot be read is reported by those who need them.
      await this.#look().catch(() => {});
      await pause(LOOK_MS, this.#modules.clock, signal);
    }
  }

  async #look(): Promise<void> {
    const { database, chain, headSeqno, logger } = this.#modules;
    const { signal } = this.#stop;
    const open = database();
    const stored = open === null ? null : await readNewestMcBlockId(open, { signal, timeoutMs: READ_MS });
    if (stored === null || stored.seqno > headSeqno()) return;
    const indexed = idOfStored(stored);
    const found = await chain.blockId(stored.seqno, { signal, deadlineMs: READ_MS });
    if (sameBlock(indexed, found)) {
      this.#contradiction = null;
      return;
    }
    const { message, remedy, code } = otherBranch(indexed, found);
    if (this.#contradiction === null) {
      logger.warn('the index contains another branch of the chain', { code, problem: message, remedy });
    }
    this.#contradiction = `${message}. ${remedy}`;
  }
}
