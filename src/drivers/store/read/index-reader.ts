import type { Database } from '#drivers/store/database.js';
import { readAccounts, readTopAccounts } from '#drivers/store/read/account-reads.js';
import type { WantedFacts } from '#drivers/store/read/address-facts.js';
import { readAddressFacts } from '#drivers/store/read/address-reads.js';
import { readAdjacentTransactions } from '#drivers/store/read/adjacent-reads.js';
import { readBlocks, readHasRound, readHead, readShardState } from '#drivers/store/read/block-reads.js';
import { readTransactionsByMessage } from '#drivers/store/read/by-message-reads.js';
import { CodeMethods } from '#drivers/store/read/code-methods.js';
import { type DnsRecordFilter, readDnsRecords } from '#drivers/store/read/dns-reads.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type {
  AccountFilter,
  BlockFilter,
  ByMessageFilter,
  Direction,
  IndexReadOptions,
  MessageFilter,
  Page,
  TraceFilter,
  TransactionFilter,
} from '#drivers/store/read/index-reads.js';
import {
  DEFAULT_THRESHOLDS,
  type IndexSession,
  IndexSessions,
  type ReadThresholds,
} from '#drivers/store/read/index-session.js';
import type {
  JettonMasterFilter,
  JettonWalletFilter,
  NftCollectionFilter,
  NftItemFilter,
} from '#drivers/store/read/indexed-tokens.js';
import { readJettonMasters, readJettonWallets } from '#drivers/store/read/jetton-reads.js';
import { readMessages } from '#drivers/store/read/message-reads.js';
import {
  type MultisigFilter,
  type MultisigOrderFilter,
  readMultisigOrders,
  readMultisigs,
  readOrdersOfMultisigs,
} from '#drivers/store/read/multisig-reads.js';
import { readNftCollections, readNftItems } from '#drivers/store/read/nft-reads.js';
import { readNftSales } from '#drivers/store/read/sale-reads.js';
import { SharedCells } from '#drivers/store/read/shared-cells.js';
import { readTokenEvents } from '#drivers/store/read/token-event-reads.js';
import type { ListedTokenKind, TokenEventFilter } from '#drivers/store/read/token-events.js';
import { readTraces, readTransactionsOfTraces } from '#drivers/store/read/trace-reads.js';
import { readTransactions } from '#drivers/store/read/transaction-reads.js';
import { readVestingContracts, type VestingFilter } from '#drivers/store/read/vesting-reads.js';
import type { Address } from '#formats/address/address.js';

/** Reads the index from the database. */
export class IndexReader implements IndexPort {
  readonly #sessions: IndexSessions;
  readonly #cells = new SharedCells();
  readonly #methods = new CodeMethods();

  constructor(database: Database, thresholds: ReadThresholds = DEFAULT_THRESHOLDS) {
    this.#sessions = new IndexSessions(database, thresholds);
  }

  head(options: IndexReadOptions) {
    return this.#read(options, readHead);
  }
  hasRound(mc_seqno: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readHasRound(session, mc_seqno));
  }
  blocks(filter: BlockFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readBlocks(session, filter, page));
  }
  shardState(mc_seqno: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readShardState(session, mc_seqno));
  }
  transactions(filter: TransactionFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readTransactions(session, this.#cells, filter, page));
  }
  transactionsByMessage(filter: ByMessageFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readTransactionsByMessage(session, this.#cells, filter, page));
  }
  adjacentTransactions(hash: Uint8Array, direction: Direction | undefined, options: IndexReadOptions) {
    return this.#read(options, (session) => readAdjacentTransactions(session, this.#cells, hash, direction));
  }
  messages(filter: MessageFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readMessages(session, this.#cells, filter, page));
  }
  traces(filter: TraceFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readTraces(session, filter, page));
  }
  transactionsOfTraces(roots: readonly bigint[], most: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readTransactionsOfTraces(session, this.#cells, roots, most));
  }
  accounts(filter: AccountFilter, { boc }: { readonly boc: boolean }, options: IndexReadOptions) {
    return this.#read(options, (session) => readAccounts(session, filter, boc));
  }
  addressFacts(addresses: readonly Address[], wanted: WantedFacts, options: IndexReadOptions) {
    return this.#read(options, (session) => readAddressFacts(session, this.#methods, addresses, wanted));
  }
  tokenEvents<Kind extends ListedTokenKind>(
    kind: Kind,
    filter: TokenEventFilter,
    page: Page,
    options: IndexReadOptions,
  ) {
    return this.#read(options, (session) => readTokenEvents(session, this.#cells, kind, filter, page));
  }
  topAccounts(page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readTopAccounts(session, page));
  }
  jettonMasters(filter: JettonMasterFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readJettonMasters(session, filter, page));
  }
  jettonWallets(filter: JettonWalletFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readJettonWallets(session, filter, page));
  }
  nftCollections(filter: NftCollectionFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readNftCollections(session, filter, page));
  }
  nftItems(filter: NftItemFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readNftItems(session, filter, page));
  }
  nftSales(addresses: readonly Address[], options: IndexReadOptions) {
    return this.#read(options, (session) => readNftSales(session, addresses));
  }
  dnsRecords(filter: DnsRecordFilter, page: Omit<Page, 'sort'>, options: IndexReadOptions) {
    return this.#read(options, (session) => readDnsRecords(session, filter, page));
  }
  multisigs(filter: MultisigFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readMultisigs(session, filter, page));
  }
  multisigOrders(filter: MultisigOrderFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readMultisigOrders(session, filter, page));
  }
  ordersOfMultisigs(multisigs: readonly Address[], most: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readOrdersOfMultisigs(session, multisigs, most));
  }
  vestingContracts(filter: VestingFilter, page: Omit<Page, 'sort'>, options: IndexReadOptions) {
    return this.#read(options, (session) => readVestingContracts(session, filter, page));
  }

  #read<T>(options: IndexReadOptions, work: (session: IndexSession) => Promise<T>): Promise<T> {
    return this.#sessions.read(options, work);
  }
}
