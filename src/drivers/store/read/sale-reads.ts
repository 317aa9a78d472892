import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { byAddress, type ContractFound, contractOf, maybeAddress } from '#drivers/store/read/contract-found.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { IndexedNftItem, IndexedSale } from '#drivers/store/read/indexed-tokens.js';
import { ITEM_FOUND, ITEM_JOINS, type ItemFound, itemOf } from '#drivers/store/read/nft-found.js';
import { sql } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';

interface SoldFound extends ContractFound {
  readonly nft: Uint8Array | null;
  readonly nft_owner: Uint8Array | null;
  readonly marketplace: Uint8Array | null;
  readonly created_at: bigint;
}

interface SaleFound extends SoldFound {
  readonly is_complete: boolean;
  readonly full_price: bigint;
  readonly marketplace_fee_address: Uint8Array | null;
  readonly marketplace_fee: bigint;
  readonly royalty_address: Uint8Array | null;
  readonly royalty_amount: bigint;
}

interface AuctionFound extends SoldFound {
  readonly end_flag: boolean;
  readonly end_time: bigint;
  readonly last_bid: bigint;
  readonly last_member: Uint8Array | null;
  readonly min_step: bigint;
  readonly mp_fee_address: Uint8Array | null;
  readonly mp_fee_factor: bigint;
  readonly mp_fee_base: bigint;
  readonly royalty_fee_address: Uint8Array | null;
  readonly royalty_fee_factor: bigint;
  readonly royalty_fee_base: bigint;
  readonly max_bid: bigint;
  readonly min_bid: bigint;
  readonly last_bid_at: bigint;
  readonly is_canceled: boolean;
}

interface TelemintFound extends ContractFound {
  readonly token_name: string;
  readonly bidder_address: Uint8Array | null;
  readonly bid: bigint | null;
  readonly bid_ts: bigint | null;
  readonly min_bid: bigint | null;
  readonly end_time: bigint | null;
  readonly beneficiary_address: Uint8Array | null;
  readonly initial_min_bid: bigint | null;
  readonly max_bid: bigint | null;
  readonly min_bid_step: bigint | null;
  readonly min_extend_time: bigint | null;
  readonly duration: bigint | null;
  readonly royalty_numerator: bigint | null;
  readonly royalty_denominator: bigint | null;
  readonly royalty_destination: Uint8Array | null;
}

/** Sales, auctions and items that sell themselves, in the order of their addresses; each once. */
export async function readNftSales(
  session: IndexSession,
  addresses: readonly Address[],
): Promise<readonly IndexedSale[]> {
  const wanted = new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)]));
  if (wanted.size === 0) return [];
  const of = <Row extends ContractFound>(table: string) =>
    session.rows<Row>(sql`SELECT t.* FROM (${byAddress(table, [...wanted.values()], [])}) AS t`);
  const sales = (await of<SaleFound>('nft_sales')).map(saleOf);
  const auctions = (await of<AuctionFound>('nft_auctions')).map(auctionOf);
  const telemint = (await of<TelemintFound>('telemint_items')).map(telemintOf);
  const found = new Map([...telemint, ...auctions, ...sales].map((sale) => [sale.address.toRaw(), sale]));
  const items = await itemsOf(session, [...found.values()]);
  return [...wanted.keys()].flatMap((key) => {
    const sale = found.get(key);
    return sale === undefined ? [] : [{ ...sale, item: items.get(sale.nft?.toRaw() ?? '') ?? null }];
  });
}

async function itemsOf(
  session: IndexSession,
  sales: readonly Omit<IndexedSale, 'item'>[],
): Promise<ReadonlyMap<string, IndexedNftItem>> {
  const addresses = new Map(sales.flatMap(({ nft }) => (nft === null ? [] : [[nft.toRaw(), addressBytes(nft)]])));
  if (addresses.size === 0) return new Map();
  const rows = await session.rows<ItemFound>(
    sql`SELECT ${ITEM_FOUND} FROM (${byAddress('nft_items', [...addresses.values()], [])}) AS t ${ITEM_JOINS}`,
  );
  return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), itemOf(row)]));
}

function soldOf(row: SoldFound) {
  return {
    ...contractOf(row),
    nft: maybeAddress(row.nft),
    nft_owner: maybeAddress(row.nft_owner),
    marketplace: maybeAddress(row.marketplace),
    created_at: row.created_at,
  };
}

function saleOf(row: SaleFound): Omit<IndexedSale, 'item'> {
  return {
    ...soldOf(row),
    details: {
      kind: 'sale',
      is_complete: row.is_complete,
      full_price: row.full_price,
      marketplace_fee_address: maybeAddress(row.marketplace_fee_address),
      marketplace_fee: row.marketplace_fee,
      royalty_address: maybeAddress(row.royalty_address),
      royalty_amount: row.royalty_amount,
    },
  };
}

function auctionOf(row: AuctionFound): Omit<IndexedSale, 'item'> {
  return {
    ...soldOf(row),
    details: {
      kind: 'auction',
      end_flag: row.end_flag,
      end_time: row.end_time,
      last_bid: row.last_bid,
      last_member: maybeAddress(row.last_member),
      min_step: row.min_step,
      mp_fee_address: maybeAddress(row.mp_fee_address),
      mp_fee_factor: row.mp_fee_factor,
      mp_fee_base: row.mp_fee_base,
      royalty_fee_address: maybeAddress(row.royalty_fee_address),
      royalty_fee_factor: row.royalty_fee_factor,
      royalty_fee_base: row.royalty_fee_base,
      max_bid: row.max_bid,
      min_bid: row.min_bid,
      last_bid_at: row.last_bid_at,
      is_canceled: row.is_canceled,
    },
  };
}

/** An item of telemint sells itself. */
function telemintOf(row: TelemintFound): Omit<IndexedSale, 'item'> {
  const contract = contractOf(row);
  return {
    ...contract,
    ...{ nft: contract.address, nft_owner: null, marketplace: null, created_at: null },
    details: {
      kind: 'telemint',
      token_name: row.token_name,
      bidder_address: maybeAddress(row.bidder_address),
      bid: row.bid,
      bid_ts: row.bid_ts,
      min_bid: row.min_bid,
      end_time: row.end_time,
      beneficiary_address: maybeAddress(row.beneficiary_address),
      initial_min_bid: row.initial_min_bid,
      max_bid: row.max_bid,
      min_bid_step: row.min_bid_step,
      min_extend_time: row.min_extend_time,
      duration: row.duration,
      royalty_numerator: row.royalty_numerator,
      royalty_denominator: row.royalty_denominator,
      royalty_destination: maybeAddress(row.royalty_destination),
    },
  };
}
