import { contractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, nullOnMethodFailure, type ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import {
  type Auction,
  type AuctionV4Fields,
  getAuctionDataV4,
  getFixPriceDataV4,
  getSaleData,
} from '#domain/contracts/interfaces/sale-data.js';
import {
  loadAccount,
  loadPlainAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
} from '#domain/contracts/native-code.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

function uint32(data: Slice): bigint {
  return BigInt(data.loadUint(32));
}

/** Shares of the price: factors and bases are uint32. */
type Fees = Pick<
  Auction,
  'mp_fee_addr' | 'mp_fee_factor' | 'mp_fee_base' | 'royalty_fee_addr' | 'royalty_fee_factor' | 'royalty_fee_base'
>;

function loadFees(cell: Cell): Fees {
  const data = openCell(cell);
  const fees = {
    mp_fee_addr: loadPlainAddress(data),
    mp_fee_factor: uint32(data),
    mp_fee_base: uint32(data),
    royalty_fee_addr: loadPlainAddress(data),
    royalty_fee_factor: uint32(data),
    royalty_fee_base: uint32(data),
  };
  data.end();
  return fees;
}

/** Since version 4 both addresses come first. */
function loadFeesOf4(cell: Cell): Fees {
  const data = openCell(cell);
  const fees = {
    mp_fee_addr: loadPlainAddress(data),
    royalty_fee_addr: loadPlainAddress(data),
    mp_fee_factor: uint32(data),
    mp_fee_base: uint32(data),
    royalty_fee_factor: uint32(data),
    royalty_fee_base: uint32(data),
  };
  data.end();
  return fees;
}

/** `percent` of `factor` of an amount. */
function partOf(amount: bigint, percent: bigint, factor: bigint): bigint {
  return factor === 0n ? 0n : (amount * percent) / factor;
}

/** Whether the fees leave anything for the owner. */
function isProfitable(fees: Fees): boolean {
  const amount = 10_000_000_000n;
  const marketplace = partOf(amount, fees.mp_fee_factor, fees.mp_fee_base);
  return amount - marketplace - partOf(amount, fees.royalty_fee_factor, fees.royalty_fee_base) >= 1n;
}

/**
 * `end:int1 mp_addr:MsgAddress activated:int1 created_at:int32 is_canceled:int1 fees:^[…] bids:^[min_bid:Coins
 * max_bid:Coins min_step:Coins last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32 step_time:uint32
 * try_step_time:uint32] nft:^[nft_owner:MsgAddress nft_addr:MsgAddress]`
 */
function auctionOf1({ data }: NativeAccount): Auction {
  const slice = openCell(data);
  const end_flag = slice.loadBit();
  const mp_addr = loadPlainAddress(slice);
  slice.skip(1);
  const created_at = BigInt(slice.loadInt(32));
  const is_canceled = slice.loadBit();
  const fees = loadFees(slice.loadRef());
  const bids = openCell(slice.loadRef());
  const nft = openCell(slice.loadRef());
  slice.end();
  const amounts = { min_bid: grams.load(bids), max_bid: grams.load(bids), min_step: grams.load(bids) };
  const last = { last_member: loadPlainAddress(bids), last_bid: grams.load(bids), last_bid_at: uint32(bids) };
  const end_time = uint32(bids);
  bids.skip(64).end();
  const nft_owner = loadPlainAddress(nft);
  const nft_addr = loadAccount(nft);
  nft.end();
  const state = { end_flag, end_time, mp_addr, nft_addr, nft_owner, created_at, is_canceled };
  return { type: 'auction', ...state, ...last, ...amounts, ...fees, v4: null };
}

/**
 * `end:int1 activated:int1 is_canceled:int1 last_member:MsgAddress last_bid:Coins last_bid_at:uint32 end_time:uint32
 * nft_owner:MsgAddress fees:^[…] constants:^[sub_gas_price_from_bid:int32 mp_addr:MsgAddress min_bid:Coins max_bid:Coins
 * min_step:Coins step_time:uint32 nft_addr:MsgAddress created_at:uint32]`
 */
function auctionOf2({ data }: NativeAccount): Auction {
  const slice = openCell(data);
  const end_flag = slice.loadBit();
  slice.skip(1);
  const is_canceled = slice.loadBit();
  const last = { last_member: loadPlainAddress(slice), last_bid: grams.load(slice), last_bid_at: uint32(slice) };
  const end_time = uint32(slice);
  const nft_owner = loadPlainAddress(slice);
  const fees = loadFees(slice.loadRef());
  const constants = openCell(slice.loadRef());
  slice.end();
  constants.skip(32);
  const mp_addr = loadPlainAddress(constants);
  const amounts = { min_bid: grams.load(constants), max_bid: grams.load(constants), min_step: grams.load(constants) };
  constants.skip(32);
  const nft_addr = loadAccount(constants);
  const created_at = uint32(constants);
  constants.end();
  const state = { end_flag, end_time, mp_addr, nft_addr, nft_owner, created_at, is_canceled };
  return { type: 'auction', ...state, ...last, ...amounts, ...fees, v4: null };
}

/**
 * Start of the data of the third revision of version 3 and of version 4: `end:int1 is_canceled:int1 last_member:MsgAddress last_bid:Coins
 * last_bid_at:uint32 end_time:uint32 nft_owner:MsgAddress last_query_id:uint64`
 */
function loadHead(slice: Slice) {
  return {
    end_flag: slice.loadBit(),
    is_canceled: slice.loadBit(),
    last_member: loadPlainAddress(slice),
    last_bid: grams.load(slice),
    last_bid_at: uint32(slice),
    end_time: uint32(slice),
    nft_owner: loadPlainAddress(slice),
    last_query_id: slice.loadUintBig(64),
  };
}

/**
 * Their constants: `mp_addr:MsgAddress min_bid:Coins max_bid:Coins min_step:uint7 step_time:uint17
 * nft_addr:MsgAddress created_at:uint32`
 */
function loadConstants(cell: Cell) {
  const data = openCell(cell);
  const constants = {
    mp_addr: loadPlainAddress(data),
    min_bid: grams.load(data),
    max_bid: grams.load(data),
    min_step: BigInt(data.loadUint(7)),
    step_time: BigInt(data.loadUint(17)),
    nft_addr: loadAccount(data),
    created_at: uint32(data),
  };
  data.end();
  return constants;
}

/**
 * After the head `mp_fee_factor:uint32 mp_fee_base:uint32 royalty_fee_factor:uint32 royalty_fee_base:uint32
 * fee_addresses:^[mp_fee_addr:MsgAddress royalty_fee_addr:MsgAddress] constants:^[…]`. The get-method throws
 * if the owner would receive nothing.
 */
function auctionOf3R3({ data }: NativeAccount): Auction {
  const slice = openCell(data);
  const { last_query_id: _, ...head } = loadHead(slice);
  const shares = {
    mp_fee_factor: uint32(slice),
    mp_fee_base: uint32(slice),
    royalty_fee_factor: uint32(slice),
    royalty_fee_base: uint32(slice),
  };
  const addresses = openCell(slice.loadRef());
  const { step_time: __, ...constants } = loadConstants(slice.loadRef());
  slice.end();
  const fees = { ...shares, mp_fee_addr: loadPlainAddress(addresses), royalty_fee_addr: loadPlainAddress(addresses) };
  addresses.end();
  if (!isProfitable(fees)) throw contractDataErrors['other-form']({ problem: 'the fees leave nothing for the owner' });
  return { type: 'auction', ...head, ...constants, ...fees, v4: null };
}

type Jettons = Pick<AuctionV4Fields, 'jetton_wallet' | 'jetton_master' | 'is_broken_state' | 'public_key'>;

/** `jetton_wallet:MsgAddress jetton_master:MsgAddress public_key:(Maybe uint256)` */
function loadJettons(cell: Cell | null): Jettons {
  if (cell === null) return { jetton_wallet: null, jetton_master: null, is_broken_state: false, public_key: 0n };
  const data = openCell(cell);
  const jetton_wallet = loadPlainAddress(data);
  const jetton_master = loadPlainAddress(data);
  const open = data.loadBit();
  const public_key = open ? data.loadUintBig(256) : 0n;
  data.end();
  return {
    jetton_wallet,
    jetton_master,
    is_broken_state: open || (jetton_master !== null && jetton_wallet === null),
    public_key,
  };
}

const LEAST_RAISE = 100_000_000n;

/** After the head `fees:^[…] constants:^[…] jettons:(Maybe ^[…])`. */
function auctionOf4({ data }: NativeAccount): Auction {
  const slice = openCell(data);
  const { last_query_id, ...head } = loadHead(slice);
  const fees = loadFeesOf4(slice.loadRef());
  const { step_time, ...constants } = loadConstants(slice.loadRef());
  const jettons = loadJettons(slice.loadBit() ? slice.loadRef() : null);
  slice.end();
  const { last_bid, nft_owner } = head;
  let { min_bid } = constants;
  if (last_bid > 0n) {
    min_bid = partOf(last_bid, 100n + constants.min_step, 100n);
    if (jettons.jetton_wallet === null && min_bid < last_bid + LEAST_RAISE) min_bid = last_bid + LEAST_RAISE;
  }
  const is_broken_state = jettons.is_broken_state || !isProfitable(fees);
  const v4 = { ...jettons, activated: nft_owner !== null, step_time, last_query_id, is_broken_state };
  return { type: 'auction', ...head, ...constants, ...fees, min_bid, v4 };
}

function untilVersion3(hash: string, read: (account: NativeAccount) => Auction): NativeCode {
  const lacks = [getAuctionDataV4.name, getFixPriceDataV4.name];
  return { hashes: [hash], getMethods: [nativeGetMethod(getSaleData, read)], missingMethods: lacks };
}

/** GetGems auctions. */
const auctionCodes: readonly NativeCode[] = [
  untilVersion3('fc00a29dd0205bcdcc0d3ffb9ca38cc3c8c159ec60d8aa543240a92f10592d40', auctionOf1),
  untilVersion3('6668872fa79705443ffd47523e8e9ea9f76ab99f9a0b59d27de8f81a1c27b9d4', auctionOf2),
  untilVersion3('1bd9c5a39bffb7a0f341588b5dd92b813a842bf65ef14109382200ceaf8f72df', auctionOf2),
  untilVersion3('bb6f62ade0feb2d79fab3b8aebf0930af98553df60093b2027f0a8bf169bfcec', auctionOf3R3),
  {
    hashes: ['ce5a78534eaaa6ceed8dafd486d076eb60a9b0d6dbfb53676f662649c0689956'],
    getMethods: [nativeGetMethod(getAuctionDataV4, auctionOf4)],
    missingMethods: [getSaleData.name, getFixPriceDataV4.name],
  },
];

async function read(view: ContractView, contract: ViewedContract): Promise<Auction> {
  const newer = await nullOnMethodFailure(() => view.runGetMethod(contract, getAuctionDataV4));
  if (newer !== null) return newer;
  const data = await view.runGetMethod(contract, getSaleData);
  if (data.type === 'auction') return data;
  throw contractDataErrors['method-result']({
    method: getSaleData.name,
    problem: 'is of a sale at a fixed price',
  });
}

/** A GetGems auction of an NFT. No other contract confirms its data. */
export const nftAuction = contractInterface({
  name: 'nft_auction',
  methods: [[getAuctionDataV4.name], [getSaleData.name]],
  codes: auctionCodes,
  read,
  table: {
    name: 'nft_auctions',
    columns: {
      end_flag: 'boolean',
      end_time: 'int8',
      marketplace: 'address?',
      nft: 'address?',
      nft_owner: 'address?',
      last_bid: 'numeric',
      last_member: 'address?',
      min_step: 'numeric',
      mp_fee_address: 'address?',
      mp_fee_factor: 'int8',
      mp_fee_base: 'int8',
      royalty_fee_address: 'address?',
      royalty_fee_factor: 'int8',
      royalty_fee_base: 'int8',
      max_bid: 'numeric',
      min_bid: 'numeric',
      created_at: 'int8',
      last_bid_at: 'int8',
      is_canceled: 'boolean',
      activated: 'boolean?',
      step_time: 'int8?',
      last_query_id: 'numeric?',
      jetton_wallet: 'address?',
      jetton_master: 'address?',
      is_broken_state: 'boolean?',
      public_key: 'numeric?',
    },
  },
  row: ({ type: _, mp_addr, nft_addr, mp_fee_addr, royalty_fee_addr, v4, ...same }) => ({
    ...same,
    marketplace: mp_addr,
    nft: nft_addr,
    mp_fee_address: mp_fee_addr,
    royalty_fee_address: royalty_fee_addr,
    activated: v4?.activated ?? null,
    step_time: v4?.step_time ?? null,
    last_query_id: v4?.last_query_id ?? null,
    jetton_wallet: v4?.jetton_wallet ?? null,
    jetton_master: v4?.jetton_master ?? null,
    is_broken_state: v4?.is_broken_state ?? null,
    public_key: v4?.public_key ?? null,
  }),
});
