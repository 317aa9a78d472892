import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { nftItemText } from '#api/v3/serialize/nfts.js';
import { decimal, hashText, quoted } from '#api/v3/serialize/texts.js';
import { maybe } from '#api/v3/serialize/token-members.js';
import type {
  AuctionDetails,
  FixedPriceDetails,
  IndexedSale,
  TelemintDetails,
} from '#drivers/store/read/indexed-tokens.js';
import type { Address } from '#formats/address/address.js';

const TYPES = { sale: 'getgems_sale', auction: 'getgems_auction', telemint: 'telemint' } as const;

/** A contract that sells an item, as `/nft/sales` shows it. The answer names all accounts in it but the owner of the collection. */
export function nftSaleText(sale: IndexedSale, dialect: Dialect, addresses: AddressCollector): string {
  const { address, nft, nft_owner, marketplace, created_at, last_trans_lt, code_hash, data_hash, details, item } = sale;
  const named = (value: Address) => addresses.add(value);
  return (
    `{"type":${quoted(TYPES[details.kind])},"address":${named(address)}` +
    optional('nft_address', maybe(nft, named)) +
    optional('nft_owner_address', maybe(nft_owner, named)) +
    optional('marketplace_address', maybe(marketplace, named)) +
    optional('created_at', maybe(created_at, String)) +
    `,"last_transaction_lt":${decimal(last_trans_lt)}` +
    optional('code_hash', maybe(code_hash, hashText)) +
    optional('data_hash', maybe(data_hash, hashText)) +
    `,"details":${detailsText(details, named)}` +
    `${optional(
      'nft_item',
      maybe(item, (value) => nftItemText(value, dialect, addresses)),
    )}}`
  );
}

function detailsText(details: IndexedSale['details'], named: (address: Address) => string): string {
  const address = (name: string, value: Address | null) => optional(name, maybe(value, named));
  switch (details.kind) {
    case 'sale':
      return saleDetails(details, address);
    case 'auction':
      return auctionDetails(details, address);
    case 'telemint':
      return telemintDetails(details, address);
  }
}

type AddressMember = (name: string, value: Address | null) => string;

function saleDetails(sale: FixedPriceDetails, address: AddressMember): string {
  return (
    `{"is_complete":${sale.is_complete},"full_price":${decimal(sale.full_price)}` +
    address('marketplace_fee_address', sale.marketplace_fee_address) +
    `,"marketplace_fee":${decimal(sale.marketplace_fee)}` +
    address('royalty_address', sale.royalty_address) +
    `,"royalty_amount":${decimal(sale.royalty_amount)}}`
  );
}

function auctionDetails(auction: AuctionDetails, address: AddressMember): string {
  return (
    `{"end_flag":${auction.end_flag},"end_time":${auction.end_time},"last_bid":${decimal(auction.last_bid)}` +
    address('last_member', auction.last_member) +
    `,"min_step":${auction.min_step}` +
    address('mp_fee_address', auction.mp_fee_address) +
    `,"mp_fee_factor":${auction.mp_fee_factor},"mp_fee_base":${auction.mp_fee_base}` +
    address('royalty_fee_address', auction.royalty_fee_address) +
    `,"royalty_fee_factor":${auction.royalty_fee_factor},"royalty_fee_base":${auction.royalty_fee_base}` +
    `,"max_bid":${decimal(auction.max_bid)},"min_bid":${decimal(auction.min_bid)}` +
    `,"last_bid_at":${auction.last_bid_at},"is_canceled":${auction.is_canceled}}`
  );
}

function telemintDetails(item: TelemintDetails, address: AddressMember): string {
  const text = (name: string, value: bigint | null) => optional(name, maybe(value, decimal));
  const integer = (name: string, value: bigint | null) => optional(name, maybe(value, String));
  return (
    `{"token_name":${JSON.stringify(item.token_name)}` +
    address('bidder_address', item.bidder_address) +
    text('bid', item.bid) +
    text('bid_ts', item.bid_ts) +
    text('min_bid', item.min_bid) +
    integer('end_time', item.end_time) +
    address('beneficiary_address', item.beneficiary_address) +
    text('initial_min_bid', item.initial_min_bid) +
    text('max_bid', item.max_bid) +
    text('min_bid_step', item.min_bid_step) +
    text('min_extend_time', item.min_extend_time) +
    text('duration', item.duration) +
    integer('royalty_numerator', item.royalty_numerator) +
    integer('royalty_denominator', item.royalty_denominator) +
    `${address('royalty_destination', item.royalty_destination)}}`
  );
}
