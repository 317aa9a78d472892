import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { addressText, decimal, hashText } from '#api/v3/serialize/texts.js';
import { contentText, maybe } from '#api/v3/serialize/token-members.js';
import type { IndexedNftCollection, IndexedNftItem } from '#drivers/store/read/indexed-tokens.js';
import type { Address } from '#formats/address/address.js';

/** A collection as `/nft/collections` shows it. The answer names it and its owner. */
export function nftCollectionText(
  collection: IndexedNftCollection,
  dialect: Dialect,
  addresses: AddressCollector,
): string {
  return collectionMembers(collection, dialect, (address) => addresses.add(address));
}

function collectionMembers(
  collection: IndexedNftCollection,
  { nullable }: Dialect,
  text: (address: Address) => string,
): string {
  const { address, owner, last_trans_lt, next_item_index, content, data_hash, code_hash } = collection;
  return (
    `{"address":${text(address)}${nullable('owner_address', maybe(owner, text))}` +
    `,"last_transaction_lt":${decimal(last_trans_lt)},"next_item_index":${decimal(next_item_index)}` +
    nullable('collection_content', contentText(content)) +
    nullable('data_hash', maybe(data_hash, hashText)) +
    `${nullable('code_hash', maybe(code_hash, hashText))}}`
  );
}

/** An item as `/nft/items` shows it. The answer names it, its collection and its owner. */
export function nftItemText(item: IndexedNftItem, dialect: Dialect, addresses: AddressCollector): string {
  const { nullable } = dialect;
  const { address, init, index, collection_address, owner, content, code_hash, data_hash, collection, sale } = item;
  const named = (value: Address) => addresses.add(value);
  const seller = (kind: 'sale' | 'auction') => (sale?.kind === kind ? maybe(owner, addressText) : null);
  return (
    `{"address":${named(address)},"init":${init},"index":${decimal(index)}` +
    nullable('collection_address', maybe(collection_address, named)) +
    nullable('owner_address', maybe(owner, named)) +
    nullable('content', contentText(content)) +
    `,"last_transaction_lt":${decimal(item.last_trans_lt)}` +
    nullable('code_hash', maybe(code_hash, hashText)) +
    nullable('data_hash', maybe(data_hash, hashText)) +
    nullable(
      'collection',
      maybe(collection, (value) => collectionMembers(value, dialect, addressText)),
    ) +
    `,"on_sale":${sale !== null}` +
    optional('sale_contract_address', seller('sale')) +
    optional('auction_contract_address', seller('auction')) +
    `${optional('real_owner', maybe(sale?.nft_owner ?? null, addressText))}}`
  );
}
