import type { MatchContext } from '#domain/actions/pattern.js';
import type { TracedMessage } from '#domain/actions/trace-input.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { toBase64 } from '#kernel/bytes.js';

/* Terms of sales and auctions of Getgems, from the data with which they are deployed. */

interface SaleTerms {
  readonly kind: 'sale';
  readonly full_price: bigint;
  readonly marketplace_fee_address: Address | null;
  /** Null: the fee is a share of the price. */
  readonly marketplace_fee: bigint | null;
  readonly royalty_address: Address | null;
  readonly royalty_amount: bigint | null;
}

interface AuctionTerms {
  readonly kind: 'auction';
  readonly marketplace_fee_address: Address | null;
  readonly marketplace_fee_factor: bigint;
  readonly marketplace_fee_base: bigint;
  readonly royalty_address: Address | null;
  readonly royalty_fee_base: bigint;
  readonly min_bid: bigint;
  readonly max_bid: bigint;
}

export type Listing = SaleTerms | AuctionTerms;

const Sale1 = layout(
  '_ marketplace:MsgAddress nft:MsgAddress owner:MsgAddress full_price:Coins ^[ fee:Coins fee_address:MsgAddress royalty_address:MsgAddress royalty:Coins ]',
);
const Sale2 = layout(
  '_ is_complete:Bool created_at:uint32 marketplace:MsgAddress nft:MsgAddress owner:MsgAddress full_price:Coins ^[ fee_address:MsgAddress fee:Coins royalty_address:MsgAddress royalty:Coins ]',
);
const Sale4 = layout(
  '_ is_complete:Bool marketplace:MsgAddress owner:MsgAddress full_price:Coins sold_at:uint32 query_id:uint64 ^[ fee_address:MsgAddress royalty_address:MsgAddress fee_percent:uint17 royalty_percent:uint17 ]',
);
const AuctionFees = layout(
  '_ fee_address:MsgAddress fee_factor:uint32 fee_base:uint32 royalty_address:MsgAddress royalty_factor:uint32 royalty_base:uint32',
);
const Auction1 = layout('_ fees:^Cell bids:^Cell');
const Bids1 = layout('_ min_bid:Coins max_bid:Coins min_step:Coins end_time:uint32 step_time:uint32');
const Auction3r2 = layout(
  '_ end:Bool activated:Bool is_canceled:Bool last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32 fees:^Cell constant:^Cell',
);
const Constant3r2 = layout('_ sub_gas_price:uint32 marketplace:MsgAddress min_bid:Coins max_bid:Coins');
const Auction3r3 = layout(
  '_ end:Bool is_canceled:Bool last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32 owner:MsgAddress query_id:uint64 fee_factor:uint32 fee_base:uint32 royalty_factor:uint32 royalty_base:uint32 fees:^Cell constant:^Cell',
);
const FeeAddresses = layout('_ fee_address:MsgAddress royalty_address:MsgAddress');
const Auction4 = layout(
  '_ end:Bool is_canceled:Bool last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32 owner:MsgAddress query_id:uint64 fees:^Cell constant:^Cell',
);
const Fees4 = layout(
  '_ fee_address:MsgAddress royalty_address:MsgAddress fee_factor:uint32 fee_base:uint32 royalty_factor:uint32 royalty_base:uint32',
);
const Constant4 = layout('_ marketplace:MsgAddress min_bid:Coins max_bid:Coins');

function sale1(data: Cell, context: MatchContext): SaleTerms {
  const { full_price, fee_address, fee, royalty_address, royalty } = context.read(Sale1, data);
  return saleTerms({ full_price, fee_address, fee, royalty_address, royalty });
}

function sale2(data: Cell, context: MatchContext): SaleTerms {
  const { full_price, fee_address, fee, royalty_address, royalty } = context.read(Sale2, data);
  return saleTerms({ full_price, fee_address, fee, royalty_address, royalty });
}

function sale4(data: Cell, context: MatchContext): SaleTerms {
  const { full_price, fee_address, royalty_address } = context.read(Sale4, data);
  return saleTerms({ full_price, fee_address, fee: null, royalty_address, royalty: null });
}

function saleTerms(given: {
  readonly full_price: bigint;
  readonly fee_address: Address | null;
  readonly fee: bigint | null;
  readonly royalty_address: Address | null;
  readonly royalty: bigint | null;
}): SaleTerms {
  return {
    kind: 'sale',
    full_price: given.full_price,
    marketplace_fee_address: given.fee_address,
    marketplace_fee: given.fee,
    royalty_address: given.royalty_address,
    royalty_amount: given.royalty,
  };
}

interface Fees {
  readonly fee_address: Address | null;
  readonly fee_factor: number;
  readonly fee_base: number;
  readonly royalty_address: Address | null;
  readonly royalty_base: number;
}

function auctionTerms(
  fees: Fees,
  { min_bid, max_bid }: { readonly min_bid: bigint; readonly max_bid: bigint },
): AuctionTerms {
  return {
    kind: 'auction',
    marketplace_fee_address: fees.fee_address,
    marketplace_fee_factor: BigInt(fees.fee_factor),
    marketplace_fee_base: BigInt(fees.fee_base),
    royalty_address: fees.royalty_address,
    royalty_fee_base: BigInt(fees.royalty_base),
    min_bid,
    max_bid,
  };
}

function auction1(data: Cell, context: MatchContext): AuctionTerms {
  const { fees, bids } = context.read(Auction1, data);
  return auctionTerms(context.read(AuctionFees, fees), context.read(Bids1, bids));
}

function auction3r2(data: Cell, context: MatchContext): AuctionTerms {
  const { fees, constant } = context.read(Auction3r2, data);
  return auctionTerms(context.read(AuctionFees, fees), context.read(Constant3r2, constant));
}

function auction3r3(data: Cell, context: MatchContext): AuctionTerms {
  const { fees, constant, ...factors } = context.read(Auction3r3, data);
  return auctionTerms({ ...factors, ...context.read(FeeAddresses, fees) }, context.read(Constant4, constant));
}

function auction4(data: Cell, context: MatchContext): AuctionTerms {
  const { fees, constant } = context.read(Auction4, data);
  return auctionTerms(context.read(Fees4, fees), context.read(Constant4, constant));
}

function unreadable(_: Cell, context: MatchContext): never {
  return context.refuse('auctions with this code are not understood');
}

type ReadTerms = (data: Cell, context: MatchContext) => Listing;

/** Layouts by hash of the code; contracts with other codes are read as the newest sale, or as the last auction of version 3. */
const LAYOUTS: ReadonlyMap<string, ReadTerms> = new Map<string, ReadTerms>([
  ['2pufziLofEllctIDZSWVebzO+RpyA1fMvowFLvyb4I8=', sale1],
  ['gnj0xSM95vvtyWmvUZNEp6m//FRIVtuphqlcC8+Fcck=', sale2],
  ['MgUN+sRPZIZrzIbyzZ4TBf6dyts5WcACI3z7CQLUQyM=', sale2],
  ['3rU7bFdlwebNI4v0e8XoO6WWvcwEsLhM1Qqx5HSgjzE=', sale2],
  ['JCIfpXHlQuBVx3vt/b9SfHr0YM/cfzRMRQeHtM+h600=', sale2],
  ['a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=', sale4],
  ['/ACindAgW83MDT/7nKOMw8jBWexg2KpUMkCpLxBZLUA=', auction1],
  ['ZmiHL6eXBUQ//UdSPo6eqfdquZ+aC1nSfej4GhwnudQ=', unreadable],
  ['G9nFo5v/t6DzQViLXdkrgTqEK/Ze8UEJOCIAzq+Pct8=', auction3r2],
  ['u29ireD+stefqzuK6/CTCvmFU99gCTsgJ/Covxab/Ow=', auction3r3],
  ['zlp4U06qps7tja/UhtB262CpsNbb+1Nnb2YmScBomVY=', auction4],
]);

/** The terms in the message that deploys a sale or auction. */
export function readListing(message: TracedMessage | null, kind: Listing['kind'], context: MatchContext): Listing {
  if (message === null || message.init === null) return context.refuse('the contract is deployed without a state');
  const { code, data } = decodeCell(StateInit, message.init);
  if (code === null || data === null) return context.refuse('the contract is deployed without code or data');
  const read = LAYOUTS.get(toBase64(code.hash())) ?? (kind === 'sale' ? sale4 : auction3r3);
  const listing = read(data, context);
  context.check(listing.kind === kind, `the code is of no ${kind}`);
  return listing;
}
