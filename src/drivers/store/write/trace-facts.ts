import type { ClientBase } from 'pg';
import { contractFacts } from '#domain/actions/contract-facts.js';
import type { ContractFacts } from '#domain/actions/trace-facts.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';

/** What the index knows of an account for classification. */
export interface AccountFacts {
  /** Null: it has none of the interfaces, as far as is known. */
  readonly contract: ContractFacts | null;
  /** Its state is not detected yet: `contract` is null for that reason. */
  readonly isUndetected: boolean;
  /** Detection was postponed, for a reason that may last. */
  readonly isPostponed: boolean;
  /** Logical time of the state that `contract` is of, or of a later one in which it is not that any more; null: none. */
  readonly detected_lt: bigint | null;
  /** It has no code now. */
  readonly isGone: boolean;
}

interface FactsFound {
  readonly address: Uint8Array;
  readonly code_hash: Uint8Array | null;
  readonly incomplete: boolean | null;
  readonly queued: boolean;
  readonly attempts: number | null;
  readonly known: boolean;
  readonly detected_lt: bigint | null;
  readonly gone: boolean;
  readonly wallet_owner: Uint8Array | null;
  readonly wallet_jetton: Uint8Array | null;
  readonly item_index: bigint | null;
  readonly item_collection: Uint8Array | null;
  readonly item_owner: Uint8Array | null;
  readonly item_content: string | null;
  readonly sale_nft: Uint8Array | null;
  readonly sale_owner: Uint8Array | null;
  readonly sale_marketplace: Uint8Array | null;
  readonly sale_price: bigint | null;
  readonly auction_nft: Uint8Array | null;
  readonly auction_owner: Uint8Array | null;
  readonly auction_marketplace: Uint8Array | null;
  readonly auction_bid: bigint | null;
  readonly order_multisig: Uint8Array | null;
  readonly order_signers: readonly Uint8Array[] | null;
  readonly is_pool: boolean;
  readonly dex: string | null;
  readonly dex_asset_1: Uint8Array | null;
  readonly dex_asset_2: Uint8Array | null;
}

/**
 * Accounts without a row in `contracts` never had an interface, so their other lookups find nothing at once. Rows that are superseded
 * say what a contract was.
 */
const READ_FACTS = `
  SELECT k.address, coalesce(a.code_hash, c.code_hash) AS code_hash, a.incomplete,
    q.address IS NOT NULL AS queued, q.attempts, c.address IS NOT NULL AS known,
    c.last_trans_lt AS detected_lt, a.address IS NOT NULL AND a.code_hash IS NULL AS gone,
    w.owner AS wallet_owner, w.jetton AS wallet_jetton,
    i.index AS item_index, i.collection AS item_collection, i.owner AS item_owner, jsonb_build_object('uri', i.content->'uri')::text AS item_content,
    s.nft AS sale_nft, s.nft_owner AS sale_owner, s.marketplace AS sale_marketplace, s.full_price AS sale_price,
    u.nft AS auction_nft, u.nft_owner AS auction_owner, u.marketplace AS auction_marketplace, u.last_bid AS auction_bid,
    o.multisig AS order_multisig, o.signers AS order_signers, n.address IS NOT NULL AS is_pool,
    d.dex, d.asset_1 AS dex_asset_1, d.asset_2 AS dex_asset_2
  FROM unnest($1::bytea[]) AS k (address)
  LEFT JOIN accounts a ON a.address = k.address
  LEFT JOIN contract_queue q ON q.address = k.address
  LEFT JOIN contracts c ON c.address = k.address
  LEFT JOIN jetton_wallets w ON w.address = c.address
  LEFT JOIN nft_items i ON i.address = c.address
  LEFT JOIN nft_sales s ON s.address = c.address
  LEFT JOIN nft_auctions u ON u.address = c.address
  LEFT JOIN multisig_orders o ON o.address = c.address
  LEFT JOIN nominator_pools n ON n.address = c.address
  LEFT JOIN dex_pools d ON d.address = c.address`;

/** Facts about accounts by their raw address, in one statement. */
export async function readAccountFacts(
  client: Pick<ClientBase, 'query'>,
  addresses: readonly Address[],
): Promise<ReadonlyMap<string, AccountFacts>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await client.query<FactsFound>({
    name: 'facts-of-accounts',
    text: READ_FACTS,
    values: [addresses.map(addressBytes)],
  });
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), accountFacts(row)]));
}

function accountFacts(found: FactsFound): AccountFacts {
  const contract = found.known ? factsOf(found) : null;
  const isUndetected = !found.known && (found.queued || found.incomplete === true);
  const isPostponed = isUndetected && (found.attempts ?? 0) > 0;
  return { contract, isUndetected, isPostponed, detected_lt: found.detected_lt, isGone: found.gone };
}

function factsOf(found: FactsFound): ContractFacts {
  const address = addressOrNull;
  return contractFacts(found.code_hash, (kind) => {
    switch (kind) {
      case 'jetton_wallet':
        return found.wallet_jetton && { owner: address(found.wallet_owner), jetton: address(found.wallet_jetton) };
      case 'nft_item':
        return found.item_index === null
          ? null
          : {
              index: found.item_index,
              collection: address(found.item_collection),
              owner: address(found.item_owner),
              content: found.item_content,
            };
      case 'nft_sale':
        return found.sale_price === null
          ? null
          : {
              nft: address(found.sale_nft),
              nft_owner: address(found.sale_owner),
              marketplace: address(found.sale_marketplace),
              full_price: found.sale_price,
            };
      case 'nft_auction':
        return found.auction_bid === null
          ? null
          : {
              nft: address(found.auction_nft),
              nft_owner: address(found.auction_owner),
              marketplace: address(found.auction_marketplace),
              last_bid: found.auction_bid,
            };
      case 'multisig_order':
        return (
          found.order_multisig && {
            multisig: address(found.order_multisig),
            signers: (found.order_signers ?? []).map(addressOfBytes),
          }
        );
      case 'nominator_pool':
        return found.is_pool ? {} : null;
      case 'dex_pool':
        return found.dex === null
          ? null
          : { dex: found.dex, asset_1: address(found.dex_asset_1), asset_2: address(found.dex_asset_2) };
    }
  });
}

function addressOrNull(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** Newest known data of accounts by their raw address; null: it has none, or it is not known. */
export async function readAccountData(
  client: Pick<ClientBase, 'query'>,
  addresses: readonly Address[],
): Promise<ReadonlyMap<string, Cell | null>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await client.query<{ address: Uint8Array; data_boc: Uint8Array | null }>({
    name: 'data-of-accounts',
    text: `SELECT k.address, a.data_boc FROM unnest($1::bytea[]) AS k (address)
           LEFT JOIN accounts a ON a.address = k.address AND NOT a.incomplete`,
    values: [addresses.map(addressBytes)],
  });
  return new Map(
    rows.map(({ address, data_boc }) => [
      addressOfBytes(address).toRaw(),
      data_boc === null ? null : parseBocRoot(data_boc),
    ]),
  );
}
