import type { IndexReadOptions } from '#drivers/store/read/index-reads.js';
import type { Address } from '#formats/address/address.js';

/** What is known of some addresses. Keys are `Address.toRaw()`. */
export interface AddressFacts {
  /** Of those that have a state. */
  readonly accounts: ReadonlyMap<string, AddressAccount>;
  /** The shortest `.ton` or `.t.me` domain that an address owns and whose wallet it is; empty where they were not asked for. */
  readonly domains: ReadonlyMap<string, string>;
  /** Of tokens, and of the jetton masters of wallets that were asked for; empty where they were not asked for. */
  readonly tokens: ReadonlyMap<string, AddressTokens>;
}

export interface AddressAccount {
  /** Null: it has no code. */
  readonly code_hash: Uint8Array | null;
  /** Ids of its get methods, rising; of a library reference those of the library. Null: not known, or there is no table of them. */
  readonly methods: readonly number[] | null;
}

/** What an address is, as a token; by kind. */
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

/** What a token says of itself. */
export interface DescribedToken {
  /** Keys of TEP-64 and their texts; of a domain also `domain`. */
  readonly content: Readonly<Record<string, unknown>>;
  /** What was learned besides; null: nothing was looked for yet. */
  readonly metadata: StoredMetadata | null;
}

/** A row of `token_metadata`. */
export interface StoredMetadata {
  readonly uri: string | null;
  /** What the link leads to; null: it was not read. */
  readonly document: Readonly<Record<string, unknown>> | null;
  readonly override: Readonly<Record<string, unknown>> | null;
  /** The last attempt to read it failed. */
  readonly failed: boolean;
}

/** Which parts of {@link AddressFacts} are read besides accounts. */
export interface WantedFacts {
  readonly domains: boolean;
  readonly tokens: boolean;
}

/** Reads of what answers tell of the addresses that they name. */
export interface AddressReads {
  /** In a few statements, however many addresses there are. */
  addressFacts(addresses: readonly Address[], wanted: WantedFacts, options: IndexReadOptions): Promise<AddressFacts>;
}
