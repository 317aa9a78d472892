import type { CancelSchedule, Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { IndexerStatus } from '#services/indexer/indexer.js';

const EVERY_MS = 30_000;

/** Logs how the filling of an index goes: a line every 30 s while blocks are missing, and one at the end. */
export class FillLog {
  readonly #status: () => Pick<IndexerStatus, 'filling' | 'sums'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #cancel: CancelSchedule = () => {};
  /** When filling was first seen; null: it does not go on. */
  #begunAt: number | null = null;
  #blocksBefore = 0;

  constructor(
    status: () => Pick<IndexerStatus, 'filling' | 'sums'>,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#status = status;
    this.#clock = clock;
    this.#logger = logger;
  }

  start(): void {
    this.#cancel = this.#clock.schedule(EVERY_MS, () => {
      this.#write();
      this.start();
    });
  }

  close(): void {
    this.#cancel();
  }

  #write(): void {
    const { filling, sums } = this.#status();
    if (filling === null) {
      if (this.#begunAt === null) return;
      const seconds = Math.round((this.#clock.now() - this.#begunAt) / 1000);
      this.#begunAt = null;
      const written = sums.mcBlocks - this.#blocksBefore;
      this.#logger.info('the index is filled', { masterchain_blocks: written, seconds });
      return;
    }
    const { total, done, mcBlocksPerSecond, transactionsPerSecond, secondsLeft } = filling;
    if (this.#begunAt === null) {
      this.#begunAt = this.#clock.now() - EVERY_MS;
      this.#blocksBefore = sums.mcBlocks - done;
    }
    this.#logger.info('filling the index', {
      percent: Math.floor((1_000 * done) / total) / 10,
      ...{ masterchain_blocks: done, of: total },
      masterchain_blocks_per_second: Math.round(mcBlocksPerSecond * 10) / 10,
      transactions_per_second: Math.round(transactionsPerSecond),
      seconds_left: secondsLeft === null ? null : Math.round(secondsLeft),
    });
  }
}
