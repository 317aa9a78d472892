import type { Builder } from '#formats/cells/builder.js';
import { MAX_BITS } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { Slice } from '#formats/cells/slice.js';
import { BitString } from '#kernel/bytes.js';

/** Bits of a number `#<= max`: the length field of a label. */
function labelLengthBits(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * A label as stored in a cell; read repeatedly into the same object, so that walking allocates nothing.
 *
 * ```
 * hml_short$0 {m:#} {n:#} len:(Unary ~n) {n <= m} s:(n * Bit) = HmLabel ~n m;
 * hml_long$10 {m:#} n:(#<= m) s:(n * Bit) = HmLabel ~n m;
 * hml_same$11 {m:#} v:Bit n:(#<= m) = HmLabel ~n m;
 * ```
 */
export class DictLabel {
  /** Number of key bits in the label. */
  length = 0;
  /** Position of the first bit after the label, counted as the `start` given to {@link read}. */
  end = 0;
  #bytes: Uint8Array = NO_BYTES;
  /** Position of the bits, or -1 when all are equal and stored once. */
  #at = 0;
  #same = 0;

  /**
   * @param start bit of `bytes` at which the label starts
   * @param limit the bit after the last one of the cell
   * @param left remaining key bits: the maximum length of the label
   * @param cellStart bit of `bytes` at which the cell starts, for error messages
   * @throws cells/slice-underflow, cells/dict-label
   */
  read(bytes: Uint8Array, start: number, limit: number, left: number, cellStart = start): void {
    let at = start;
    if (limit - at < 2) throw underflow(at - cellStart, 2, limit - at);
    this.#bytes = bytes;
    const tag = readBits(bytes, at, 2);
    if (tag < 2) {
      const ones = runLength(bytes, at + 1, 1, limit - at - 1);
      if (ones > left) throw cellsErrors['dict-label']({ bit: start - cellStart, length: ones, left });
      at += ones + 2;
      if (at + ones > limit) throw underflow(at - cellStart, ones, limit - at);
      this.length = ones;
      this.#at = at;
      this.end = at + ones;
      return;
    }
    const width = labelLengthBits(left);
    const same = tag - 2;
    const header = 2 + same + width;
    if (at + header > limit) throw underflow(at - cellStart, header, limit - at);
    const length = readBits(bytes, at + 2 + same, width);
    if (length > left) throw cellsErrors['dict-label']({ bit: start - cellStart, length, left });
    this.length = length;
    if (same === 1) {
      this.#at = -1;
      this.#same = bitAt(bytes, at + 2);
      this.end = at + header;
      return;
    }
    at += header;
    if (at + length > limit) throw underflow(at - cellStart, length, limit - at);
    this.#at = at;
    this.end = at + length;
  }

  /** Number of leading label bits that equal those of `key` from bit `at` on. */
  matches(key: Uint8Array, at: number): number {
    if (this.length === 0) return 0;
    if (this.#at < 0) return runLength(key, at, this.#same, this.length);
    return commonBits(this.#bytes, this.#at, key, at, this.length);
  }

  /** The bit at `index` of the label. */
  bit(index: number): number {
    return this.#at < 0 ? this.#same : bitAt(this.#bytes, this.#at + index);
  }

  /** Writes the label's bits to `key` from bit `at` on. */
  copyTo(key: Uint8Array, at: number): void {
    if (this.#at < 0) fillBits(key, at, this.#same, this.length);
    else copyBits(key, at, this.#bytes, this.#at, this.length);
  }
}

const NO_BYTES = new Uint8Array(0);

/**
 * Reads a label `HmLabel ~n m` and moves past it; any of the three forms is accepted.
 * @param left the `m`: remaining key bits
 * @throws cells/slice-underflow, cells/dict-label
 */
export function readLabel(slice: Slice, left: number): BitString {
  const bit = slice.bitOffset;
  if (!slice.loadBit()) {
    let length = 0;
    while (slice.loadBit()) length++;
    if (length > left) throw cellsErrors['dict-label']({ bit, length, left });
    return slice.loadBits(length);
  }
  const same = slice.loadBit();
  const value = same && slice.loadBit() ? 1 : 0;
  const length = slice.loadUint(labelLengthBits(left));
  if (length > left) throw cellsErrors['dict-label']({ bit, length, left });
  if (!same) return slice.loadBits(length);
  const bytes = new Uint8Array((length + 7) >> 3);
  fillBits(bytes, 0, value, length);
  return new BitString(bytes, length);
}

/** The label forms by their first two bits; `hml_short` has only the first of them. */
export type LabelForm = 0 | 2 | 3;

/**
 * The only form in which the network accepts a label: the shortest one, and `hml_short` among equally short ones.
 * The label is `length` bits of `key` from bit `at` on.
 * @param left the `m`: remaining key bits
 */
export function labelForm(key: Uint8Array, at: number, length: number, left: number): LabelForm {
  const width = labelLengthBits(left);
  if (length > 1 && width < 2 * length - 1 && runLength(key, at, bitAt(key, at), length) === length) return 3;
  return width < length ? 2 : 0;
}

/** Writes `length` bits of `key` from bit `at` on as a label, in its only valid form. */
export function storeLabel(builder: Builder, key: Uint8Array, at: number, length: number, left: number): void {
  const width = labelLengthBits(left);
  const form = labelForm(key, at, length, left);
  if (form === 3) {
    builder.storeUint(6 + bitAt(key, at), 3).storeUint(length, width);
    return;
  }
  // A short label is at most as long as its length field: 10 bits.
  if (form === 2) builder.storeUint(2, 2).storeUint(length, width);
  else builder.storeUint((1 << (length + 1)) - 2, length + 2);
  if (length === 0) return;
  const bits = new Uint8Array((length + 7) >> 3);
  copyBits(bits, 0, key, at, length);
  builder.storeBits(new BitString(bits, length));
}

function underflow(bit: number, wanted: number, left: number): Error {
  return cellsErrors['slice-underflow']({ bit, wanted, left: Math.max(left, 0) });
}

/**
 * Checks that a key is `keyBits` bits (0..1023) in ⌈keyBits/8⌉ bytes: left-aligned, unused bits zero.
 * @throws cells/dict-key
 */
export function checkKey(keyBits: number, key: Uint8Array): void {
  if (keyBits >= 0 && keyBits <= MAX_BITS && key.length === (keyBits + 7) >> 3) {
    if ((keyBits & 7) === 0 || (key[key.length - 1]! & (0xff >> (keyBits & 7))) === 0) return;
  }
  throw cellsErrors['dict-key']({ keyBits, bytes: key.length });
}

/** A writable key of zeros. @throws cells/dict-key when the size is invalid */
export function emptyKey(keyBits: number): Uint8Array {
  if (!Number.isInteger(keyBits) || keyBits < 0 || keyBits > MAX_BITS) {
    throw cellsErrors['dict-key']({ keyBits, bytes: 0 });
  }
  return new Uint8Array((keyBits + 7) >> 3);
}

/** Up to 16 bits from bit `at` on, as a number. Bytes past the end of the array count as zero. */
export function readBits(bytes: Uint8Array, at: number, length: number): number {
  const byte = at >> 3;
  const window = (bytes[byte]! << 16) | (bytes[byte + 1]! << 8) | bytes[byte + 2]!;
  return (window >> (24 - (at & 7) - length)) & ((1 << length) - 1);
}

/** The bit at `at`: 0 or 1. */
export function bitAt(bytes: Uint8Array, at: number): number {
  return (bytes[at >> 3]! >> (7 - (at & 7))) & 1;
}

/** Overwrites the bit at `at`. */
export function putBit(bytes: Uint8Array, at: number, bit: number): void {
  const mask = 0x80 >> (at & 7);
  if (bit === 0) bytes[at >> 3]! &= ~mask;
  else bytes[at >> 3]! |= mask;
}

/** Overwrites `length` bits of `to` from bit `toAt` on with those of `from` from bit `fromAt` on. */
export function copyBits(to: Uint8Array, toAt: number, from: Uint8Array, fromAt: number, length: number): void {
  let target = toAt;
  let source = fromAt;
  let left = length;
  while (left > 0) {
    const shift = target & 7;
    const size = Math.min(left, 8 - shift);
    const byte = source >> 3;
    const window = ((from[byte]! << 8) | from[byte + 1]!) << (source & 7);
    const value = (window & 0xffff) >> (16 - size);
    const down = 8 - shift - size;
    const at = target >> 3;
    to[at] = (to[at]! & ~(((1 << size) - 1) << down)) | (value << down);
    target += size;
    source += size;
    left -= size;
  }
}

/** Overwrites `length` bits from bit `at` on with copies of one bit. */
export function fillBits(to: Uint8Array, at: number, bit: number, length: number): void {
  const end = at + length;
  for (let i = at; i < end; ) {
    if ((i & 7) === 0 && end - i >= 8) {
      to[i >> 3] = bit === 0 ? 0 : 0xff;
      i += 8;
    } else putBit(to, i++, bit);
  }
}

/** Number of leading equal bits, at most `length`, of `a` from bit `aAt` on and `b` from bit `bAt` on. */
export function commonBits(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number, length: number): number {
  for (let done = 0; done < length; done += 8) {
    const i = aAt + done;
    const j = bAt + done;
    const left = ((a[i >> 3]! << 8) | a[(i >> 3) + 1]!) >> (8 - (i & 7));
    const right = ((b[j >> 3]! << 8) | b[(j >> 3) + 1]!) >> (8 - (j & 7));
    const difference = (left ^ right) & 0xff;
    if (difference === 0) continue;
    const equal = done + Math.clz32(difference) - 24;
    return Math.min(equal, length);
  }
  return length;
}

/** Number of leading bits, at most `length`, from bit `at` on that equal `bit`. */
export function runLength(bytes: Uint8Array, at: number, bit: number, length: number): number {
  const flip = bit === 0 ? 0 : 0xff;
  for (let done = 0; done < length; done += 8) {
    const i = at + done;
    const difference = ((((bytes[i >> 3]! << 8) | bytes[(i >> 3) + 1]!) >> (8 - (i & 7))) ^ flip) & 0xff;
    if (difference === 0) continue;
    const equal = done + Math.clz32(difference) - 24;
    return Math.min(equal, length);
  }
  return length;
}
