import {
  actionType,
  addressField,
  amountField,
  type DetailFields,
  optionalField,
  textField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { readComment } from '#domain/actions/comments.js';
import {
  anyCall,
  anyOf,
  call,
  callOf,
  coinTransfer,
  each,
  type MatchContext,
  meaning,
  optionally,
  pattern,
  recognised,
  transferOrCallOf,
} from '#domain/actions/pattern.js';
import { isDomainOfTon, OUTBID } from '#domain/actions/protocols/dns-items.js';
import { type Listing, readListing } from '#domain/actions/protocols/nft-listings.js';
import { itemDetails, nftPurchase, nftTransfer } from '#domain/actions/protocols/nfts.js';
import type { NftItemFacts } from '#domain/actions/trace-facts.js';
import type { Address } from '#formats/address/address.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* Sales at a fixed price and auctions of NFT items: contracts of Getgems, and items of Telegram, which are their own auctions. */

const ChangePrice = layout(
  'change_price#6c6c2080 query_id:uint64 full_price:Coins marketplace_fee:Coins royalty_amount:Coins',
);
const CANCEL_SALE = 0x3;
const StartAuction = layout(
  'teleitem_start_auction#487a8e81 query_id:uint64 ^[ beneficiary:MsgAddress initial_min_bid:Coins max_bid:Coins min_bid_step:uint8 min_extend_time:uint32 duration:uint32 ]',
);
const CancelAuction = layout('teleitem_cancel_auction#371638ae query_id:uint64');
const TELEITEM_OK = 0xa37a0983;
const CANCEL_OPCODE = 0x5616c572;
const FINISH_OPCODES = [0x20c9eb18, 0xb95616b6] as const;

export const nftPutOnSaleType = actionType('nft_put_on_sale', 'An item was put on sale at a fixed price.', {
  nft_collection: addressField('Collection of the item.', 'asset'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_item_index: amountField('Index of the item in its collection.'),
  owner: addressField('The seller.', 'source'),
  listing_address: addressField('The contract that deployed the sale.', 'source_secondary'),
  sale_address: addressField('The sale.', 'destination'),
  marketplace_address: addressField('The marketplace.'),
  full_price: amountField('Nanotons that a buyer pays.'),
  marketplace_fee: amountField('Nanotons of it that go to the marketplace.'),
  royalty_amount: amountField('Nanotons of it that are royalty.'),
  marketplace_fee_address: addressField('Who receives the fee.'),
  royalty_address: addressField('Who receives the royalty.'),
  marketplace: textField('Name of the marketplace, if it is a known one.'),
});

const auctionFields = {
  nft_collection: addressField('Collection of the item.', 'asset'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_item_index: amountField('Index of the item in its collection.'),
  owner: addressField('The seller.', 'source'),
  listing_address: addressField('The contract that deployed the auction.', 'source_secondary'),
  auction_address: addressField('The auction.', 'destination'),
  marketplace_address: addressField('The marketplace.'),
  marketplace_fee_factor: amountField('Numerator of the fee.'),
  marketplace_fee_base: amountField('Denominator of the fee.'),
  royalty_fee_base: amountField('Denominator of the royalty.'),
  max_bid: amountField('Nanotons with which the auction ends at once.'),
  min_bid: amountField('Nanotons of the first bid.'),
  marketplace_fee_address: addressField('Who receives the fee.'),
  royalty_address: addressField('Who receives the royalty.'),
  marketplace: textField('Name of the marketplace, if it is a known one.'),
} as const satisfies DetailFields;
export const nftPutOnAuctionType = actionType('nft_put_on_auction', 'An item was put up for auction.', auctionFields);
export const teleitemStartAuctionType = actionType(
  'teleitem_start_auction',
  'The owner of an item of Telegram started its auction.',
  auctionFields,
);

/** The contract that a block deployed as the sale or auction of an item. */
function listingOf(deploy: ActionBlock, item: Address, seller: Address | null, context: MatchContext): Listing | null {
  const contract = deploy.deployments[0]!.destination;
  const sale = context.fact(contract, 'nft_sale');
  const auction = context.fact(contract, 'nft_auction');
  const known = sale ?? auction;
  if (known === null || !known.nft.equals(item) || known.nft_owner === null || seller === null) return null;
  if (!known.nft_owner.equals(seller)) return null;
  return readListing(deploy.deployments[0]!.message, sale === null ? 'auction' : 'sale', context);
}

const putOnSale = recognised([nftTransfer], {
  next: {
    deploy: anyOf(
      coinTransfer({ where: { 'it deploys a contract': ({ deployments }) => deployments.length === 1 } }),
      anyCall({ where: { 'it deploys a contract': ({ deployments }) => deployments.length === 1 } }),
    ),
    handover: recognised([nftTransfer]),
  },
});

export const nftListing = pattern(
  'nft_listing',
  putOnSale,
  ({ block, data, deploy, handover }, context) => {
    const contract = deploy.block.deployments[0]!.destination;
    const { item } = data;
    context.check(handover.data.item.equals(item), 'another item is handed over');
    context.check(
      handover.data.new_owner !== null && contract !== null && handover.data.new_owner.equals(contract),
      'the item is not handed over to the contract that was deployed',
    );
    const listing = listingOf(deploy.block, item, data.old_owner, context);
    if (listing === null)
      return context.refuse('the contract that was deployed is no known sale or auction of the item');
    const common = {
      ...itemDetails(item, data.facts),
      owner: data.old_owner,
      listing_address: data.new_owner,
      marketplace_fee_address: listing.marketplace_fee_address,
      royalty_address: listing.royalty_address,
    };
    const failed = block.failed || handover.block.failed;
    if (listing.kind === 'sale') {
      const { full_price, marketplace_fee, royalty_amount } = listing;
      const details = { ...common, sale_address: contract, full_price, marketplace_fee, royalty_amount };
      return meaning(nftPutOnSaleType, details, { kind: 'nft_put_on_sale', failed });
    }
    const { marketplace_fee_factor, marketplace_fee_base, royalty_fee_base, max_bid, min_bid } = listing;
    const terms = { marketplace_fee_factor, marketplace_fee_base, royalty_fee_base, max_bid, min_bid };
    return meaning(
      nftPutOnAuctionType,
      { ...common, ...terms, auction_address: contract },
      { kind: 'nft_put_on_auction', failed },
    );
  },
  { kinds: ['nft_put_on_sale', 'nft_put_on_auction'] },
);

export const nftUpdateSaleType = actionType('nft_update_sale', 'The price of a sale was changed.', {
  source: addressField('Who changed it.', 'source'),
  sale_contract: addressField('The sale.', 'destination'),
  nft_address: addressField('The item.', 'asset_secondary'),
  marketplace_address: addressField('The marketplace.'),
  marketplace: textField('Name of the marketplace, if it is a known one.'),
  full_price: amountField('New price in nanotons.'),
  marketplace_fee: amountField('Nanotons of it that go to the marketplace.'),
  royalty_amount: amountField('Nanotons of it that are royalty.'),
});

export const nftUpdateSale = pattern(
  'nft_update_sale',
  call(ChangePrice, { to: 'nft_sale' }),
  ({ block, data }, context) => {
    const { nft, marketplace } = context.fact(block.destination, 'nft_sale')!;
    const { full_price, marketplace_fee, royalty_amount } = data;
    const about = {
      source: block.source,
      sale_contract: block.destination,
      nft_address: nft,
      marketplace_address: marketplace,
    };
    return meaning(
      nftUpdateSaleType,
      { ...about, full_price, marketplace_fee, royalty_amount },
      { failed: block.failed, parties: [nft] },
    );
  },
);

const endFields = {
  owner: addressField('Who ended it.', 'source'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_collection: addressField('Its collection.', 'asset'),
} as const satisfies DetailFields;
const marketplaceFields = {
  marketplace_address: addressField('The marketplace.'),
  marketplace: textField('Name of the marketplace, if it is a known one.'),
} as const satisfies DetailFields;
const endAuctionFields = {
  ...endFields,
  auction_address: addressField('The auction.', 'destination'),
  ...marketplaceFields,
} as const satisfies DetailFields;

export const nftCancelSaleType = actionType('nft_cancel_sale', 'A sale was cancelled.', {
  ...endFields,
  sale_address: addressField('The sale.', 'destination'),
  ...marketplaceFields,
});
export const nftCancelAuctionType = actionType('nft_cancel_auction', 'An auction was cancelled.', endAuctionFields);
export const nftFinishAuctionType = actionType('nft_finish_auction', 'An auction was ended.', endAuctionFields);
export const teleitemCancelAuctionType = actionType(
  'teleitem_cancel_auction',
  'The owner of an item of Telegram cancelled its auction.',
  endAuctionFields,
);

export const nftCancelSale = pattern(
  'nft_cancel_sale',
  callOf(CANCEL_SALE, { to: 'nft_sale', next: { returned: recognised([nftTransfer]) } }),
  ({ block, returned }, context) => {
    const sale = context.fact(block.destination, 'nft_sale')!;
    context.check(returned.data.item.equals(sale.nft), 'another item is returned');
    const details = {
      owner: block.source,
      nft_item: sale.nft,
      nft_collection: returned.data.facts.collection,
      sale_address: block.destination,
      marketplace_address: sale.marketplace,
    };
    return meaning(nftCancelSaleType, details, {
      failed: block.failed,
      without: [returned.block],
      parties: [sale.nft],
    });
  },
);

/** What a message to an auction asks for; null: neither. */
function endOfAuction(block: ActionBlock): 'cancel' | 'finish' | null {
  if (block.opcode !== null) return block.opcode === CANCEL_OPCODE ? 'cancel' : 'finish';
  const { text: words } = readComment(block.message!.body);
  return words === 'cancel' ? 'cancel' : words === 'finish' || words === 'stop' ? 'finish' : null;
}

export const nftEndAuction = pattern(
  'nft_end_auction',
  transferOrCallOf([CANCEL_OPCODE, ...FINISH_OPCODES], {
    to: 'nft_auction',
    where: { 'it ends the auction': (block) => endOfAuction(block) !== null },
    next: { sold: each(recognised([nftPurchase])), items: each(recognised([nftTransfer])) },
  }),
  ({ block, items, sold }, context) => {
    const auction = context.fact(block.destination, 'nft_auction')!;
    const wanted = endOfAuction(block);
    const purchase = wanted === 'finish' ? sold.find(({ data }) => data.item.equals(auction.nft)) : undefined;
    const returned = items.find(({ data }) => data.item.equals(auction.nft));
    const found = purchase ?? returned;
    if (found === undefined) return context.refuse('the item does not leave the auction');
    const details = {
      owner: purchase === undefined ? block.source : found.data.new_owner,
      nft_item: auction.nft,
      nft_collection: found.data.facts.collection,
      auction_address: block.destination,
      marketplace_address: purchase === undefined ? auction.marketplace : null,
    };
    const without = [...items, ...sold].map((one) => one.block);
    const more = { failed: block.failed, without, parties: [auction.nft] };
    return wanted === 'cancel'
      ? meaning(nftCancelAuctionType, details, { ...more, kind: 'nft_cancel_auction' })
      : meaning(nftFinishAuctionType, details, { ...more, kind: 'nft_finish_auction' });
  },
  { kinds: ['nft_cancel_auction', 'nft_finish_auction'] },
);

export const teleitemStartAuction = pattern(
  'teleitem_start_auction',
  call(StartAuction, { to: 'nft_item', next: { reply: optionally(callOf(TELEITEM_OK)) } }),
  ({ block, data }, context) => {
    const facts = context.fact(block.destination, 'nft_item')!;
    context.check(isTelegramItem(facts), 'it is no item of Telegram');
    const details = {
      ...itemDetails(block.destination!, facts),
      owner: block.source,
      auction_address: block.destination,
      ...{ marketplace_fee_factor: 0n, marketplace_fee_base: 0n, royalty_fee_base: 0n },
      ...{ max_bid: data.max_bid, min_bid: data.initial_min_bid, marketplace_fee_address: data.beneficiary },
    };
    return meaning(teleitemStartAuctionType, details, { failed: block.aborted });
  },
);

export const teleitemCancelAuction = pattern(
  'teleitem_cancel_auction',
  call(CancelAuction, { to: 'nft_item', next: { reply: optionally(callOf(TELEITEM_OK)) } }),
  ({ block }, context) => {
    const facts = context.fact(block.destination, 'nft_item')!;
    context.check(isTelegramItem(facts), 'it is no item of Telegram');
    const { nft_collection, nft_item } = itemDetails(block.destination!, facts);
    const details = { owner: block.source, nft_item, nft_collection, auction_address: block.destination };
    return meaning(teleitemCancelAuctionType, details, { failed: block.aborted });
  },
);

/** Usernames and numbers of Telegram: their auctions are on Fragment. */
function isTelegramItem({ content_uri }: NftItemFacts): boolean {
  return content_uri?.startsWith('https://nft.fragment.com') ?? false;
}

export const auctionBidType = actionType('auction_bid', 'A bid in an auction.', {
  amount: amountField('Nanotons.', 'value'),
  bidder: addressField('Who bids.', 'source'),
  auction: addressField('The auction; the item itself when it is one.', 'destination'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_collection: addressField('Its collection.', 'asset'),
  nft_item_index: amountField('Its index in the collection.'),
});

interface AuctionBidData {
  readonly auction: Address;
  readonly item: Address;
  readonly collection: Address | null;
  readonly bidder: Address | null;
  readonly marketplace: 'getgems' | 'fragment';
}

const NO_BIDS = new Set(['cancel', 'finish', 'stop']);

export const auctionBid = pattern(
  'auction_bid',
  coinTransfer({
    where: {
      'it deploys nothing': ({ deployments }) => deployments.length === 0,
      'it is a bid': (_, { text: words }) => words === null || !NO_BIDS.has(words),
    },
    next: { outbid: each(callOf(OUTBID)) },
  }),
  ({ block, outbid }, context) => {
    const auction = context.fact(block.destination, 'nft_auction');
    const item = auction === null ? block.destination : auction.nft;
    const facts = context.fact(item, 'nft_item');
    const without = outbid.map((one) => one.block);
    if (auction === null) {
      if (facts === null) return context.refuse('the receiver is no auction');
      const isDomain = isDomainOfTon(item!, facts, context);
      if (!isTelegramItem(facts) && !(isDomain && outbid.length > 0)) context.refuse('the item is no auction');
    }
    const { source: bidder, destination } = block;
    const details = {
      amount: block.value,
      bidder,
      auction: destination,
      nft_item: item,
      nft_collection: facts?.collection,
      nft_item_index: facts?.index,
    };
    const data: AuctionBidData = {
      auction: destination!,
      item: item!,
      collection: facts?.collection ?? null,
      bidder,
      marketplace: auction === null ? 'fragment' : 'getgems',
    };
    return meaning(auctionBidType, details, { failed: block.failed, data, without, parties: [item] });
  },
);

export const auctionOutbidType = actionType('auction_outbid', 'The bid of somebody was returned after a higher one.', {
  auction_address: addressField('The auction.', 'source'),
  bidder: addressField('Whose bid was returned.', 'destination'),
  new_bidder: addressField('Who bid more.', 'source_secondary'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_collection: addressField('Its collection.', 'asset'),
  amount: amountField('Nanotons that were returned.', 'amount'),
  comment: optionalField(textField('Comment of the payment.')),
  marketplace: optionalField(textField('Name of the marketplace, if it is a known one.')),
});

const OUTBID_COMMENT = 'Your bid has been outbid by another user';

export const auctionOutbid = pattern(
  'auction_outbid',
  recognised(auctionBid, { next: { returned: each(anyOf(callOf(OUTBID), coinTransfer())) } }),
  ({ block, data, returned }, context) => {
    const isReturn = (one: ActionBlock) =>
      one.source?.equals(data.auction) &&
      (one.opcode === OUTBID ||
        (data.marketplace === 'getgems' && (readComment(one.message!.body).text?.includes(OUTBID_COMMENT) ?? false)));
    const found = returned.map((one) => one.block).filter(isReturn);
    context.check(found.length === 1, 'not one earlier bid is returned');
    const [refund] = found;
    const details = {
      auction_address: data.auction,
      bidder: refund!.destination,
      new_bidder: data.bidder,
      nft_item: data.item,
      nft_collection: data.collection,
      amount: refund!.value,
    };
    const without = [block, ...returned.map((one) => one.block).filter((one) => one !== refund)];
    return meaning(auctionOutbidType, details, { failed: refund!.failed, without, parties: [data.item] });
  },
);
