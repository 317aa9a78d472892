import type { DnsRecords } from '#domain/contracts/dns-records.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** A jetton, as its master contract describes it (TEP-74: `get_jetton_data`). */
export interface JettonMasterData {
  readonly contract_type: 'jetton_master';
  readonly address: Address;
  /** In the smallest units. */
  readonly total_supply: bigint;
  readonly mintable: boolean;
  /** Null: nobody. */
  readonly admin_address: Address | null;
  readonly jetton_content: TokenContent;
  readonly jetton_wallet_code: Cell;
}

/** Someone's jettons (TEP-74: `get_wallet_data`); the master says that it is the owner's wallet. */
export interface JettonWalletData {
  readonly contract_type: 'jetton_wallet';
  readonly address: Address;
  /** In the smallest units. */
  readonly balance: bigint;
  readonly owner: Address;
  /** The master. */
  readonly jetton: Address;
  readonly jetton_wallet_code: Cell;
  /** Of a mintless jetton: whether the airdrop was claimed. Null: the contract has no `is_claimed`. */
  readonly mintless_is_claimed: boolean | null;
}

/** A collection of NFTs (TEP-62: `get_collection_data`). */
export interface NftCollectionData {
  readonly contract_type: 'nft_collection';
  readonly address: Address;
  /** -1: items are not numbered one after the other. */
  readonly next_item_index: bigint;
  /** Null: nobody. */
  readonly owner_address: Address | null;
  readonly collection_content: TokenContent;
}

/** An NFT (TEP-62: `get_nft_data`); its collection, if there is one, says that it is the item of that index. */
export interface NftItemData {
  readonly contract_type: 'nft_item';
  readonly address: Address;
  readonly init: boolean;
  readonly index: bigint;
  /** Null: it stands alone. */
  readonly collection_address: Address | null;
  /** Null: nobody. */
  readonly owner_address: Address | null;
  readonly content: TokenContent | DomainContent;
}

/** Content of an NFT that is a domain. */
export interface DomainContent {
  readonly type: 'domain';
  /** `alice.ton`; empty when the contract does not tell it. */
  readonly domain: string;
  readonly records: DnsRecords;
}

/** What a token contract tells of itself. */
export type TokenData = JettonMasterData | JettonWalletData | NftCollectionData | NftItemData;
