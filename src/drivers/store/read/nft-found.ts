import { addressOfBytes } from '#drivers/store/keys.js';
import { CONTRACT_FOUND, type ContractFound, contractOf, maybeAddress } from '#drivers/store/read/contract-found.js';
import type { IndexedNftCollection, IndexedNftItem, TokenTexts } from '#drivers/store/read/indexed-tokens.js';
import { raw, type Sql, sql } from '#drivers/store/read/sql.js';

export interface CollectionFound extends ContractFound {
  readonly next_item_index: bigint;
  readonly owner: Uint8Array | null;
  readonly content: TokenTexts;
}

export const COLLECTION_FOUND: Sql = sql`${CONTRACT_FOUND}, t.next_item_index, t.owner, t.content`;

export function collectionOf({ next_item_index, owner, content, ...row }: CollectionFound): IndexedNftCollection {
  return { ...contractOf(row), next_item_index, owner: maybeAddress(owner), content };
}

export interface ItemFound extends ContractFound {
  readonly init: boolean;
  readonly index: bigint;
  readonly collection: Uint8Array | null;
  readonly owner: Uint8Array | null;
  readonly real_owner: Uint8Array | null;
  readonly content: TokenTexts;
  readonly collection_id: bigint | null;
  readonly collection_last_trans_lt: bigint;
  readonly collection_code_hash: Uint8Array | null;
  readonly collection_data_hash: Uint8Array | null;
  readonly collection_next_item_index: bigint;
  readonly collection_owner: Uint8Array | null;
  readonly collection_content: TokenTexts;
  readonly sale_kind: 'sale' | 'auction' | null;
  readonly sale_owner: Uint8Array | null;
}

/** Of an item with {@link ITEM_JOINS}. */
export const ITEM_FOUND: Sql = sql`${CONTRACT_FOUND}, t.init, t.index, t.collection, t.owner, t.real_owner, t.content,
  c.id AS collection_id, c.last_trans_lt AS collection_last_trans_lt, c.code_hash AS collection_code_hash,
  c.data_hash AS collection_data_hash, c.next_item_index AS collection_next_item_index, c.owner AS collection_owner,
  c.content AS collection_content, s.kind AS sale_kind, s.nft_owner AS sale_owner`;

/** The collection of the item `t`, and the contract that sells it. */
export const ITEM_JOINS: Sql = raw(`
  LEFT JOIN LATERAL (
    SELECT * FROM nft_collections c WHERE c.address = t.collection AND c.lapsed IS NULL LIMIT 1
  ) AS c ON true
  LEFT JOIN LATERAL (
    SELECT 'sale' AS kind, s.nft_owner FROM nft_sales s
    WHERE s.address = t.owner AND s.nft = t.address AND s.lapsed IS NULL
    UNION ALL
    SELECT 'auction', s.nft_owner FROM nft_auctions s
    WHERE s.address = t.owner AND s.nft = t.address AND s.lapsed IS NULL
    LIMIT 1
  ) AS s ON true`);

export function itemOf(row: ItemFound): IndexedNftItem {
  const { init, index, collection, owner, content, sale_kind } = row;
  return {
    ...contractOf(row),
    ...{ init, index, content, collection_address: maybeAddress(collection), owner: maybeAddress(owner) },
    collection:
      collection === null || row.collection_id === null
        ? null
        : {
            address: addressOfBytes(collection),
            last_trans_lt: row.collection_last_trans_lt,
            code_hash: row.collection_code_hash,
            data_hash: row.collection_data_hash,
            next_item_index: row.collection_next_item_index,
            owner: maybeAddress(row.collection_owner),
            content: row.collection_content,
          },
    sale: sale_kind === null ? null : { kind: sale_kind, nft_owner: maybeAddress(row.sale_owner) },
  };
}
