import { contractDataErrors } from '#domain/contracts/errors.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import { BASECHAIN } from '#domain/contracts/native-code.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import type { Slice } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';

/** The price of an NFT in a jetton. */
export interface JettonPrice {
  /** The jetton wallet of the sale. */
  readonly jetton_wallet: Address;
  readonly price: bigint;
}

/** Data of a sale at a fixed price. Amounts in nanotons, times in unix seconds. */
export interface FixPriceSale {
  readonly type: 'fix_price';
  readonly is_complete: boolean;
  readonly created_at: bigint;
  readonly marketplace_address: Address | null;
  readonly nft_address: Address;
  /** Null: the NFT was not received yet. */
  readonly nft_owner_address: Address | null;
  readonly full_price: bigint;
  readonly marketplace_fee_address: Address | null;
  /** Since version 4 in thousandths of a percent. */
  readonly marketplace_fee: bigint;
  readonly royalty_address: Address | null;
  /** Since version 4 in thousandths of a percent. */
  readonly royalty_amount: bigint;
  /** Null before version 4; 0: not sold. */
  readonly sold_at: bigint | null;
  readonly sold_query_id: bigint | null;
  /** Null: only TON is accepted. */
  readonly jetton_prices: readonly JettonPrice[] | null;
}

/** Data of an auction of any version. Amounts in nanotons or units of its jetton, times in unix seconds. */
export interface Auction {
  readonly type: 'auction';
  readonly end_flag: boolean;
  readonly end_time: bigint;
  readonly mp_addr: Address | null;
  readonly nft_addr: Address;
  /** Null: the NFT was not received yet. */
  readonly nft_owner: Address | null;
  readonly last_bid: bigint;
  readonly last_member: Address | null;
  /** Until version 2 an amount, then percent. */
  readonly min_step: bigint;
  readonly mp_fee_addr: Address | null;
  readonly mp_fee_factor: bigint;
  readonly mp_fee_base: bigint;
  readonly royalty_fee_addr: Address | null;
  readonly royalty_fee_factor: bigint;
  readonly royalty_fee_base: bigint;
  readonly max_bid: bigint;
  readonly min_bid: bigint;
  readonly created_at: bigint;
  readonly last_bid_at: bigint;
  readonly is_canceled: boolean;
  /** Null before version 4. */
  readonly v4: AuctionV4Fields | null;
}

/** Additional data of auctions since version 4. */
export interface AuctionV4Fields {
  readonly activated: boolean;
  readonly step_time: bigint;
  readonly last_query_id: bigint;
  /** Null: bids are in TON. */
  readonly jetton_wallet: Address | null;
  readonly jetton_master: Address | null;
  readonly is_broken_state: boolean;
  /** Public key of the one who may still set the jetton wallet; 0: nobody. */
  readonly public_key: bigint;
}

/** "FIXP" */
const FIX_PRICE = 0x46495850n;
/** "AUC" */
const AUCTION = 0x415543n;

/**
 * A sale until version 3, or an auction until version 3:
 *
 * `(int magic, int is_complete, int created_at, slice marketplace_address, slice nft_address, slice nft_owner_address,
 * int full_price, slice marketplace_fee_address, int marketplace_fee, slice royalty_address, int royalty_amount)
 * get_sale_data()`, or with another magic `(int magic, int end, int end_time, slice mp_addr, slice nft_addr,
 * slice nft_owner, int last_bid, slice last_member, int min_step, slice mp_fee_addr, int mp_fee_factor, int mp_fee_base,
 * slice royalty_fee_addr, int royalty_fee_factor, int royalty_fee_base, int max_bid, int min_bid, int created_at,
 * int last_bid_at, int is_canceled) get_sale_data()`
 */
export const getSaleData = getMethod('get_sale_data', saleDataOf);

function saleDataOf(stack: VmStack): FixPriceSale | Auction {
  const result = new MethodResult('get_sale_data', stack, 11);
  const magic = result.int();
  if (magic === FIX_PRICE) return { ...salePart(result), sold_at: null, sold_query_id: null, jetton_prices: null };
  if (magic === AUCTION) return { ...auctionPart(result), v4: null };
  const problem = `starts with 0x${magic.toString(16)}, which is neither a sale at a fixed price nor an auction`;
  throw contractDataErrors['method-result']({ method: 'get_sale_data', problem });
}

/** The results that all sales return. @throws contract-data/method-result, cells/*, tlb/* */
function salePart(result: MethodResult): Omit<FixPriceSale, 'sold_at' | 'sold_query_id' | 'jetton_prices'> {
  return {
    type: 'fix_price',
    is_complete: result.flag(),
    created_at: result.int64(),
    marketplace_address: result.accountOrNull(),
    nft_address: result.account(),
    nft_owner_address: result.accountOrNull(),
    full_price: result.int(),
    marketplace_fee_address: result.accountOrNull(),
    marketplace_fee: result.int(),
    royalty_address: result.accountOrNull(),
    royalty_amount: result.int(),
  };
}

/** The results that all auctions return. @throws contract-data/method-result, cells/*, tlb/* */
function auctionPart(result: MethodResult): Omit<Auction, 'v4'> {
  return {
    type: 'auction',
    end_flag: result.flag(),
    end_time: result.int64(),
    mp_addr: result.accountOrNull(),
    nft_addr: result.account(),
    nft_owner: result.accountOrNull(),
    last_bid: result.int(),
    last_member: result.accountOrNull(),
    min_step: result.int(),
    mp_fee_addr: result.accountOrNull(),
    mp_fee_factor: result.int64(),
    mp_fee_base: result.int64(),
    royalty_fee_addr: result.accountOrNull(),
    royalty_fee_factor: result.int64(),
    royalty_fee_base: result.int64(),
    max_bid: result.int(),
    min_bid: result.int(),
    created_at: result.int64(),
    last_bid_at: result.int64(),
    is_canceled: result.flag(),
  };
}

/** Maximal number of visited cells of a price dictionary. */
const PRICES_LIMIT = 4096;

/**
 * A sale since version 4: `(int is_complete, int created_at, slice marketplace_address, slice nft_address,
 * slice nft_owner_address, int full_price, slice fee_address, int fee_percent, slice royalty_address, int royalty_percent,
 * int sold_at, int sold_query_id, cell jetton_price_dict) get_fix_price_data_v4()`
 */
export const getFixPriceDataV4 = getMethod('get_fix_price_data_v4', (stack): FixPriceSale => {
  const result = new MethodResult('get_fix_price_data_v4', stack, 13);
  return {
    ...salePart(result),
    sold_at: result.int64(),
    sold_query_id: result.int(),
    jetton_prices: jettonPrices(result.cellOrNull()),
  };
});

/** `(Hashmap 256 Coins)`: by account id of the wallet in the basechain. @throws cells/*, tlb/* */
export function jettonPrices(root: Cell | null): JettonPrice[] | null {
  if (root === null) return null;
  const prices: JettonPrice[] = [];
  const add = (key: Uint8Array, value: Slice) => {
    prices.push({ jetton_wallet: Address.ofParts(BASECHAIN, key), price: grams.load(value) });
  };
  forEachEntry(root, 256, add, { limit: PRICES_LIMIT, plain: true });
  return prices;
}

/**
 * An auction since version 4: the results of `get_sale_data` with `activated` for the magic, then `int step_time,
 * int last_query_id, slice jetton_wallet, slice jetton_master, int is_broken_state, int public_key`. `min_bid` is the
 * minimal next bid.
 */
export const getAuctionDataV4 = getMethod('get_auction_data_v4', (stack): Auction => {
  const result = new MethodResult('get_auction_data_v4', stack, 26);
  const activated = result.flag();
  return {
    ...auctionPart(result),
    v4: {
      activated,
      step_time: result.int64(),
      last_query_id: result.int(),
      jetton_wallet: result.accountOrNull(),
      jetton_master: result.accountOrNull(),
      is_broken_state: result.flag(),
      public_key: result.int(),
    },
  };
});
