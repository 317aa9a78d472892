import { serviceErrors } from '#app/service/errors.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { IndexedTokenEvent, ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
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
 * @throws service/index-unavailable, and as {@link IndexPort}
 */
export class InterruptibleReads implements IndexPort {
  readonly #current: () => IndexPort | string;

  /** @param current the reads, or why there are none */
  constructor(current: () => IndexPort | string) {
    this.#current = current;
  }

  head(...given: Parameters<IndexPort['head']>) {
    return this.#read((reads) => reads.head(...given));
  }
  hasRound(...given: Parameters<IndexPort['hasRound']>) {
    return this.#read((reads) => reads.hasRound(...given));
  }
  blocks(...given: Parameters<IndexPort['blocks']>) {
    return this.#read((reads) => reads.blocks(...given));
  }
  shardState(...given: Parameters<IndexPort['shardState']>) {
    return this.#read((reads) => reads.shardState(...given));
  }
  transactions(...given: Parameters<IndexPort['transactions']>) {
    return this.#read((reads) => reads.transactions(...given));
  }
  transactionsByMessage(...given: Parameters<IndexPort['transactionsByMessage']>) {
    return this.#read((reads) => reads.transactionsByMessage(...given));
  }
  adjacentTransactions(...given: Parameters<IndexPort['adjacentTransactions']>) {
    return this.#read((reads) => reads.adjacentTransactions(...given));
  }
  messages(...given: Parameters<IndexPort['messages']>) {
    return this.#read((reads) => reads.messages(...given));
  }
  traces(...given: Parameters<IndexPort['traces']>) {
    return this.#read((reads) => reads.traces(...given));
  }
  transactionsOfTraces(...given: Parameters<IndexPort['transactionsOfTraces']>) {
    return this.#read((reads) => reads.transactionsOfTraces(...given));
  }
  jettonMasters(...given: Parameters<IndexPort['jettonMasters']>) {
    return this.#read((reads) => reads.jettonMasters(...given));
  }
  jettonWallets(...given: Parameters<IndexPort['jettonWallets']>) {
    return this.#read((reads) => reads.jettonWallets(...given));
  }
  nftCollections(...given: Parameters<IndexPort['nftCollections']>) {
    return this.#read((reads) => reads.nftCollections(...given));
  }
  nftItems(...given: Parameters<IndexPort['nftItems']>) {
    return this.#read((reads) => reads.nftItems(...given));
  }
  nftSales(...given: Parameters<IndexPort['nftSales']>) {
    return this.#read((reads) => reads.nftSales(...given));
  }
  accounts(...given: Parameters<IndexPort['accounts']>) {
    return this.#read((reads) => reads.accounts(...given));
  }
  tokenEvents<Kind extends ListedTokenKind>(
    kind: Kind,
    filter: TokenEventFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedTokenEvent<Kind>>> {
    return this.#read((reads) => reads.tokenEvents(kind, filter, page, options));
  }
  addressFacts(...given: Parameters<IndexPort['addressFacts']>) {
    return this.#read((reads) => reads.addressFacts(...given));
  }
  topAccounts(...given: Parameters<IndexPort['topAccounts']>) {
    return this.#read((reads) => reads.topAccounts(...given));
  }
  dnsRecords(...given: Parameters<IndexPort['dnsRecords']>) {
    return this.#read((reads) => reads.dnsRecords(...given));
  }
  multisigs(...given: Parameters<IndexPort['multisigs']>) {
    return this.#read((reads) => reads.multisigs(...given));
  }
  multisigOrders(...given: Parameters<IndexPort['multisigOrders']>) {
    return this.#read((reads) => reads.multisigOrders(...given));
  }
  ordersOfMultisigs(...given: Parameters<IndexPort['ordersOfMultisigs']>) {
    return this.#read((reads) => reads.ordersOfMultisigs(...given));
  }
  vestingContracts(...given: Parameters<IndexPort['vestingContracts']>) {
    return this.#read((reads) => reads.vestingContracts(...given));
  }

  async #read<T>(read: (reads: IndexPort) => Promise<T>): Promise<T> {
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
