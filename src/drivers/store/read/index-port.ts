import type { Database, DatabaseReader } from '#drivers/store/database.js';
import { readAccounts, readAddressFacts, readTopAccounts } from '#drivers/store/read/accounts.js';
import { readActions, readActionsOfTraces } from '#drivers/store/read/actions.js';
import { readBlocks, readHasMcBlock, readIndexExtent, readShardState } from '#drivers/store/read/blocks.js';
import { readDnsRecords } from '#drivers/store/read/dns.js';
import {
  readChangedJettonWallets,
  readEndedTraces,
  readEndedTracesBy,
  readFinalTransactions,
  readSettledRows,
  readTouchedAccounts,
} from '#drivers/store/read/final-events.js';
import type { IndexReadOptions, Listed, Page } from '#drivers/store/read/index-types.js';
import { readJettonMasters, readJettonWallets } from '#drivers/store/read/jettons.js';
import { readMessages, readMessagesBesideHeld } from '#drivers/store/read/messages.js';
import {
  readMultisigOrders,
  readMultisigs,
  readOrdersOfMultisigs,
  readVestingContracts,
} from '#drivers/store/read/multisig-vesting.js';
import { readNftCollections, readNftItems, readNftSales } from '#drivers/store/read/nfts.js';
import { DEFAULT_THRESHOLDS, IndexSession, ReadCaches, type ReadThresholds } from '#drivers/store/read/session.js';
import {
  type IndexedTokenEvent,
  type ListedTokenKind,
  readTokenEvents,
  type TokenEventFilter,
} from '#drivers/store/read/token-events.js';
import {
  readTraces,
  readTransactionsOfTraces,
  readTransactionsOfTracesBesideHeld,
} from '#drivers/store/read/traces.js';
import {
  readAdjacentTransactions,
  readIndexedTransactions,
  readTransactionsBesideHeld,
  readTransactionsByMessage,
} from '#drivers/store/read/transactions.js';

/**
 * The reads of the index: name, order of the result, and the function that does it. Rows are found by 64-bit keys and then
 * compared with the whole value that was asked for, so no answer rests on 64 bits alone.
 */
const READS = {
  /** The lowest and the highest indexed masterchain block; null when there is none. */
  extent: readIndexExtent,
  /** Whether a masterchain block, with the shard blocks it commits, is indexed. */
  hasMcBlock: readHasMcBlock,
  /** By gen_utime; by start_lt when only a bound of lt is given; then by id. */
  blocks: readBlocks,
  /** The newest blocks of all shards as a masterchain block commits them, itself first; by workchain, shard, seqno. */
  shardState: readShardState,
  /** By lt, or by now and lt where a bound of time is given; then by id, ascending in both directions. */
  transactions: readIndexedTransactions,
  /** The same; those that the caller holds are not read again. */
  transactionsBesideHeld: readTransactionsBesideHeld,
  /** Transactions that sent or received a matching message, by lt. */
  transactionsByMessage: readTransactionsByMessage,
  /** Transactions that share a message with a transaction, by lt; null when there is no such transaction. */
  adjacentTransactions: readAdjacentTransactions,
  /** By created_lt (created_at where a bound of time is given), external-in messages as the greatest; then by hash. */
  messages: readMessages,
  /** The same; those that the caller holds are not read again. */
  messagesBesideHeld: readMessagesBesideHeld,
  /** By end_lt (end_utime where a bound of time is given), then by root. */
  traces: readTraces,
  /** The transactions of each trace by lt and account; none of a trace with more than `most` of them. */
  transactionsOfTraces: readTransactionsOfTraces,
  /** The same; those that the caller holds are not read again. */
  transactionsOfTracesBesideHeld: readTransactionsOfTracesBesideHeld,
  /** By the end of their traces, then in the order of the chain; within a trace by their ends. */
  actions: readActions,
  /** The actions of each trace that a client is shown, by start and end. */
  actionsOfTraces: readActionsOfTraces,
  /** Known accounts, in the order of the addresses that are asked for. */
  accounts: readAccounts,
  /** By balance, the greatest first. */
  topAccounts: readTopAccounts,
  /** Code, domains and token facts of addresses, in a few statements however many addresses there are. */
  addressFacts: readAddressFacts,
  /** By lt, or by now and lt where a bound of time is given; then by id, ascending in both directions. */
  tokenEvents: readTokenEvents,
  /** By id, that is, by their first transactions. */
  jettonMasters: readJettonMasters,
  /**
   * By id or balance; of several owners, by owner first; with addresses alone and not by balance, by address.
   */
  jettonWallets: readJettonWallets,
  /** By id. */
  nftCollections: readNftCollections,
  /** By owner, collection and index as far as these are given, else by id; or by lt. Items without a collection come last. */
  nftItems: readNftItems,
  /** Known sales and auctions, in the order of the addresses that are asked for. */
  nftSales: readNftSales,
  /** By the length of the domain, then its characters, then the address of the item; ascending. */
  dnsRecords: readDnsRecords,
  /** By id. */
  multisigs: readMultisigs,
  /** By id. */
  multisigOrders: readMultisigOrders,
  /** The first orders of some multisigs by id, ascending; together at most `most`. */
  ordersOfMultisigs: readOrdersOfMultisigs,
  /** By id, ascending. */
  vestingContracts: readVestingContracts,
  /** Complete traces by the masterchain block in which they ended, then by root. */
  endedTraces: readEndedTraces,
  /** Of these the ones with some roots or hashes. */
  endedTracesBy: readEndedTracesBy,
  /** Transactions of accounts by masterchain block, account and lt. */
  finalTransactions: readFinalTransactions,
  /** Accounts with transactions in a range of masterchain blocks. */
  touchedAccounts: readTouchedAccounts,
  /** By the masterchain block of the state that the row was read from, then by address. */
  changedJettonWallets: readChangedJettonWallets,
  /** What of a range of masterchain blocks is not derived yet. */
  settledRows: readSettledRows,
};

type Reads = typeof READS;
type ReadName = keyof Reads;
type ReadArguments<Read> = Read extends (session: IndexSession, ...args: infer Args) => unknown ? Args : never;

/**
 * All reads of the index, each with the arguments of its function in {@link READS} and then the limits of the read.
 *
 * @throws store/timeout, store/cursor, store/unreachable and others
 */
export type IndexPort = {
  readonly [Name in Exclude<ReadName, 'tokenEvents'>]: (
    ...args: [...ReadArguments<Reads[Name]>, options: IndexReadOptions]
  ) => ReturnType<Reads[Name]>;
} & {
  /** By lt, or by now and lt where a bound of time is given; then by id, ascending in both directions. */
  tokenEvents<Kind extends ListedTokenKind>(
    kind: Kind,
    filter: TokenEventFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedTokenEvent<Kind>>>;
};

type AnyRead = (...args: unknown[]) => Promise<unknown>;

function makePort(readOf: (name: ReadName) => AnyRead): IndexPort {
  const names = Object.keys(READS) as ReadName[];
  return Object.fromEntries(names.map((name) => [name, readOf(name)])) as unknown as IndexPort;
}

/** Reads the index from a database: each read on one connection, within the limits of its last argument. */
export function indexReads(
  database: Pick<Database, 'read'>,
  thresholds: ReadThresholds = DEFAULT_THRESHOLDS,
): IndexPort {
  const caches = new ReadCaches();
  return makePort((name) => {
    const read = READS[name] as (session: IndexSession, ...args: unknown[]) => Promise<unknown>;
    return (...args) => {
      const options = args.pop() as IndexReadOptions;
      const session = (reader: DatabaseReader) => new IndexSession(reader, caches, thresholds, options.signal);
      return database.read((reader) => read(session(reader), ...args), options);
    };
  });
}

/** The same reads, each made by `around`, which decides where from and may translate errors. */
export function wrapReads(around: (read: (reads: IndexPort) => Promise<unknown>) => Promise<unknown>): IndexPort {
  return makePort(
    (name) =>
      (...args) =>
        around((reads) => (reads[name] as AnyRead)(...args)),
  );
}
