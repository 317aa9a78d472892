import { MethodResult } from '#domain/contracts/method-result.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** Results of `get_collection_data` (TEP-62). */
export interface NftCollectionFields {
  /** -1: items are not numbered one after the other. */
  readonly next_item_index: bigint;
  readonly collection_content: Cell;
  /** Null: nobody. */
  readonly owner_address: Address | null;
}

/** Results of `get_nft_data` (TEP-62). */
export interface NftItemFields {
  readonly init: boolean;
  readonly index: bigint;
  /** Null: it stands alone. */
  readonly collection_address: Address | null;
  /** Null: nobody. */
  readonly owner_address: Address | null;
  /** Its own part of the content; of an item without collection all of it. Null: it has none yet. */
  readonly individual_content: Cell | null;
}

/**
 * `(int next_item_index, cell collection_content, slice owner_address) get_collection_data()`
 * @throws contract-data/method-result, cells/*, tlb/* when they are not of that form
 */
export function nftCollectionOf(stack: VmStack): NftCollectionFields {
  const result = new MethodResult('get_collection_data', stack, 3);
  return {
    next_item_index: result.int(),
    collection_content: result.cell(),
    owner_address: result.accountOrNull(),
  };
}

/**
 * `(int init?, int index, slice collection_address, slice owner_address, cell individual_content) get_nft_data()`
 * @throws as {@link nftCollectionOf}
 */
export function nftItemOf(stack: VmStack): NftItemFields {
  const result = new MethodResult('get_nft_data', stack, 5);
  return {
    init: result.int() !== 0n,
    index: result.int(),
    collection_address: result.accountOrNull(),
    owner_address: result.accountOrNull(),
    individual_content: result.cellOrNull(),
  };
}

/** `slice get_nft_address_by_index(int index)` @throws as {@link nftCollectionOf} */
export function itemAddressOf(stack: VmStack): Address {
  return new MethodResult('get_nft_address_by_index', stack, 1).account();
}

/** `cell get_nft_content(int index, cell individual_content)` @throws as {@link nftCollectionOf} */
export function itemContentOf(stack: VmStack): Cell {
  return new MethodResult('get_nft_content', stack, 1).cell();
}
