import type { Database } from '#drivers/store/database.js';
import { readNewestMcBlockId } from '#drivers/store/write/neighbours.js';
import { sameBlock } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Polling } from '#kernel/polling.js';
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
  readonly #polling: Polling;
  #contradiction: string | null = null;

  constructor(modules: BranchWatchModules) {
    this.#modules = modules;
    this.#polling = new Polling(async (signal) => {
      // Why database or chain cannot be read is reported by those who need them.
      await this.#look(signal).catch(() => {});
      return LOOK_MS;
    }, modules.clock);
  }

  /** The two blocks, and what to do; `null` while index and chain agree as far as is known. */
  get contradiction(): string | null {
    return this.#contradiction;
  }

  start(): void {
    this.#polling.start();
  }

  close(): Promise<void> {
    return this.#polling.close();
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { database, chain, headSeqno, logger } = this.#modules;
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
