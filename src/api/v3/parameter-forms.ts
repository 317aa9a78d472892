import type { Profile } from '#api/http/http-api.js';
import { v3Errors } from '#api/v3/errors.js';
import type { Address } from '#formats/address/address.js';
import { parseAddress } from '#formats/address/parse-address.js';
import { fromBase64, fromHex } from '#kernel/bytes/bytes.js';

const MAX_UINT64 = (1n << 64n) - 1n;
const MAX_INT64 = (1n << 63n) - 1n;
const MIN_INT64 = -(1n << 63n);

/** An account in raw or user-friendly form; the flags of the latter do not matter. @throws address/*, v3/parameter-value */
export function decodeAddress(text: string): Address {
  const { address } = parseAddress(text);
  if ((address.workchain << 24) >> 24 === address.workchain) return address;
  throw badValue(`the workchain of ${quoted(text)} is not within -128 to 127`);
}

/** As {@link decodeAddress}, or the word `null`, which is no address. @throws address/*, v3/parameter-value */
export function decodeAddressOrNull(text: string): Address | null {
  return text === 'null' ? null : decodeAddress(text);
}

/**
 * Reads 256 bits: 64 hexadecimal digits, with `0x` or without, or 44 characters of base64 or base64url.
 * @throws v3/parameter-value
 */
export function decodeHash(text: string): Uint8Array {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  const bytes = digits.length === 64 ? fromHex(digits) : text.length === 44 ? fromBase64(text) : null;
  if (bytes?.length === 32) return bytes;
  const hint = text.includes(' ') ? '; a + must be written %2B in a URL' : '';
  throw badValue(`${quoted(text)} is not a hash: 64 hexadecimal digits or 44 characters of base64${hint}`);
}

/**
 * A shard, as uint64: hexadecimal with `0x` or without, or else a signed decimal number. Of the two readings of decimal digits
 * just one is a shard, but for shards that are split more than nine times.
 * @throws v3/parameter-value
 */
export function decodeShard(text: string): bigint {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,16})$/.exec(text)?.[1];
  if (hex !== undefined) {
    const shard = BigInt(`0x${hex}`);
    if (isShard(shard)) return shard;
  }
  if (/^-?\d{1,19}$/.test(text)) {
    const value = BigInt(text);
    const shard = BigInt.asUintN(64, value);
    if (value >= MIN_INT64 && value <= MAX_INT64 && isShard(shard)) return shard;
  }
  throw badValue(`${quoted(text)} is not a shard: up to 16 hexadecimal digits, or a signed 64-bit decimal number`);
}

/** A prefix of at most 60 bits, the bit 1 that ends it, and zeros. */
function isShard(shard: bigint): boolean {
  return shard !== 0n && (shard & 7n) === 0n;
}

/** How a text may be meant as an opcode; each reading is unsigned. */
export interface OpcodeReadings {
  /** As the published document says it: digits alone are decimal. */
  readonly spec: number;
  /** As the live service does: what can be hexadecimal, is. */
  readonly toncenter: number;
}

/**
 * The first 32 bits of a body: hexadecimal with `0x` or without, or a signed decimal number.
 * @throws v3/parameter-value
 */
export function decodeOpcode(text: string): OpcodeReadings {
  const hex = /^(?:0[xX])?([0-9a-fA-F]{1,8})$/.exec(text)?.[1];
  const asHex = hex === undefined ? null : Number.parseInt(hex, 16);
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : null;
  const asDecimal = value !== null && (value | 0) === value ? value >>> 0 : null;
  const spec = asDecimal ?? asHex;
  const toncenter = asHex ?? asDecimal;
  if (spec !== null && toncenter !== null) return { spec, toncenter };
  throw badValue(
    `${quoted(text)} is not an opcode: 0x and up to 8 hexadecimal digits, or a signed 32-bit decimal number`,
  );
}

/** The reading of a profile; undefined: none was given. */
export function opcodeIn(profile: Profile, readings: OpcodeReadings | undefined): number | undefined {
  return readings?.[profile];
}

/**
 * A logical time in decimal digits, uint64. None comes near to 2^63, beyond which databases do not count: bounds above it are
 * cut to it.
 * @throws v3/parameter-value
 */
export function decodeLt(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : null;
  if (value !== null && value <= MAX_UINT64) return value > MAX_INT64 ? MAX_INT64 : value;
  throw badValue(`${quoted(text)} is not a whole number from 0 to ${MAX_UINT64}`);
}

const SORTS: ReadonlyMap<string, 'asc' | 'desc'> = new Map([
  ['asc', 'asc'],
  ['a', 'asc'],
  ['desc', 'desc'],
  ['d', 'desc'],
]);

/** `asc` or `desc`, shortened to a letter or not, in any letter case. @throws v3/parameter-value */
export function decodeSort(text: string): 'asc' | 'desc' {
  const sort = SORTS.get(text.toLowerCase());
  if (sort !== undefined) return sort;
  throw badValue(`${quoted(text)} is neither asc nor desc`);
}

/** An index of an item in its collection: at most 257 bits. @throws v3/parameter-value */
export function decodeIndex(text: string): bigint {
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw badValue(`index should contain digits only, at most 78, but is ${quoted(text)}`);
}

export function badValue(problem: string, cause?: unknown): Error {
  return v3Errors['parameter-value']({ problem }, cause);
}

/** A text as an error message can show it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
