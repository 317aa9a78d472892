import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/**
 * What contracts were at the end of the trace; what they were before it, if the trace destroyed them. Undefined: not looked up, so
 * the classification asks for it; null: the account has none of these interfaces.
 */
export interface TraceFacts {
  contract(address: Address): ContractFacts | null | undefined;
  /** Data of the account at the end of the trace; null: it has none. */
  data(address: Address): Cell | null | undefined;
}

/** The interfaces of a contract with their data. Amounts are in nanotons. */
export interface ContractFacts {
  /** Hash of the code cell, which may be a library reference. */
  readonly code_hash: Uint8Array | null;
  readonly jetton_wallet?: JettonWalletFacts | null;
  readonly nft_item?: NftItemFacts | null;
  readonly nft_sale?: NftSaleFacts | null;
  readonly nft_auction?: NftAuctionFacts | null;
  readonly multisig_order?: { readonly multisig: Address; readonly signers: readonly Address[] } | null;
  /** A pool of the elector with nominators. */
  readonly nominator_pool?: boolean | null;
  readonly dex_pool?: DexPoolFacts | null;
}
/** An interface that facts know. */
export type FactInterface = Exclude<keyof ContractFacts, 'code_hash'>;

interface JettonWalletFacts {
  readonly owner: Address;
  /** The master that confirms the wallet. */
  readonly jetton: Address;
}

export interface NftItemFacts {
  readonly index: bigint;
  readonly collection: Address | null;
  readonly owner: Address | null;
  /** Link in its content. */
  readonly content_uri: string | null;
}

/** A sale at a fixed price. */
interface NftSaleFacts {
  readonly nft: Address;
  readonly nft_owner: Address | null;
  readonly marketplace: Address | null;
  readonly full_price: bigint;
}

interface NftAuctionFacts {
  readonly nft: Address;
  readonly nft_owner: Address | null;
  readonly marketplace: Address | null;
  readonly last_bid: bigint | null;
}

/** The assets of a pool; null is TON. */
interface DexPoolFacts {
  readonly dex: string;
  readonly asset_1: Address | null;
  readonly asset_2: Address | null;
}

/** Something that the classification of a trace needs to know. */
export interface FactRequest {
  readonly address: Address;
  readonly what: 'contract' | 'data';
}
