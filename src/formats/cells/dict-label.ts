import type { Builder } from '#formats/cells/builder.js';
import { bitAt, commonBits, copyBits, fillBits, readBits, runLength } from '#formats/cells/dict-bits.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { Slice } from '#formats/cells/slice.js';
import { BitString } from '#kernel/bytes/bit-string.js';

/** Bits of a number `#<= max`: the length field of a label. */
export function labelLengthBits(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * A label as it stands in a cell; read again and again into the same object, so that walking allocates nothing.
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
  /** Bit of the first bit after the label, counted as the `start` given to {@link read}. */
  end = 0;
  #bytes: Uint8Array = NO_BYTES;
  /** Position of the bits, or -1 when all are equal and only written once. */
  #at = 0;
  #same = 0;

  /**
   * @param start bit of `bytes` at which the label begins; `limit` the bit after the last of the cell
   * @param left bits of the key that are not known yet: the label has at most that many
   * @param cellStart bit of `bytes` at which the cell begins, for error messages
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

  /** How many of the label's bits equal those of `key` from bit `at` on. */
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
 * Reads a label `HmLabel ~n m` and moves behind it; any of the three forms is accepted.
 * @param left the `m`: bits of the key that are not known yet
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

/** The forms of a label by their first two bits; `short` has only the first of them. */
export type LabelForm = 0 | 2 | 3;

/**
 * The one form in which the network accepts a label: the shortest; of equally short ones `short` before the others.
 * The label is `length` bits of `key` from bit `at` on.
 * @param left the `m`: bits of the key that are not known yet
 */
export function labelForm(key: Uint8Array, at: number, length: number, left: number): LabelForm {
  const width = labelLengthBits(left);
  if (length > 1 && width < 2 * length - 1 && runLength(key, at, bitAt(key, at), length) === length) return 3;
  return width < length ? 2 : 0;
}

/** Writes `length` bits of `key` from bit `at` on as a label, in its one accepted form. */
export function storeLabel(builder: Builder, key: Uint8Array, at: number, length: number, left: number): void {
  const width = labelLengthBits(left);
  const form = labelForm(key, at, length, left);
  if (form === 3) {
    builder.storeUint(6 + bitAt(key, at), 3).storeUint(length, width);
    return;
  }
  // A short label is at most as long as its length field would be: 10 bits.
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
