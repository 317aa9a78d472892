import type { IndexReadOptions, Listed, Page } from '#drivers/store/read/index-reads.js';
import type { Address } from '#formats/address/address.js';

/** The state that a contract was read in. */
export interface IndexedContract {
  readonly address: Address;
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

/** Content of a token: keys of TEP-64 and their texts. */
export type TokenTexts = Readonly<Record<string, string>>;

export interface IndexedJettonMaster extends IndexedContract {
  readonly total_supply: bigint;
  readonly mintable: boolean;
  readonly admin: Address | null;
  readonly content: TokenTexts;
  readonly jetton_wallet_code_hash: Uint8Array;
}

export interface IndexedJettonWallet extends IndexedContract {
  readonly balance: bigint;
  readonly owner: Address;
  /** The master. */
  readonly jetton: Address;
}

export interface IndexedNftCollection extends IndexedContract {
  readonly next_item_index: bigint;
  readonly owner: Address | null;
  readonly content: TokenTexts;
}

export interface IndexedNftItem extends IndexedContract {
  readonly init: boolean;
  readonly index: bigint;
  readonly collection_address: Address | null;
  readonly owner: Address | null;
  readonly content: TokenTexts;
  /** Null: it names none, or that is none (any more). */
  readonly collection: IndexedNftCollection | null;
  /** The sale or auction that owns the item and is of it. */
  readonly sale: ItemSale | null;
}

export interface ItemSale {
  readonly kind: 'sale' | 'auction';
  /** Whom the sale gives as owner. */
  readonly nft_owner: Address | null;
}

/** A contract that sells an item. */
export interface IndexedSale extends IndexedContract {
  readonly nft: Address | null;
  readonly nft_owner: Address | null;
  readonly marketplace: Address | null;
  /** Null of items that sell themselves. */
  readonly created_at: bigint | null;
  readonly details: FixedPriceDetails | AuctionDetails | TelemintDetails;
  readonly item: IndexedNftItem | null;
}

export interface FixedPriceDetails {
  readonly kind: 'sale';
  readonly is_complete: boolean;
  readonly full_price: bigint;
  readonly marketplace_fee_address: Address | null;
  readonly marketplace_fee: bigint;
  readonly royalty_address: Address | null;
  readonly royalty_amount: bigint;
}

export interface AuctionDetails {
  readonly kind: 'auction';
  readonly end_flag: boolean;
  readonly end_time: bigint;
  readonly last_bid: bigint;
  readonly last_member: Address | null;
  readonly min_step: bigint;
  readonly mp_fee_address: Address | null;
  readonly mp_fee_factor: bigint;
  readonly mp_fee_base: bigint;
  readonly royalty_fee_address: Address | null;
  readonly royalty_fee_factor: bigint;
  readonly royalty_fee_base: bigint;
  readonly max_bid: bigint;
  readonly min_bid: bigint;
  readonly last_bid_at: bigint;
  readonly is_canceled: boolean;
}

/** Null: the item has no such state or configuration of an auction now. */
export interface TelemintDetails {
  readonly kind: 'telemint';
  readonly token_name: string;
  readonly bidder_address: Address | null;
  readonly bid: bigint | null;
  readonly bid_ts: bigint | null;
  readonly min_bid: bigint | null;
  readonly end_time: bigint | null;
  readonly beneficiary_address: Address | null;
  readonly initial_min_bid: bigint | null;
  readonly max_bid: bigint | null;
  readonly min_bid_step: bigint | null;
  readonly min_extend_time: bigint | null;
  readonly duration: bigint | null;
  readonly royalty_numerator: bigint | null;
  readonly royalty_denominator: bigint | null;
  readonly royalty_destination: Address | null;
}

/** Filters AND together; an absent one filters nothing; a list is met by any of its items. An empty list is met by none. */
export interface JettonMasterFilter {
  readonly address?: readonly Address[] | undefined;
  readonly admin?: readonly Address[] | undefined;
}

export interface JettonWalletFilter {
  readonly address?: readonly Address[] | undefined;
  readonly owner?: readonly Address[] | undefined;
  readonly jetton?: readonly Address[] | undefined;
  readonly exclude_zero_balance?: boolean | undefined;
  /** By balance, in the direction of the page; else by id, which rises. */
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
  /** `owner` is whom the sale gives that owns an item; of others the owner. */
  readonly include_on_sale?: boolean | undefined;
  /** By the lt of the last transaction, the newest first. */
  readonly by_lt?: boolean | undefined;
}

/** Reads of jettons and NFTs; contracts that are not of their kind any more are left out. @throws as {@link IndexReads} */
export interface TokenReads {
  /** By id: as they were found. */
  jettonMasters(
    filter: JettonMasterFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedJettonMaster>>;
  /**
   * By id or balance; of owners by these first, one after the other; asked by nothing but addresses and not by balance, by
   * address.
   */
  jettonWallets(
    filter: JettonWalletFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedJettonWallet>>;
  /** By id. */
  nftCollections(
    filter: NftCollectionFilter,
    page: Page,
    options: IndexReadOptions,
  ): Promise<Listed<IndexedNftCollection>>;
  /** By owner, collection, index as far as they are asked for, else by id; or by lt. Those without a collection last. */
  nftItems(filter: NftItemFilter, page: Page, options: IndexReadOptions): Promise<Listed<IndexedNftItem>>;
  /** Those that there are, in the order of the addresses asked for. */
  nftSales(addresses: readonly Address[], options: IndexReadOptions): Promise<readonly IndexedSale[]>;
}
