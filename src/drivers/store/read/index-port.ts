import type { Database } from '#drivers/store/database.js';
import { CodeMethodsCache, readAccounts, readAddressFacts, readTopAccounts } from '#drivers/store/read/accounts.js';
import { readBlocks, readHasMcBlock, readIndexExtent, readShardState } from '#drivers/store/read/blocks.js';
import { type DnsReads, type DnsRecordFilter, readDnsRecords } from '#drivers/store/read/dns.js';
import type {
  AccountFilter,
  AddressReads,
  BlockFilter,
  ByMessageFilter,
  IndexReadOptions,
  IndexReads,
  IndexTokenReads,
  JettonMasterFilter,
  JettonWalletFilter,
  MessageDirection,
  MessageFilter,
  NftCollectionFilter,
  NftItemFilter,
  Page,
  TraceFilter,
  TransactionFilter,
  WantedFacts,
} from '#drivers/store/read/index-types.js';
import { readJettonMasters, readJettonWallets } from '#drivers/store/read/jettons.js';
import { readMessages } from '#drivers/store/read/messages.js';
import {
  type MultisigFilter,
  type MultisigOrderFilter,
  type MultisigReads,
  readMultisigOrders,
  readMultisigs,
  readOrdersOfMultisigs,
  readVestingContracts,
  type VestingFilter,
  type VestingReads,
} from '#drivers/store/read/multisig-vesting.js';
import { readNftCollections, readNftItems, readNftSales } from '#drivers/store/read/nfts.js';
import {
  DEFAULT_THRESHOLDS,
  type IndexSession,
  IndexSessions,
  type ReadThresholds,
} from '#drivers/store/read/session.js';
import {
  type ListedTokenKind,
  readTokenEvents,
  type TokenEventFilter,
  type TokenEventReads,
} from '#drivers/store/read/token-events.js';
import { readTraces, readTransactionsOfTraces } from '#drivers/store/read/traces.js';
import { SharedCells } from '#drivers/store/read/transaction-assembly.js';
import {
  readAdjacentTransactions,
  readIndexedTransactions,
  readTransactionsByMessage,
} from '#drivers/store/read/transactions.js';
import type { Address } from '#formats/address/address.js';

/** All reads of the index. */
export interface IndexPort
  extends IndexReads,
    AddressReads,
    TokenEventReads,
    DnsReads,
    MultisigReads,
    IndexTokenReads,
    VestingReads {}

/** Reads the index from the database. */
export class IndexReader implements IndexPort {
  readonly #sessions: IndexSessions;
  readonly #cells = new SharedCells();
  readonly #methods = new CodeMethodsCache();

  constructor(database: Database, thresholds: ReadThresholds = DEFAULT_THRESHOLDS) {
    this.#sessions = new IndexSessions(database, thresholds);
  }

  extent(options: IndexReadOptions) {
    return this.#read(options, readIndexExtent);
  }
  hasMcBlock(mc_seqno: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readHasMcBlock(session, mc_seqno));
  }
  blocks(filter: BlockFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readBlocks(session, filter, page));
  }
  shardState(mc_seqno: number, options: IndexReadOptions) {
    return this.#read(options, (session) => readShardState(session, mc_seqno));
  }
  transactions(filter: TransactionFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readIndexedTransactions(session, this.#cells, filter, page));
  }
  transactionsByMessage(filter: ByMessageFilter, page: Page, options: IndexReadOptions) {
    return this.#read(options, (session) => readTransactionsByMessage(session, this.#cells, filter, page));
  }
  adjacentTransactions(hash: Uint8Array, direction: MessageDirection | undefined, options: IndexReadOptions) {
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
