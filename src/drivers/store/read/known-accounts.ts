import type { QueryResultRow } from 'pg';
import type { DatabaseReader } from '#drivers/store/database.js';

/** The newest indexed masterchain block, as of which accounts are looked up. */
export interface IndexHeadBlock {
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** What the index knows of an account. */
export interface AccountKnowledge {
  readonly address: Uint8Array;
  /** Whether its whole state is known, or that it does not exist. */
  readonly known: boolean;
  /** Whether it was looked up and did not exist, and no block since says otherwise. */
  readonly absent: boolean;
  /** Whether it waits for its first contract detection. */
  readonly undetected: boolean;
}

interface KnowledgeRow extends QueryResultRow {
  readonly address: Uint8Array;
  readonly known: boolean;
  readonly absent: boolean;
  readonly undetected: boolean;
}

/** The newest indexed masterchain block; null: none. */
export async function readIndexHeadBlock(reader: DatabaseReader): Promise<IndexHeadBlock | null> {
  const [row] = await reader.query<IndexHeadBlock & QueryResultRow>({
    name: 'index-head-block',
    text: `SELECT b.seqno, b.root_hash, b.file_hash FROM index_state s JOIN blocks b ON b.id = (upper(s.rounds) - 1)::bigint << 24`,
  });
  return row ?? null;
}

/**
 * What the index knows of accounts. One that did not exist as of a block does not exist at the head if all blocks between them are
 * indexed: each transaction that creates an account gives it a row.
 */
export function readAccountKnowledge(
  reader: DatabaseReader,
  addresses: readonly Uint8Array[],
): Promise<readonly AccountKnowledge[]> {
  return reader.query<KnowledgeRow>({
    name: 'account-knowledge',
    text: `SELECT k.address, coalesce(NOT a.incomplete, n.address IS NOT NULL) AS known,
             a.address IS NULL AND n.address IS NOT NULL AS absent,
             q.address IS NOT NULL AND c.address IS NULL AS undetected
           FROM unnest($1::bytea[]) AS k(address)
           LEFT JOIN LATERAL (
             SELECT a.address, a.incomplete FROM accounts a WHERE a.address = k.address LIMIT 1
           ) a ON true
           LEFT JOIN LATERAL (
             SELECT n.address FROM absent_accounts n, index_state s
             WHERE n.address = k.address AND s.rounds @> int4range(n.mc_seqno, upper(s.rounds)) LIMIT 1
           ) n ON true
           LEFT JOIN LATERAL (
             SELECT q.address FROM contract_queue q WHERE q.address = k.address AND q.attempts = 0 LIMIT 1
           ) q ON true
           LEFT JOIN LATERAL (SELECT c.address FROM contracts c WHERE c.address = k.address LIMIT 1) c ON true`,
    values: [addresses],
  });
}

/** A jetton wallet by its owner and master. */
export interface OwnerAndJetton {
  readonly owner: Uint8Array;
  readonly jetton: Uint8Array;
}

/** Which of these owners have a known wallet of the jetton: their positions. */
export async function knownJettonWallets(
  reader: DatabaseReader,
  pairs: readonly OwnerAndJetton[],
): Promise<ReadonlySet<number>> {
  const rows = await reader.query<{ n: bigint }>({
    name: 'known-jetton-wallets',
    text: `SELECT k.n FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS k(owner, jetton, n)
           CROSS JOIN LATERAL (
             SELECT t.address FROM jetton_wallets t
             WHERE t.owner = k.owner AND t.jetton = k.jetton AND t.lapsed IS NULL AND t.jetton > '' LIMIT 1
           ) t`,
    values: [pairs.map(({ owner }) => owner), pairs.map(({ jetton }) => jetton)],
  });
  return new Set(rows.map(({ n }) => Number(n) - 1));
}

/** An NFT item by its collection and its index there. */
export interface CollectionAndIndex {
  readonly collection: Uint8Array;
  readonly index: bigint;
}

/** Of these items the known ones: the address of each by its position. */
export async function knownNftItems(
  reader: DatabaseReader,
  places: readonly CollectionAndIndex[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const rows = await reader.query<{ n: bigint; address: Uint8Array }>({
    name: 'known-nft-items',
    text: `SELECT k.n, t.address FROM unnest($1::bytea[], $2::numeric[]) WITH ORDINALITY AS k(collection, index, n)
           CROSS JOIN LATERAL (
             SELECT t.address FROM nft_items t
             WHERE t.collection = k.collection AND t.index = k.index AND t.lapsed IS NULL AND t.id > 0
             ORDER BY t.id LIMIT 1
           ) t`,
    values: [places.map(({ collection }) => collection), places.map(({ index }) => index)],
  });
  return new Map(rows.map(({ n, address }) => [Number(n) - 1, address]));
}

/**
 * Contracts that the rows of contracts name and that answers show with them: the master of a jetton wallet, collection and owner of an
 * NFT item (which may be a sale), the item of a sale or auction, the multisig of an order.
 */
export async function relatedContracts(
  reader: DatabaseReader,
  addresses: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const rows = await reader.query<{ address: Uint8Array | null }>({
    name: 'related-contracts',
    text: `SELECT DISTINCT r.address FROM unnest($1::bytea[]) AS k(address) CROSS JOIN LATERAL (
             SELECT jetton AS address FROM jetton_wallets t WHERE t.address = k.address AND t.lapsed IS NULL
             UNION ALL SELECT unnest(ARRAY[collection, owner]) FROM nft_items t WHERE t.address = k.address AND t.lapsed IS NULL
             UNION ALL SELECT nft FROM nft_sales t WHERE t.address = k.address AND t.lapsed IS NULL
             UNION ALL SELECT nft FROM nft_auctions t WHERE t.address = k.address AND t.lapsed IS NULL
             UNION ALL SELECT multisig FROM multisig_orders t WHERE t.address = k.address AND t.lapsed IS NULL
           ) AS r WHERE r.address IS NOT NULL`,
    values: [addresses],
  });
  return rows.flatMap(({ address }) => (address === null ? [] : [address]));
}
