import { Address } from '#formats/address/address.js';
import { addressErrors } from '#formats/address/errors.js';
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
