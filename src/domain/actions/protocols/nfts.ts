import {
  actionType,
  addressField,
  amountField,
  bocField,
  type DetailFields,
  flagField,
  optionalField,
  textField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { readComment } from '#domain/actions/comments.js';
import {
  anyCall,
  anyOf,
  anything,
  call,
  coinTransfer,
  deployment,
  type MatchContext,
  meaning,
  optionally,
  pattern,
  recognised,
} from '#domain/actions/pattern.js';
import type { NftItemFacts } from '#domain/actions/trace-facts.js';
import { NftTransfer } from '#domain/tokens/token-messages.js';
import type { Address } from '#formats/address/address.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { accountOf } from '#formats/tlb/msg-address.js';

/* NFT items (TEP-62): transfers, purchases, mints and discovery; items of Telegram. */

const OwnershipAssigned = layout(
  'ownership_assigned#05138d91 query_id:uint64 prev_owner:MsgAddress forward_payload:(Either Cell ^Cell)',
);
const GetStaticData = layout('get_static_data#2fcb26a2 query_id:uint64');
const ReportStaticData = layout('report_static_data#8b771735 query_id:uint64 index:uint256 collection:MsgAddress');
/** Payload of the notification of an auction's winner by an item of Telegram. */
const BidInfo = layout('teleitem_bid_info#38127de1 bid:Coins bid_ts:uint32');
const TELEMINT_DEPLOY = 0x299a3e15;
const FILL_UP = 0x370fec51;

const transferFields = {
  nft_collection: addressField('Collection of the item.', 'asset'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_item_index: amountField('Index of the item in its collection.'),
  old_owner: optionalField(addressField('Previous owner; the sale or auction when it was sold by one.', 'source')),
  new_owner: addressField('New owner.', 'destination'),
  is_purchase: flagField('Whether the item was bought.'),
  price: optionalField(amountField('Nanotons, if it was bought.')),
  query_id: amountField('Chosen by the sender.'),
  response_destination: addressField('Where excesses go.'),
  custom_payload: bocField('For the item.'),
  forward_payload: bocField('For the new owner.'),
  forward_amount: amountField('Nanotons that go to the new owner with the notification.'),
  comment: textField('Comment in the forward payload; base64 of the bytes when it is encrypted.'),
  is_encrypted_comment: flagField('Whether the comment is encrypted.'),
  marketplace: textField('Name of the marketplace, if it is a known one.'),
  real_old_owner: addressField('The seller, if it was bought.'),
  marketplace_address: addressField('The marketplace, if it was bought.'),
  payout_amount: amountField('Nanotons that the seller received.'),
  payout_address: addressField('Who received them.'),
  payout_comment: textField('Comment of the payment to the seller.'),
  payout_comment_encrypted: flagField('Whether that comment is encrypted.'),
  payout_comment_encoded: flagField('Whether that comment is in base64.'),
  royalty_amount: amountField('Nanotons of the royalty.'),
  royalty_address: addressField('Who received the royalty.'),
} as const satisfies DetailFields;

export const nftTransferType = actionType('nft_transfer', 'A transfer of an NFT item.', transferFields);
export const nftPurchaseType = actionType(
  'nft_purchase',
  'A purchase of an NFT item from a sale or an auction.',
  transferFields,
);

/** Data of a transfer of an item for patterns that build on it. */
interface NftTransferData {
  readonly item: Address;
  readonly facts: NftItemFacts;
  readonly old_owner: Address | null;
  readonly new_owner: Address | null;
  readonly is_purchase: boolean;
  /** The seller, if it was bought. */
  readonly seller: Address | null;
  readonly details: NftTransferDetails;
}
type NftTransferDetails = Parameters<typeof meaning<'nft_transfer', typeof transferFields>>[1];

/** The contract that sold an item. */
interface Seller {
  readonly price: bigint | null;
  readonly nft_owner: Address | null;
  readonly marketplace: Address | null;
}

const FINISHING = new Set(['finish', 'stop']);

/** The sale or auction that a block pays, and that sells this item to this buyer. */
function sellerOf(
  payment: ActionBlock | null,
  item: Address,
  buyer: Address | null,
  context: MatchContext,
): Seller | null {
  if (payment === null || buyer === null) return null;
  const { destination, source } = payment;
  const sale = payment.kind === 'ton_transfer' ? context.fact(destination, 'nft_sale') : null;
  if (sale?.nft.equals(item) && source?.equals(buyer)) {
    const { full_price: price, nft_owner, marketplace } = sale;
    // Nobody confirms what the contract of a sale says: a buyer who paid less has bought nothing.
    if (payment.value < price) return null;
    return isOther(nft_owner, buyer) ? { price, nft_owner, marketplace } : null;
  }
  const auction = context.fact(destination, 'nft_auction');
  if (auction === null || !auction.nft.equals(item)) return null;
  const { last_bid: price, nft_owner, marketplace } = auction;
  return isOther(nft_owner, buyer) ? { price, nft_owner, marketplace } : null;
}

function isOther(owner: Address | null, buyer: Address): boolean {
  return owner === null || !owner.equals(buyer);
}

export const nftTransfer = pattern(
  'nft_transfer',
  call(NftTransfer, {
    to: 'nft_item',
    next: { assigned: optionally(call(OwnershipAssigned)) },
    before: optionally(anyOf(coinTransfer(), anyCall())),
  }),
  ({ block, data, assigned, before }, context) => {
    const item = block.destination!;
    const facts = context.fact(item, 'nft_item')!;
    const old_owner = assigned === null ? block.source : assigned.data.prev_owner;
    const new_owner = accountOf(data.new_owner);
    const seller = sellerOf(before?.block ?? null, item, new_owner, context);
    const comment = readComment(data.forward_payload);
    const details = {
      ...itemDetails(item, facts),
      ...{ old_owner, new_owner, is_purchase: seller !== null, price: seller?.price },
      query_id: data.query_id,
      response_destination: accountOf(data.response_destination),
      custom_payload: data.custom_payload,
      forward_payload: data.forward_payload ?? EMPTY_CELL,
      forward_amount: data.forward_amount,
      comment: comment.text,
      is_encrypted_comment: comment.encrypted,
      real_old_owner: seller?.nft_owner,
      marketplace_address: seller?.marketplace,
    };
    const isPayment =
      seller !== null &&
      before?.block.kind === 'ton_transfer' &&
      !FINISHING.has(readComment(before.block.message!.body).text ?? '');
    const is_purchase = seller !== null;
    const learned: NftTransferData = {
      item,
      facts,
      old_owner,
      new_owner,
      is_purchase,
      seller: seller?.nft_owner ?? null,
      details,
    };
    const without = isPayment ? [] : [before?.block];
    return meaning(nftTransferType, details, { failed: block.failed, data: learned, without });
  },
);

export function itemDetails(item: Address, facts: NftItemFacts) {
  return { nft_collection: facts.collection, nft_item: item, nft_item_index: facts.index };
}

export const telegramPurchase = pattern(
  'telegram_nft_purchase',
  call(OwnershipAssigned, { from: 'nft_item', before: optionally(anything()) }),
  ({ block, data, before }, context) => {
    const item = block.source!;
    const facts = context.fact(item, 'nft_item')!;
    const { prev_owner: old_owner, forward_payload } = data;
    const new_owner = block.destination;
    const bid = context.readIf(BidInfo, forward_payload);
    const isMint = before?.block.kind === 'nft_mint' || before?.block.opcode === TELEMINT_DEPLOY;
    const is_purchase = bid !== null && !isMint;
    const payments = is_purchase ? payouts(before?.block ?? null) : [];
    const payout = payments.at(-1) ?? null;
    const royalty = payments.length > 1 ? payments[0]! : null;
    const comment = readComment(forward_payload);
    const details = {
      ...itemDetails(item, facts),
      ...{ old_owner, new_owner, is_purchase, price: is_purchase ? bid!.bid : null },
      query_id: data.query_id,
      forward_payload: forward_payload ?? EMPTY_CELL,
      comment: comment.text,
      is_encrypted_comment: comment.encrypted,
      payout_amount: payout?.value,
      payout_address: payout?.destination,
      royalty_amount: royalty?.value,
      royalty_address: royalty?.destination,
    };
    const learned: NftTransferData = { item, facts, old_owner, new_owner, is_purchase, seller: null, details };
    const also = [payout, royalty];
    const without = is_purchase ? [] : [before?.block];
    return meaning(nftTransferType, details, {
      kind: 'nft_transfer',
      // The item has moved before it tells the owner.
      failed: block.failed && !block.isNotice,
      data: learned,
      also,
      without,
    });
  },
  { kinds: ['nft_transfer'] },
);

/** Payments of an item of Telegram to its beneficiary and for royalty, in the order in which they were sent. */
function payouts(previous: ActionBlock | null): ActionBlock[] {
  const found = [...(previous?.next ?? [])].filter(({ opcode, parent }) => opcode === FILL_UP && parent === null);
  return found.sort((a, b) => ((a.message?.created_lt ?? 0n) < (b.message?.created_lt ?? 0n) ? -1 : 1)).slice(0, 2);
}

export const nftPurchase = pattern(
  'nft_purchase',
  recognised([nftTransfer], {
    where: { 'the item was bought from a sale or an auction': (_, data) => data.is_purchase && data.seller !== null },
    before: optionally(anything()),
  }),
  ({ block, data, before }, context) => {
    const isPayout = (one: ActionBlock) =>
      one.kind === 'ton_transfer' && one.parent === null && one.destination?.equals(data.seller!) === true;
    const payout = [...block.next].find(isPayout) ?? siblingPayout(block, before?.block ?? null, isPayout);
    if (payout === null) return context.refuse('nothing is paid to the seller');
    const comment = readComment(payout.message!.body);
    const details = {
      ...data.details,
      payout_amount: payout.value,
      payout_address: payout.destination,
      payout_comment: comment.text,
      payout_comment_encrypted: comment.encrypted,
      payout_comment_encoded: false,
    };
    return meaning(nftPurchaseType, details, { failed: block.failed, data, also: [payout], without: [before?.block] });
  },
);

/** The payout of an auction that a message ended: it follows from that message, as the transfer of the item does. */
function siblingPayout(
  block: ActionBlock,
  previous: ActionBlock | null,
  isPayout: (one: ActionBlock) => boolean,
): ActionBlock | null {
  if (previous === null) return null;
  return [...previous.next].find((one) => one !== block && isPayout(one)) ?? null;
}

export const nftMintType = actionType('nft_mint', 'An NFT item was minted.', {
  owner: optionalField(addressField('Who sent the message that deployed it.', 'source')),
  nft_item: addressField('The item.', 'destination'),
  nft_collection: addressField('Its collection.', 'asset'),
  nft_item_index: amountField('Its index in the collection.'),
});

interface NftMintData {
  readonly item: Address;
  readonly facts: NftItemFacts;
  readonly opcode: number | null;
}

export const nftMint = pattern('nft_mint', deployment(), ({ block }, context) => {
  const item = block.deployments[0]!.destination;
  const facts = context.fact(item, 'nft_item');
  if (item === null || facts === null) return context.refuse('the account that was deployed is not an NFT item');
  const details = { ...itemDetails(item, facts), owner: block.source };
  const learned: NftMintData = { item, facts, opcode: block.opcode };
  return meaning(nftMintType, details, { failed: block.failed, data: learned });
});

export const nftDiscoveryType = actionType('nft_discovery', 'An item was asked for its index and collection.', {
  source: addressField('Who asked.', 'source'),
  nft_item: addressField('The item.', 'asset_secondary'),
  nft_collection: addressField('The collection that it reported.', 'asset'),
  nft_item_index: amountField('The index that it reported.'),
});

export const nftDiscovery = pattern(
  'nft_discovery',
  call(GetStaticData, { next: { report: call(ReportStaticData) } }),
  ({ block, report }) => {
    const { index: nft_item_index, collection: nft_collection } = report.data;
    const { source, destination: nft_item } = block;
    return meaning(nftDiscoveryType, { source, nft_item, nft_collection, nft_item_index }, { failed: block.failed });
  },
);
