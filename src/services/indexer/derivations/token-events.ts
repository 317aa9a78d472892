import { TOKEN_OPCODES } from '#domain/tokens/token-messages.js';
import { deriveTokenEvents, nextUnderived } from '#drivers/store/write/derivations.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';

const TOKEN_EVENT_OPCODES = Object.values(TOKEN_OPCODES);

/** How many transactions one step may decode, about; and the most rounds that it goes through. */
const AT_ONCE = 1000;
const MAX_MC_BLOCKS = 4096;

/**
 * Derives token events from rounds that were indexed before there was such a thing, or whose events were forgotten; a few
 * rounds in each transaction of the database, the oldest first.
 */
export class TokenEventDeriver {
  readonly #work: Pick<IndexerContext, 'database' | 'retries'>;
  readonly #partition_rounds: number;
  #mcBlocks = 32;

  constructor(work: Pick<IndexerContext, 'database' | 'retries'>, partition_rounds: number) {
    this.#work = work;
    this.#partition_rounds = partition_rounds;
  }

  /** Ends when all rounds that are indexed have been gone through. @throws indexer/stopped */
  async run(signal: AbortSignal): Promise<void> {
    const { retries } = this.#work;
    while (await retries.run(() => this.#step(), signal));
  }

  async #step(): Promise<boolean> {
    const { database } = this.#work;
    const most = this.#mcBlocks;
    const range = await database.withWriter((client) => nextUnderived(client, 'token_events', most));
    if (range === null) return false;
    await database.withWriter((client) => ensurePartitions(client, range, this.#partition_rounds));
    const decoded = await database.transaction((client) => deriveTokenEvents(client, range, TOKEN_EVENT_OPCODES));
    const more = decoded < AT_ONCE / 2 ? most * 2 : decoded > AT_ONCE ? most >> 1 : most;
    this.#mcBlocks = Math.min(Math.max(more, 1), MAX_MC_BLOCKS);
    return true;
  }
}
