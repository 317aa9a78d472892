import { contractDataErrors } from '#domain/contracts/errors.js';
import { type Address, crc16 } from '#formats/address/address.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import { concatBytes, toBase64Url } from '#kernel/bytes.js';

/* The payment channels of tonlib, with one channel per contract: chan_data in block.tlb. */

interface PaymentChannelConfig {
  /** int32: seconds. */
  readonly init_timeout: number;
  /** int32: seconds. */
  readonly close_timeout: number;
  /** Ed25519, 32 bytes. */
  readonly a_key: Uint8Array;
  /** Ed25519, 32 bytes. */
  readonly b_key: Uint8Array;
  readonly a_addr: Address;
  readonly b_addr: Address;
  /** int64 */
  readonly channel_id: bigint;
}

/** Amounts of both sides in nanotons. */
export type PaymentChannelState =
  | {
      readonly kind: 'init' | 'close';
      readonly signed_A: boolean;
      readonly signed_B: boolean;
      /** `min_A` of a channel that is opened, `promise_A` of one that is closed. */
      readonly min_A: bigint;
      readonly min_B: bigint;
      /** Unix seconds. */
      readonly expire_at: number;
      readonly A: bigint;
      readonly B: bigint;
    }
  | { readonly kind: 'payout'; readonly A: bigint; readonly B: bigint };

export interface PaymentChannel {
  readonly config: PaymentChannelConfig;
  readonly state: PaymentChannelState;
}

/**
 * Reads `chan_data$_ config:^ChanConfig state:^ChanState = ChanData;`
 * @throws contract-data/other-form; cells/*, tlb/*
 */
export function readPaymentChannel(data: Slice): PaymentChannel {
  const config = readConfig(openCell(data.loadRef()));
  const state = readState(openCell(data.loadRef()));
  data.end();
  return { config, state };
}

/**
 * `chan_config$_ init_timeout:uint32 close_timeout:uint32 a_key:bits256 b_key:bits256 a_addr:^MsgAddressInt b_addr:^MsgAddressInt
 * channel_id:uint64 min_A_extra:Grams = ChanConfig;`
 */
function readConfig(slice: Slice): PaymentChannelConfig {
  const config = {
    init_timeout: slice.loadInt(32),
    close_timeout: slice.loadInt(32),
    a_key: slice.loadBytes(32),
    b_key: slice.loadBytes(32),
    a_addr: readAddress(openCell(slice.loadRef())),
    b_addr: readAddress(openCell(slice.loadRef())),
    channel_id: slice.loadIntBig(64),
  };
  grams.load(slice);
  slice.end();
  return config;
}

function readAddress(slice: Slice): Address {
  const address = accountOf(MsgAddress.load(slice));
  slice.end();
  if (address === null) throw contractDataErrors['other-form']({ problem: 'a side of the channel has no address' });
  return address;
}

/**
 * ```
 * chan_state_init$000 signed_A:Bool signed_B:Bool min_A:Grams min_B:Grams expire_at:uint32 A:Grams B:Grams = ChanState;
 * chan_state_close$001 signed_A:Bool signed_B:Bool promise_A:Grams promise_B:Grams expire_at:uint32 A:Grams B:Grams = ChanState;
 * chan_state_payout$010 A:Grams B:Grams = ChanState;
 * ```
 */
function readState(slice: Slice): PaymentChannelState {
  const tag = slice.loadUint(3);
  if (tag > 2) throw contractDataErrors['other-form']({ problem: `the state of the channel has the tag ${tag}` });
  const amounts = () => ({ A: grams.load(slice), B: grams.load(slice) });
  let state: PaymentChannelState;
  if (tag === 2) state = { kind: 'payout', ...amounts() };
  else {
    const signatures = { signed_A: slice.loadBit(), signed_B: slice.loadBit() };
    const bounds = { min_A: grams.load(slice), min_B: grams.load(slice) };
    const expire_at = slice.loadUint(32);
    state = { kind: tag === 0 ? 'init' : 'close', ...signatures, ...bounds, expire_at, ...amounts() };
  }
  slice.end();
  return state;
}

/** The state in the text form that nodes give TL-B values. */
export function paymentChannelText(state: PaymentChannelState): string {
  const sides = `${amountText('A', state.A)}${amountText('B', state.B)}`;
  if (state.kind === 'payout') return `(chan_state_payout${sides})\n`;
  const { kind, signed_A, signed_B, min_A, min_B, expire_at } = state;
  const bound = kind === 'init' ? 'min' : 'promise';
  const bounds = `${amountText(`${bound}_A`, min_A)}${amountText(`${bound}_B`, min_B)}`;
  const signatures = `signed_A:${Number(signed_A)} signed_B:${Number(signed_B)}`;
  return `(chan_state_${kind} ${signatures}${bounds} expire_at:${expire_at}${sides})\n`;
}

function amountText(name: string, value: bigint): string {
  const length = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return `\n  ${name}:(nanograms\n    amount:(var_uint len:${length} value:${value}))`;
}

/** Marks an Ed25519 key in {@link publicKeyText}. */
const KEY_TAG = [0x3e, 0xe6];

/** An Ed25519 key as tonlib writes it, `Pu…`: a tag, the 32 bytes and their CRC-16 in URL-safe base64. */
export function publicKeyText(key: Uint8Array): string {
  const text = concatBytes(Uint8Array.from(KEY_TAG), key);
  const crc = crc16(text);
  return toBase64Url(concatBytes(text, Uint8Array.of(crc >> 8, crc & 0xff)));
}
