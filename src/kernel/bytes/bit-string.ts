import { toHex } from '#kernel/bytes/bytes.js';

/** A string of bits whose length need not be a multiple of eight: most significant bit first, the bits after the last are 0. */
export class BitString {
  readonly bytes: Uint8Array;
  readonly length: number;

  /** @param bytes ⌈length/8⌉ bytes; bits after the last must be 0 */
  constructor(bytes: Uint8Array, length: number) {
    this.bytes = bytes;
    this.length = length;
  }

  /** The bit at `index`: 0 or 1. */
  at(index: number): number {
    return (this.bytes[index >> 3]! >> (7 - (index & 7))) & 1;
  }

  /** As in TON tools: hexadecimal digits, and a `_` after a padded last digit. `C_` is `1`, `C` is `1100`. */
  toString(): string {
    const rest = this.length & 3;
    const digits = (this.length + 3) >> 2;
    if (rest === 0) return toHex(this.bytes).slice(0, digits).toUpperCase();
    const padded = this.bytes.slice();
    padded[this.length >> 3]! |= 0x80 >> (this.length & 7);
    return `${toHex(padded).slice(0, digits).toUpperCase()}_`;
  }
}
