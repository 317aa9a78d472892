import { serviceErrors } from '#app/service/errors.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { IndexReads } from '#drivers/store/read/index-reads.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** What of the errors of the store says that nobody can read now, and not that this reader asked for too much. */
const UNAVAILABLE: ReadonlySet<string> = new Set(
  (
    ['unreachable', 'connection-refused', 'too-many-connections', 'out-of-memory', 'no-rights', 'no-schema'] as const
  ).map((name) => storeErrors[name].code),
);

/**
 * Reads of an index whose database may not be there yet, or not any more.
 *
 * @throws service/index-unavailable, and as {@link IndexReads}
 */
export class InterruptibleReads implements IndexReads {
  readonly #current: () => IndexReads | string;

  /** @param current the reads, or why there are none */
  constructor(current: () => IndexReads | string) {
    this.#current = current;
  }

  head(...given: Parameters<IndexReads['head']>) {
    return this.#read((reads) => reads.head(...given));
  }
  hasRound(...given: Parameters<IndexReads['hasRound']>) {
    return this.#read((reads) => reads.hasRound(...given));
  }
  blocks(...given: Parameters<IndexReads['blocks']>) {
    return this.#read((reads) => reads.blocks(...given));
  }
  shardState(...given: Parameters<IndexReads['shardState']>) {
    return this.#read((reads) => reads.shardState(...given));
  }
  transactions(...given: Parameters<IndexReads['transactions']>) {
    return this.#read((reads) => reads.transactions(...given));
  }
  transactionsByMessage(...given: Parameters<IndexReads['transactionsByMessage']>) {
    return this.#read((reads) => reads.transactionsByMessage(...given));
  }
  adjacentTransactions(...given: Parameters<IndexReads['adjacentTransactions']>) {
    return this.#read((reads) => reads.adjacentTransactions(...given));
  }
  messages(...given: Parameters<IndexReads['messages']>) {
    return this.#read((reads) => reads.messages(...given));
  }
  traces(...given: Parameters<IndexReads['traces']>) {
    return this.#read((reads) => reads.traces(...given));
  }
  transactionsOfTraces(...given: Parameters<IndexReads['transactionsOfTraces']>) {
    return this.#read((reads) => reads.transactionsOfTraces(...given));
  }
  accounts(...given: Parameters<IndexReads['accounts']>) {
    return this.#read((reads) => reads.accounts(...given));
  }
  codeHashes(...given: Parameters<IndexReads['codeHashes']>) {
    return this.#read((reads) => reads.codeHashes(...given));
  }
  topAccounts(...given: Parameters<IndexReads['topAccounts']>) {
    return this.#read((reads) => reads.topAccounts(...given));
  }

  async #read<T>(read: (reads: IndexReads) => Promise<T>): Promise<T> {
    const reads = this.#current();
    if (typeof reads === 'string') throw serviceErrors['index-unavailable']({ problem: reads });
    try {
      return await read(reads);
    } catch (error) {
      if (!isTernError(error) || !UNAVAILABLE.has(error.code)) throw error;
      throw serviceErrors['index-unavailable']({ problem: error.message }, error);
    }
  }
}
