import { Address } from '#formats/address/address.js';
import { addressErrors } from '#formats/address/errors.js';
import type { Builder } from '#formats/cells/builder.js';
import type { Slice } from '#formats/cells/slice.js';
import { type Codec, maybe } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import type { BitString } from '#kernel/bytes.js';

/** `anycast_info$_ depth:(#<= 30) { depth >= 1 } rewrite_pfx:(bits depth) = Anycast;` */
export interface Anycast {
  readonly depth: number;
  readonly rewrite_pfx: BitString;
}

/** `addr_extern$01 len:(## 9) external_address:(bits len) = MsgAddressExt;` */
export interface AddrExtern {
  readonly kind: 'addr_extern';
  readonly external_address: BitString;
}

/**
 * `addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256 = MsgAddressInt;` with anycast, which only
 * old data has. Without anycast, it is an {@link Address}.
 */
export interface AddrStdAnycast {
  readonly kind: 'addr_std';
  readonly anycast: Anycast;
  readonly workchain_id: number;
  /** 32 bytes, as stored: the prefix is not applied. */
  readonly address: Uint8Array;
}

/** `addr_var$11 anycast:(Maybe Anycast) addr_len:(## 9) workchain_id:int32 address:(bits addr_len) = MsgAddressInt;` */
export interface AddrVar {
  readonly kind: 'addr_var';
  readonly anycast: Anycast | null;
  readonly workchain_id: number;
  readonly address: BitString;
}

/** `addr_none$00` is `null`. */
export type MsgAddressExt = AddrExtern | null;
/** `addr_std$10` without anycast is an `Address`. */
export type MsgAddressInt = Address | AddrStdAnycast | AddrVar;
/**
 * Source or destination of a message. Nearly all are an `Address` or `null`; distinguish them by
 * `value === null`, `value instanceof Address`, else by `kind`. Use {@link accountOf} when only the account matters.
 */
export type MsgAddress = MsgAddressInt | MsgAddressExt;

/** The address with its first `depth` bits replaced, as new bytes. @throws address/anycast-depth when it is shorter */
export function applyAnycast(anycast: Anycast, address: Uint8Array, bits: number = address.length * 8): Uint8Array {
  const { rewrite_pfx: prefix } = anycast;
  if (prefix.length > bits) throw addressErrors['anycast-depth']({ depth: prefix.length, bits });
  const rewritten = address.slice();
  const whole = prefix.length >> 3;
  rewritten.set(prefix.bytes.subarray(0, whole));
  const rest = prefix.length & 7;
  if (rest !== 0) {
    const keep = 0xff >> rest;
    rewritten[whole] = (prefix.bytes[whole]! & ~keep) | (rewritten[whole]! & keep);
  }
  return rewritten;
}

/**
 * The account of a message address, with anycast applied; `null` when there is none (`addr_none`, `addr_extern`,
 * or an `addr_var` whose length is not 256 bits).
 */
export function accountOf(value: MsgAddress): Address | null {
  if (value === null || value instanceof Address) return value;
  if (value.kind === 'addr_std') {
    return Address.ofParts(value.workchain_id, applyAnycast(value.anycast, value.address));
  }
  if (value.kind === 'addr_extern' || value.address.length !== 256) return null;
  const { anycast, address } = value;
  return Address.ofParts(value.workchain_id, anycast === null ? address.bytes : applyAnycast(anycast, address.bytes));
}

/**
 * Human-readable form that shows every part of the value: `addr_none`, `0:83df…`, `addr_extern:C0FFEE`,
 * `0:83df… anycast:A_`, `addr_var:-5:83DF_`. Bits are formatted as by {@link BitString}.
 */
export function formatMsgAddress(value: MsgAddress): string {
  if (value === null) return 'addr_none';
  if (value instanceof Address) return value.toRaw();
  if (value.kind === 'addr_extern') return `addr_extern:${value.external_address}`;
  const anycast = value.anycast === null ? '' : ` anycast:${value.anycast.rewrite_pfx}`;
  if (value.kind === 'addr_std') return `${Address.ofParts(value.workchain_id, value.address).toRaw()}${anycast}`;
  return `addr_var:${value.workchain_id}:${value.address}${anycast}`;
}

const TAG = { none: 0b00, extern: 0b01, std: 0b10, var: 0b11 } as const;
const MAX_ANYCAST_DEPTH = 30;
const MAX_ADDRESS_LENGTH = 511;

/** `anycast_info$_ depth:(#<= 30) { depth >= 1 } rewrite_pfx:(bits depth) = Anycast;` Only in old data: new addresses have none since global version 10. */
export const Anycast: Codec<Anycast> = {
  type: 'Anycast',
  load: (slice) => {
    const bit = slice.bitOffset;
    const depth = slice.loadUint(5);
    checkDepth(depth, bit);
    return { depth, rewrite_pfx: slice.loadBits(depth) };
  },
  store: ({ depth, rewrite_pfx }, builder) => {
    checkDepth(depth, builder.bits);
    if (rewrite_pfx.length !== depth) {
      throw tlbErrors.constraint({
        bit: builder.bits,
        value: `${rewrite_pfx.length} bits`,
        rule: `rewrite_pfx:(bits ${depth})`,
      });
    }
    builder.storeUint(depth, 5).storeBits(rewrite_pfx);
  },
};

const MaybeAnycast = maybe(Anycast);

/**
 * An account: `addr_std` (an {@link Address} when it has no anycast) or the rare `addr_var`.
 * `addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256 = MsgAddressInt;`
 * `addr_var$11 anycast:(Maybe Anycast) addr_len:(## 9) workchain_id:int32 address:(bits addr_len) = MsgAddressInt;`
 */
export const MsgAddressInt: Codec<MsgAddressInt> = {
  type: 'MsgAddressInt',
  load: (slice) => {
    const tag = slice.preloadUint(2);
    if (tag < TAG.std) throw wrongTag('MsgAddressInt', slice, tag, 'addr_std$10 or addr_var$11');
    return loadInt(slice, tag);
  },
  store: (value, builder) => storeInt(value, builder),
};

/**
 * An external address, or none (`null`).
 * `addr_none$00 = MsgAddressExt;`
 * `addr_extern$01 len:(## 9) external_address:(bits len) = MsgAddressExt;`
 */
export const MsgAddressExt: Codec<MsgAddressExt> = {
  type: 'MsgAddressExt',
  load: (slice) => {
    const tag = slice.preloadUint(2);
    if (tag > TAG.extern) throw wrongTag('MsgAddressExt', slice, tag, 'addr_none$00 or addr_extern$01');
    return loadExt(slice, tag);
  },
  store: (value, builder) => storeExt(value, builder),
};

/** Any of the four kinds: `_ _:MsgAddressInt = MsgAddress; _ _:MsgAddressExt = MsgAddress;` */
export const MsgAddress: Codec<MsgAddress> = {
  type: 'MsgAddress',
  load: (slice) => {
    const tag = slice.preloadUint(2);
    return tag < TAG.std ? loadExt(slice, tag) : loadInt(slice, tag);
  },
  store: (value, builder) => {
    if (value === null || (!(value instanceof Address) && value.kind === 'addr_extern')) storeExt(value, builder);
    else storeInt(value, builder);
  },
};

function loadInt(slice: Slice, tag: number): MsgAddressInt {
  slice.skip(2);
  const anycast = MaybeAnycast.load(slice);
  if (tag === TAG.std) {
    const workchain_id = slice.loadInt(8);
    const address = slice.loadBytes(32);
    if (anycast === null) return Address.ofParts(workchain_id, address);
    return { kind: 'addr_std', anycast, workchain_id, address };
  }
  const bit = slice.bitOffset;
  const length = slice.loadUint(9);
  if (anycast !== null && anycast.depth > length) throw prefixTooLong(bit, anycast.depth, length);
  return { kind: 'addr_var', anycast, workchain_id: slice.loadInt(32), address: slice.loadBits(length) };
}

function storeInt(value: MsgAddressInt, builder: Builder): void {
  if (value instanceof Address) {
    builder.storeUint(0b100, 3).storeInt(value.workchain, 8).storeBytes(value.hash);
    return;
  }
  const { anycast, workchain_id } = value;
  if (value.kind === 'addr_std') {
    builder.storeUint(TAG.std, 2);
    MaybeAnycast.store(anycast, builder);
    builder.storeInt(workchain_id, 8).storeBytes(value.address);
    return;
  }
  const { length } = value.address;
  if (anycast !== null && anycast.depth > length) throw prefixTooLong(builder.bits, anycast.depth, length);
  builder.storeUint(TAG.var, 2);
  MaybeAnycast.store(anycast, builder);
  builder.storeUint(checkLength(length, builder.bits), 9).storeInt(workchain_id, 32).storeBits(value.address);
}

function loadExt(slice: Slice, tag: number): MsgAddressExt {
  slice.skip(2);
  if (tag === TAG.none) return null;
  return { kind: 'addr_extern', external_address: slice.loadBits(slice.loadUint(9)) };
}

function storeExt(value: AddrExtern | null, builder: Builder): void {
  if (value === null) {
    builder.storeUint(TAG.none, 2);
    return;
  }
  const { external_address } = value;
  builder
    .storeUint(TAG.extern, 2)
    .storeUint(checkLength(external_address.length, builder.bits), 9)
    .storeBits(external_address);
}

function checkDepth(depth: number, bit: number): void {
  if (depth < 1 || depth > MAX_ANYCAST_DEPTH)
    throw tlbErrors.constraint({ bit, value: String(depth), rule: '1 <= depth <= 30' });
}

function checkLength(length: number, bit: number): number {
  if (length > MAX_ADDRESS_LENGTH) throw tlbErrors.constraint({ bit, value: `${length} bits`, rule: 'len:(## 9)' });
  return length;
}

function prefixTooLong(bit: number, depth: number, length: number): Error {
  return tlbErrors.constraint({ bit, value: `an address of ${length} bits`, rule: `anycast of depth ${depth}` });
}

function wrongTag(type: string, slice: Slice, tag: number, wanted: string): Error {
  const found = `$${tag.toString(2).padStart(2, '0')}`;
  return tlbErrors['constructor-tag']({ bit: slice.bitOffset, type, found, wanted });
}
