import { TOKEN_OPCODES } from '#domain/tokens/token-bodies.js';
import { nextUnderived } from '#drivers/store/write/derivations.js';
import { deriveTokenEvents } from '#drivers/store/write/derive-token-events.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import type { IndexWork } from '#services/indexer/index-work.js';

const OPCODES = Object.values(TOKEN_OPCODES);

/** How many transactions one step may decode, about; and the most rounds that it goes through. */
const AT_ONCE = 1000;
const MOST_ROUNDS = 4096;

/**
 * Derives token events from rounds that were indexed before there was such a thing, or whose events were forgotten; a few
 * rounds in each transaction of the database, the oldest first.
 */
export class TokenEventDeriver {
  readonly #work: Pick<IndexWork, 'database' | 'retries'>;
  readonly #partition_rounds: number;
  #rounds = 32;

  constructor(work: Pick<IndexWork, 'database' | 'retries'>, partition_rounds: number) {
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
    const most = this.#rounds;
    const range = await database.withWriter((client) => nextUnderived(client, 'token_events', most));
    if (range === null) return false;
    await database.withWriter((client) => ensurePartitions(client, range, this.#partition_rounds));
    const decoded = await database.transaction((client) => deriveTokenEvents(client, range, OPCODES));
    const more = decoded < AT_ONCE / 2 ? most * 2 : decoded > AT_ONCE ? most >> 1 : most;
    this.#rounds = Math.min(Math.max(more, 1), MOST_ROUNDS);
    return true;
  }
}
