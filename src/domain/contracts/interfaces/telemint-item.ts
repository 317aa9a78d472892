import { contractInterface } from '#domain/contracts/contract-interface.js';
import { type ContractView, nullOnContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  loadTelemintItem,
  TELEMINT_GIFTS,
  TELEMINT_NAME,
  TELEMINT_NUMBER,
} from '#domain/contracts/interfaces/nft-item.js';
import {
  loadPlainAddress,
  type NativeAccount,
  type NativeCode,
  nativeGetMethod,
} from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** State of an auction. Amounts in nanotons, times in unix seconds. */
interface TelemintAuctionState {
  /** Null: no bid. */
  readonly bidder_address: Address | null;
  readonly bid: bigint;
  readonly bid_ts: bigint;
  readonly min_bid: bigint;
  readonly end_time: bigint;
}

/** Configuration of an auction. Amounts in nanotons, durations in seconds. */
interface TelemintAuctionConfig {
  /** Receiver of the price; null: there is no auction. */
  readonly beneficiary_address: Address | null;
  readonly initial_min_bid: bigint;
  /** Bid that ends the auction at once; 0: none does. */
  readonly max_bid: bigint;
  /** Percent. */
  readonly min_bid_step: bigint;
  readonly min_extend_time: bigint;
  readonly duration: bigint;
}

/** Royalty (TEP-66). */
interface RoyaltyParams {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly destination: Address | null;
}

/** A Telegram username or number. */
interface TelemintItemData {
  readonly token_name: string;
  /** Null: there is no auction. */
  readonly state: TelemintAuctionState | null;
  readonly config: TelemintAuctionConfig | null;
  /** Null: the contract has no `royalty_params`. */
  readonly royalty: RoyaltyParams | null;
}

/** `slice get_telemint_token_name()`, text in UTF-8 */
export const getTelemintTokenName = getMethod('get_telemint_token_name', (stack) =>
  textOf(new MethodResult('get_telemint_token_name', stack, 1).bytes()),
);

/** `(slice bidder_address, int bid, int bid_ts, int min_bid, int end_time) get_telemint_auction_state()` */
export const getTelemintAuctionState = getMethod('get_telemint_auction_state', (stack): TelemintAuctionState => {
  const result = new MethodResult('get_telemint_auction_state', stack, 5);
  return {
    bidder_address: result.accountOrNull(),
    bid: result.int(),
    bid_ts: result.int64(),
    min_bid: result.int(),
    end_time: result.int64(),
  };
});

/**
 * `(slice beneficiary_address, int initial_min_bid, int max_bid, int min_bid_step, int min_extend_time, int duration)
 * get_telemint_auction_config()`
 */
export const getTelemintAuctionConfig = getMethod('get_telemint_auction_config', (stack): TelemintAuctionConfig => {
  const result = new MethodResult('get_telemint_auction_config', stack, 6);
  return {
    beneficiary_address: result.accountOrNull(),
    initial_min_bid: result.int(),
    max_bid: result.int(),
    min_bid_step: result.int(),
    min_extend_time: result.int64(),
    duration: result.int64(),
  };
});

/** `(int numerator, int denominator, slice destination) royalty_params()` (TEP-66) */
export const royaltyParams = getMethod('royalty_params', (stack): RoyaltyParams => {
  const result = new MethodResult('royalty_params', stack, 3);
  return { numerator: result.int64(), denominator: result.int64(), destination: result.accountOrNull() };
});

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  const refusal = { method: getTelemintTokenName.name, problem: 'is not UTF-8 text' };
  if (bytes.includes(0)) throw contractDataErrors['method-result'](refusal);
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw contractDataErrors['method-result'](refusal, error);
  }
}

/** `length:uint8 token_name:(bytes length) length:uint8 domain:(bytes length)` */
function readName({ data }: NativeAccount): string {
  const info = openCell(loadTelemintItem(data).token_info);
  const name = info.loadBytes(info.loadUint(8));
  info.skip(8 * info.loadUint(8)).end();
  return textOf(name);
}

/** `state:^[…] config:^[…]` */
function loadAuction(auction: Cell) {
  const slice = openCell(auction);
  const parts = { state: openCell(slice.loadRef()), config: openCell(slice.loadRef()) };
  slice.end();
  return parts;
}

/** `last_bid:(Maybe ^[bidder_address:MsgAddress bid:Coins bid_ts:uint32]) min_bid:Coins end_time:uint32` */
function readAuctionState({ data }: NativeAccount): TelemintAuctionState {
  const { auction } = loadTelemintItem(data);
  if (auction === null) throw contractDataErrors['other-form']({ problem: 'there is no auction' });
  const { state } = loadAuction(auction);
  const last = state.loadBit() ? openCell(state.loadRef()) : null;
  const min_bid = grams.load(state);
  const end_time = BigInt(state.loadUint(32));
  state.end();
  if (last === null) return { bidder_address: null, bid: 0n, bid_ts: 0n, min_bid, end_time };
  const bidder_address = loadPlainAddress(last);
  const bid = grams.load(last);
  const bid_ts = BigInt(last.loadUint(32));
  last.end();
  return { bidder_address, bid, bid_ts, min_bid, end_time };
}

const NO_CONFIG: TelemintAuctionConfig = {
  beneficiary_address: null,
  initial_min_bid: 0n,
  max_bid: 0n,
  min_bid_step: 0n,
  min_extend_time: 0n,
  duration: 0n,
};

/**
 * `beneficiary_address:MsgAddress initial_min_bid:Coins max_bid:Coins min_bid_step:uint8 min_extend_time:uint32
 * duration:uint32`
 */
function readAuctionConfig({ data }: NativeAccount): TelemintAuctionConfig {
  const { auction } = loadTelemintItem(data);
  if (auction === null) return NO_CONFIG;
  const { config } = loadAuction(auction);
  const read = {
    beneficiary_address: loadPlainAddress(config),
    initial_min_bid: grams.load(config),
    max_bid: grams.load(config),
    min_bid_step: BigInt(config.loadUint(8)),
    min_extend_time: BigInt(config.loadUint(32)),
    duration: BigInt(config.loadUint(32)),
  };
  config.end();
  return read;
}

/** `numerator:uint16 denominator:uint16 destination:MsgAddress` */
function readRoyalty({ data }: NativeAccount): RoyaltyParams {
  const slice = openCell(loadTelemintItem(data).royalty_params);
  const numerator = BigInt(slice.loadUint(16));
  const denominator = BigInt(slice.loadUint(16));
  const destination = loadPlainAddress(slice);
  slice.end();
  return { numerator, denominator, destination };
}

const codes: readonly NativeCode[] = [
  {
    hashes: [TELEMINT_NAME, TELEMINT_NUMBER, ...TELEMINT_GIFTS],
    getMethods: [
      nativeGetMethod(getTelemintTokenName, readName),
      nativeGetMethod(getTelemintAuctionState, readAuctionState),
      nativeGetMethod(getTelemintAuctionConfig, readAuctionConfig),
      nativeGetMethod(royaltyParams, readRoyalty),
    ],
  },
];

async function read(view: ContractView, contract: ViewedContract): Promise<TelemintItemData> {
  const token_name = await view.runGetMethod(contract, getTelemintTokenName);
  const config = await nullOnContractError(() => view.runGetMethod(contract, getTelemintAuctionConfig));
  const auction = config !== null && config.beneficiary_address !== null;
  return {
    token_name,
    state: auction ? await nullOnContractError(() => view.runGetMethod(contract, getTelemintAuctionState)) : null,
    config: auction ? config : null,
    royalty: await nullOnContractError(() => view.runGetMethod(contract, royaltyParams)),
  };
}

/** A Telegram username, number or gift, with its auction if there is one. */
export const telemintItem = contractInterface({
  name: 'telemint_item',
  methods: [[getTelemintTokenName.name]],
  codes,
  read,
  table: {
    name: 'telemint_items',
    columns: {
      token_name: 'text',
      bidder_address: 'address?',
      bid: 'numeric?',
      bid_ts: 'int8?',
      min_bid: 'numeric?',
      end_time: 'int8?',
      beneficiary_address: 'address?',
      initial_min_bid: 'numeric?',
      max_bid: 'numeric?',
      min_bid_step: 'numeric?',
      min_extend_time: 'int8?',
      duration: 'int8?',
      royalty_numerator: 'int8?',
      royalty_denominator: 'int8?',
      royalty_destination: 'address?',
    },
  },
  row: ({ token_name, state, config, royalty }) => ({
    token_name,
    bidder_address: state?.bidder_address ?? null,
    bid: state?.bid ?? null,
    bid_ts: state?.bid_ts ?? null,
    min_bid: state?.min_bid ?? null,
    end_time: state?.end_time ?? null,
    beneficiary_address: config?.beneficiary_address ?? null,
    initial_min_bid: config?.initial_min_bid ?? null,
    max_bid: config?.max_bid ?? null,
    min_bid_step: config?.min_bid_step ?? null,
    min_extend_time: config?.min_extend_time ?? null,
    duration: config?.duration ?? null,
    royalty_numerator: royalty?.numerator ?? null,
    royalty_denominator: royalty?.denominator ?? null,
    royalty_destination: royalty?.destination ?? null,
  }),
});
