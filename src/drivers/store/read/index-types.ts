import type { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import type { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import type { nftAuction } from '#domain/contracts/interfaces/nft-auction.js';
import type { nftCollection } from '#domain/contracts/interfaces/nft-collection.js';
import type { nftItem } from '#domain/contracts/interfaces/nft-item.js';
import type { nftSale } from '#domain/contracts/interfaces/nft-sale.js';
import type { telemintItem } from '#domain/contracts/interfaces/telemint-item.js';
import type { ContractValues, IndexedContract, IndexedRow } from '#drivers/store/read/contract-rows.js';
import type { ClassificationState } from '#drivers/store/write/actions.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Limits of a read. */
export interface IndexReadOptions {
  /** Aborted when the caller does not wait any more: the query is cancelled in the database. */
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. @see store/timeout */
  readonly timeoutMs: number;
}

/** Which part of an ordered list. */
export interface Page {
  readonly limit: number;
  /** Rows to skip; 0 where a cursor is given. */
  readonly offset: number;
  readonly sort: 'asc' | 'desc';
  /** As a previous page returned it: continues after its last row. */
  readonly cursor: string | null;
}

/** Rows of a page, and the cursor of the next one. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page; null when this is the last. */
  readonly next: string | null;
}

/** Inclusive bounds; undefined: none. */
export interface TimeBounds {
  readonly start_utime?: number | undefined;
  readonly end_utime?: number | undefined;
  readonly start_lt?: bigint | undefined;
  readonly end_lt?: bigint | undefined;
}

interface ShardPosition {
  readonly workchain: number;
  /** Unsigned. */
  readonly shard: bigint;
  readonly seqno: number;
}

/** A block. `mc_seqno` is that of the masterchain block that commits it. */
export interface IndexedBlock extends ShardPosition {
  readonly mc_seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
  readonly global_id: number;
  readonly version: number;
  readonly after_merge: boolean;
  readonly before_split: boolean;
  readonly after_split: boolean;
  readonly want_merge: boolean;
  readonly want_split: boolean;
  readonly key_block: boolean;
  readonly vert_seqno_incr: boolean;
  readonly flags: number;
  readonly gen_utime: number;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  readonly validator_list_hash_short: number;
  readonly gen_catchain_seqno: number;
  readonly min_ref_mc_seqno: number;
  readonly prev_key_block_seqno: number;
  readonly vert_seqno: number;
  /** Null for blocks of the masterchain. */
  readonly master_ref_seqno: number | null;
  readonly rand_seed: Uint8Array;
  readonly created_by: Uint8Array;
  readonly tx_count: number;
  readonly prev_blocks: readonly ShardPosition[];
}

/** An account state without code and data. */
export interface StateSummary {
  readonly status: AccountStatusName;
  readonly balance: bigint;
  /** By currency id; null: there are some, and no indexed block shows which. */
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
  readonly frozen_hash: Uint8Array | null;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

export type AccountStatusName = 'uninit' | 'active' | 'frozen' | 'nonexist';

/** What tells a row of `transactions` apart, and the trace that it belongs to, which is all of it that may still change. */
export interface TransactionKeys {
  readonly id: bigint;
  readonly hash_key: bigint;
  readonly trace_root: bigint;
}

/** A transaction that the caller of a read holds already, so that its cells need not be read. */
export interface HeldTransaction extends TransactionKeys {
  readonly account: Address;
  readonly hash: Uint8Array;
}

export interface HeldTransactions {
  find(keys: TransactionKeys): HeldTransaction | undefined;
}

/** A transaction: its cells, and what they do not contain. */
export interface IndexedTransaction extends TransactionKeys {
  /** Seqno of the masterchain block that commits it. */
  readonly mc_seqno: number;
  /** Its block. */
  readonly block: ShardPosition;
  /** Of the configuration at that block. */
  readonly global_version: number;
  /** Hash of the root transaction; null while the trace is not known. */
  readonly trace_id: Uint8Array | null;
  /** `Transaction` */
  readonly cell: Cell;
  /** Null where no block contains it: between transactions of one account in one block, or before the indexed history. */
  readonly state_before: StateSummary | null;
  readonly state_after: StateSummary | null;
  /** Nothing but the trace can change in what is told here: no state becomes known when older blocks are indexed. */
  readonly isFinal: boolean;
}

/** A message, with the cells of its sender's and receiver's transactions. */
export interface IndexedMessage {
  readonly hash: Uint8Array;
  /** The transaction that sent it; null when there is none or it is not indexed. */
  readonly sent_by: IndexedTransactionCells | null;
  /** The transaction that received it; null when there is none or it is not indexed. */
  readonly received_by: IndexedTransactionCells | null;
  /** Of the configuration at the transaction that it is read from. */
  readonly global_version: number;
  /** Index from 0 among the out-messages of its sender; null when it is read from its receiver. */
  readonly out_index: number | null;
}

/** What filters compare of a message. */
export interface MessageFacts {
  readonly hash: Uint8Array;
  /** Its hash, and of an external-in message also the normalized one (TEP-467). */
  readonly hashes: readonly Uint8Array[];
  readonly bodyHash: Uint8Array;
  readonly isExternalIn: boolean;
  readonly isExternalOut: boolean;
  readonly source: Address | null;
  readonly destination: Address | null;
  /** The first 32 bits of the body, unsigned; null where it is shorter or no ordinary cell. */
  readonly opcode: number | null;
}

/** What tells a row of `messages` apart, and the transactions that the message is in. */
export interface MessageKeys {
  readonly tx_id: bigint;
  /** `hash_key` of that transaction; null where the caller holds no messages. */
  readonly tx_hash_key: bigint | null;
  readonly position: number;
  readonly msg_key: bigint;
  /** Of each transaction that received a message with this key its id and its `hash_key`, one after the other. */
  readonly received: readonly bigint[];
}

/** A message of the index that was read, to be held. */
export interface ReadMessage extends IndexedMessage {
  readonly keys: MessageKeys;
  readonly facts: MessageFacts;
}

/** A message that the caller of a read holds already, so that its cells need not be read. */
export interface HeldMessage {
  readonly facts: MessageFacts;
  /** Whether a receiver was read with it. */
  readonly isReceived: boolean;
}

/** Messages that were read for lists of one direction. */
export interface HeldMessages {
  find(keys: MessageKeys): HeldMessage | undefined;
}

export interface IndexedTransactionCells {
  readonly id: bigint;
  /** `Transaction` */
  readonly cell: Cell;
}

export type IndexedTraceState = 'complete' | 'pending' | 'broken';

/** A trace; its transactions are read with `transactionsOfTraces`. */
export interface IndexedTrace {
  readonly root: bigint;
  readonly trace_id: Uint8Array;
  readonly mc_seqno_start: number;
  readonly mc_seqno_end: number;
  readonly start_lt: bigint;
  readonly start_utime: number;
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly nodes: number;
  readonly edges: number;
  readonly pending_edges: number;
  readonly state: IndexedTraceState;
  readonly classification_state: ClassificationState;
}

/** The newest indexed state of an account. */
export interface IndexedAccount extends StateSummary {
  readonly address: Address;
  readonly extra_currencies: ReadonlyMap<number, bigint>;
  readonly state_hash: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  /** BoC; null without data, and when not requested. */
  readonly data_boc: Uint8Array | null;
  /** BoC; null without code, and when not requested. */
  readonly code_boc: Uint8Array | null;
  /** Whether a part of data or code is not known yet. */
  readonly incomplete: boolean;
}

/** Filters are combined with AND; an absent one filters nothing; a list matches any of its items, an empty list nothing. */
export interface BlockFilter extends TimeBounds {
  readonly workchain?: number | undefined;
  /** Unsigned. */
  readonly shard?: bigint | undefined;
  readonly seqno?: number | undefined;
  readonly root_hash?: Uint8Array | undefined;
  readonly file_hash?: Uint8Array | undefined;
  readonly mc_seqno?: number | undefined;
  /** True: no blocks of the masterchain. */
  readonly shards_only?: boolean | undefined;
}

/** `*_utime` bound `now`. */
export interface TransactionFilter extends TimeBounds {
  readonly workchain?: number | undefined;
  /** Unsigned. */
  readonly shard?: bigint | undefined;
  readonly seqno?: number | undefined;
  readonly mc_seqno?: number | undefined;
  readonly account?: readonly Address[] | undefined;
  readonly exclude_account?: readonly Address[] | undefined;
  readonly hash?: readonly Uint8Array[] | undefined;
  readonly lt?: bigint | undefined;
  /** True: without tick-tock transactions, and those of special messages. */
  readonly exclude_system?: boolean | undefined;
}

export type MessageDirection = 'in' | 'out';

/** A transaction is listed once when one of its messages matches all filters. */
export interface ByMessageFilter {
  /** The hash, or the normalized hash of an external-in message (TEP-467). */
  readonly msg_hash?: readonly Uint8Array[] | undefined;
  readonly body_hash?: Uint8Array | undefined;
  /** The first 32 bits of the body, unsigned; of in-messages only. */
  readonly opcode?: number | undefined;
  readonly source?: Address | undefined;
  readonly destination?: Address | undefined;
  /** `in`: transactions that received the message; `out`: transactions that sent it; absent: both. */
  readonly direction?: MessageDirection | undefined;
}

/** `*_utime` bound `created_at`, `*_lt` bound `created_lt`; external-in messages have neither. */
export interface MessageFilter extends TimeBounds {
  /** The hash, or the normalized hash of an external-in message (TEP-467). */
  readonly msg_hash?: readonly Uint8Array[] | undefined;
  readonly body_hash?: Uint8Array | undefined;
  /** `null`: external-in messages, which have no source. */
  readonly source?: Address | null | undefined;
  /** `null`: external-out messages, which have no destination. */
  readonly destination?: Address | null | undefined;
  readonly opcode?: number | undefined;
  /** `in`: received by an indexed transaction; `out`: sent by one. */
  readonly direction?: MessageDirection | undefined;
  readonly exclude_externals?: boolean | undefined;
  readonly only_externals?: boolean | undefined;
  /** True: without special messages, by which masterchain blocks pay validators and mint. */
  readonly exclude_system?: boolean | undefined;
}

/** `*_utime` bound `end_utime`, `*_lt` bound `end_lt`. */
export interface TraceFilter extends TimeBounds {
  readonly account?: Address | undefined;
  readonly trace_id?: readonly Uint8Array[] | undefined;
  readonly tx_hash?: readonly Uint8Array[] | undefined;
  /** The hash or the normalized hash of any message in the trace. */
  readonly msg_hash?: readonly Uint8Array[] | undefined;
  /** Complete traces that ended in blocks of this masterchain block. */
  readonly mc_seqno?: number | undefined;
  /** True: without traces that begin with a tick-tock transaction or a special message. */
  readonly exclude_system?: boolean | undefined;
}

export interface AccountFilter {
  readonly address: readonly Address[];
  readonly code_hash?: readonly Uint8Array[] | undefined;
}

/** The first and the last indexed masterchain block. */
export interface IndexExtent {
  readonly first: IndexedBlock;
  readonly last: IndexedBlock;
}

/** A jetton. */
export type IndexedJettonMaster = IndexedRow<typeof jettonMaster>;

/** A jetton wallet; `jetton` is its master. */
export type IndexedJettonWallet = IndexedRow<typeof jettonWallet>;

export type IndexedNftCollection = IndexedRow<typeof nftCollection>;

export interface IndexedNftItem extends Omit<IndexedRow<typeof nftItem>, 'collection'> {
  readonly collection_address: Address | null;
  /** Null: there is none, or it is not a verified collection (any more). */
  readonly collection: IndexedNftCollection | null;
  /** The sale or auction that owns the item and refers to it. */
  readonly sale: ItemSale | null;
}

interface ItemSale {
  readonly kind: 'sale' | 'auction';
  /** The owner that the sale names. */
  readonly nft_owner: Address | null;
}

/** A contract that sells an NFT item. */
export interface IndexedSale extends IndexedContract {
  readonly nft: Address | null;
  readonly nft_owner: Address | null;
  readonly marketplace: Address | null;
  /** Null for telemint items, which sell themselves. */
  readonly created_at: bigint | null;
  readonly details:
    | ({ readonly kind: 'sale' } & ContractValues<typeof nftSale>)
    | ({ readonly kind: 'auction' } & ContractValues<typeof nftAuction>)
    | ({ readonly kind: 'telemint' } & ContractValues<typeof telemintItem>);
  readonly item: IndexedNftItem | null;
}

/** Filters are combined with AND; an absent one filters nothing; a list matches any of its items, an empty list nothing. */
export interface JettonMasterFilter {
  readonly address?: readonly Address[] | undefined;
  readonly admin?: readonly Address[] | undefined;
}

export interface JettonWalletFilter {
  readonly address?: readonly Address[] | undefined;
  readonly owner?: readonly Address[] | undefined;
  readonly jetton?: readonly Address[] | undefined;
  readonly exclude_zero_balance?: boolean | undefined;
  /** By balance in the direction of the page; else by ascending id. */
  readonly by_balance?: boolean | undefined;
}

export interface NftCollectionFilter {
  readonly address?: readonly Address[] | undefined;
  readonly owner?: readonly Address[] | undefined;
}

export interface NftItemFilter {
  readonly address?: readonly Address[] | undefined;
  readonly owner?: readonly Address[] | undefined;
  readonly collection?: readonly Address[] | undefined;
  /** Only with `collection`. */
  readonly index?: readonly bigint[] | undefined;
  /** `owner` matches the owner that a sale names, for items that a sale owns. */
  readonly include_on_sale?: boolean | undefined;
  /** By the lt of the last transaction, newest first. */
  readonly by_lt?: boolean | undefined;
}

/** Known facts about some addresses. Keys are `Address.toRaw()`. */
export interface AddressFacts {
  /** Addresses with an account state. */
  readonly accounts: ReadonlyMap<string, AddressAccount>;
  /** The shortest `.ton` or `.t.me` domain that an address owns and whose wallet record it is; empty when not requested. */
  readonly domains: ReadonlyMap<string, string>;
  /** Token contracts, and jetton masters of jetton wallets, among the addresses; empty when not requested. */
  readonly tokens: ReadonlyMap<string, AddressTokens>;
}

export interface AddressAccount {
  /** Null: it has no code. */
  readonly code_hash: Uint8Array | null;
  /** Ids of its get methods, ascending; of a library reference those of the library. Null: not known, or there is no table of methods. */
  readonly methods: readonly number[] | null;
}

/** What an address is as a token, by kind. */
export interface AddressTokens {
  readonly address: Address;
  readonly tokens: readonly TokenFacts[];
}

export type TokenFacts =
  | {
      readonly kind: 'jetton_wallets';
      readonly balance: bigint;
      readonly owner: Address;
      readonly jetton: Address;
    }
  | ({ readonly kind: 'jetton_masters' | 'nft_collections' } & DescribedToken)
  | ({ readonly kind: 'nft_items'; readonly index: bigint } & DescribedToken);

/** On-chain content and metadata of a token. */
export interface DescribedToken {
  /** Keys of TEP-64 and their texts; of a DNS item also `domain`. */
  readonly content: Readonly<Record<string, unknown>>;
  /** Off-chain metadata; null: not fetched yet. */
  readonly metadata: StoredMetadata | null;
}

/** A row of `token_metadata`. */
export interface StoredMetadata {
  readonly uri: string | null;
  /** The document behind the link; null: not fetched. */
  readonly document: Readonly<Record<string, unknown>> | null;
  readonly override: Readonly<Record<string, unknown>> | null;
  /** The last attempt to fetch it failed. */
  readonly failed: boolean;
}

/** Which parts of {@link AddressFacts} are read in addition to accounts. */
export interface WantedFacts {
  readonly domains: boolean;
  readonly tokens: boolean;
}
