import { hash as nativeHash } from 'node:crypto';
import { sha256Short } from '#formats/cells/sha256-short.js';

/** From this length on, native SHA-256 (with SHA instructions) is faster despite its call overhead. */
const NATIVE_FROM = 230;

/**
 * SHA-256 of `input[0, length)`, written to `out` at `offset`. Short inputs, such as nearly all cells, are hashed without a native
 * call. `input` may be longer than `length`.
 */
export function sha256Into(input: Uint8Array, length: number, out: Uint8Array, offset: number): void {
  if (length < NATIVE_FROM) sha256Short(input, length, out, offset);
  else out.set(nativeHash('sha256', input.subarray(0, length), 'buffer'), offset);
}

/** SHA-256 of `input` (any length), 32 new bytes. */
export function sha256(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(32);
  sha256Into(input, input.length, out, 0);
  return out;
}

/** Tables for eight bytes at a time ("slicing by 8") of CRC-32C: Castagnoli polynomial 0x1edc6f41, reflected. */
const tables: readonly Uint32Array[] = makeTables();

function makeTables(): readonly Uint32Array[] {
  const all = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78;
    all[0]![byte] = crc;
  }
  for (let slice = 1; slice < 8; slice++) {
    for (let byte = 0; byte < 256; byte++) {
      const previous = all[slice - 1]![byte]!;
      all[slice]![byte] = (previous >>> 8) ^ all[0]![previous & 0xff]!;
    }
  }
  return all;
}

/** CRC-32C of `bytes` as an unsigned number (RFC 3720 §B.4); bags of cells store it in little-endian order. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let crc = -1;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      t7[crc & 0xff]! ^
      t6[(crc >>> 8) & 0xff]! ^
      t5[(crc >>> 16) & 0xff]! ^
      t4[crc >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

/** `x^(8 * 2^k)` modulo the polynomial, reflected: what appending 2^k zero bytes multiplies a CRC with. */
const zeroBytes: readonly number[] = makeZeroBytes();

function makeZeroBytes(): readonly number[] {
  // x^8: the bit of x^0 is the highest one.
  const powers = [0x80000000 >>> 8];
  for (let k = 1; k < 53; k++) powers.push(multiply(powers[k - 1]!, powers[k - 1]!));
  return powers;
}

/** The product of two polynomials modulo that of CRC-32C, all reflected. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit--) {
    if (((a >>> bit) & 1) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ 0x82f63b78;
  }
  return product >>> 0;
}

/**
 * The CRC-32C of two pieces one after the other, from those of the pieces: large files are read from their end.
 *
 * @param length of the second piece, in bytes
 */
export function joinCrc32c(first: number, second: number, length: number): number {
  let shifted = first;
  for (let k = 0, rest = length; rest > 0; k++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = multiply(zeroBytes[k]!, shifted);
  }
  return (shifted ^ second) >>> 0;
}
