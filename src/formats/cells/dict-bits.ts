/** Up to 16 bits at bit `at`, as a number. Bytes past the end of the array count as zero. */
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

/** How many of at most `length` bits are equal in `a` from bit `aAt` on and `b` from bit `bAt` on. */
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

/** How many of at most `length` bits from bit `at` on equal `bit`. */
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
