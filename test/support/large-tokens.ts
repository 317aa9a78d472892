import type { ClientBase } from 'pg';
import { Address } from '#formats/address/address.js';
import { sha256 } from '#formats/cells/digests.js';
import { toHex } from '#kernel/bytes.js';

/** An address of {@link fillTokens}. */
export function tokenAddress(text: string): Address {
  return Address.ofParts(0, sha256(new TextEncoder().encode(text)));
}

/** Who has much: a third of all wallets, items, or of those of a jetton or collection. */
export const GREAT = {
  owner: tokenAddress('great owner'),
  jetton: tokenAddress('great jetton'),
  collection: tokenAddress('great collection'),
  /** Of items on sale, by whom the sales say. */
  seller: tokenAddress('great seller'),
} as const;

const literal = ({ hash }: Address) => `'\\x00${toHex(hash)}'::bytea`;
const address = (text: string) => `('\\x00'::bytea || sha256((${text})::text::bytea))`;
const STATE = 'id, address, lapsed, last_trans_lt, mc_seqno, code_hash, data_hash';
const state = (kind: string) =>
  `n, ${address(`'${kind}' || n`)}, CASE WHEN n % 100 = 99 THEN 'changed' END, n::bigint * 7919 % 1000003 + n, n / 100, sha256('code'), sha256(n::text::bytea)`;

/**
 * Fills the tables of tokens with so many jetton wallets and as many items. Half of the wallets are empty. One owner has a
 * third of all, one jetton or collection another third, and the rest are spread over many.
 */
export async function fillTokens(client: ClientBase, count: number): Promise<void> {
  // Indexes are quicker made of what is there.
  const { rows: indexes } = await client.query<{ name: string; text: string }>(
    `SELECT indexname AS name, indexdef AS text FROM pg_indexes
     WHERE tablename IN ('jetton_wallets', 'nft_items') AND indexname NOT LIKE '%_pkey'`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  const rows = `FROM generate_series(1, ${count}) n`;
  const few = `FROM generate_series(0, ${Math.ceil(count / 100)}) n`;
  await client.query(
    `INSERT INTO jetton_masters (${STATE}, total_supply, mintable, admin, content, jetton_wallet_code_hash)
     SELECT ${state('jetton')}, n, true, CASE WHEN n % 3 = 0 THEN ${literal(GREAT.owner)} ELSE ${address(`'owner' || n`)} END,
       '{"name": "Jetton"}', sha256('wallet') ${few}`,
  );
  await client.query(
    `INSERT INTO nft_collections (${STATE}, next_item_index, owner, content)
     SELECT ${state('collection')}, n, CASE WHEN n % 3 = 0 THEN ${literal(GREAT.owner)} ELSE ${address(`'owner' || n`)} END,
       '{"uri": "https://example.com"}' ${few}`,
  );
  // Of each pair of an owner and a jetton there is one wallet.
  await client.query(
    `INSERT INTO jetton_wallets (${STATE}, balance, owner, jetton)
     SELECT ${state('wallet')}, CASE WHEN n % 2 = 0 THEN 0 ELSE n * 31 END,
       CASE n % 3 WHEN 0 THEN ${literal(GREAT.owner)} ELSE ${address(`'owner' || n % ${Math.ceil(count / 4)}`)} END,
       CASE n % 3 WHEN 1 THEN ${literal(GREAT.jetton)} ELSE ${address(`'jetton' || n % ${Math.ceil(count / 2)}`)} END ${rows}`,
  );
  await client.query(
    `INSERT INTO nft_items (${STATE}, init, index, collection, owner, content, real_owner)
     SELECT ${state('item')}, true, n,
       CASE WHEN n % 50 = 3 THEN NULL WHEN n % 3 = 1 OR n % 6 = 0 THEN ${literal(GREAT.collection)}
         ELSE ${address(`'collection' || n % ${Math.ceil(count / 100)}`)} END,
       CASE n % 3 WHEN 0 THEN ${literal(GREAT.owner)} ELSE ${address(`'owner' || n % ${Math.ceil(count / 4)}`)} END,
       '{"uri": "https://example.com/item.json"}',
       CASE n % 3 WHEN 0 THEN ${literal(GREAT.owner)} WHEN 1 THEN ${literal(GREAT.seller)}
         ELSE ${address(`'owner' || n % ${Math.ceil(count / 4)}`)} END ${rows}`,
  );
  await client.query(
    `INSERT INTO nft_sales (${STATE}, is_complete, created_at, nft, nft_owner, full_price, marketplace_fee, royalty_amount)
     SELECT ${state('sale')}, false, n, ${address(`'item' || n`)}, ${literal(GREAT.seller)}, 1000000000, 0, 0 ${few}`,
  );
  for (const { text } of indexes) await client.query(text);
  await client.query('VACUUM ANALYZE jetton_masters, nft_collections, jetton_wallets, nft_items, nft_sales');
}
