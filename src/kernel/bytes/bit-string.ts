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

  /** As in TON tools: hexadecimal digits, and a `_` after a padded last digit. `8_` is the empty string, `C_` is `1`. */
  toString(): string {
    if (this.length % 4 === 0)
      return toHex(this.bytes)
        .slice(0, this.length / 4)
        .toUpperCase();
    const padded = new Uint8Array((this.length >> 3) + 1);
    padded.set(this.bytes);
    padded[this.length >> 3]! |= 0x80 >> (this.length & 7);
    return `${toHex(padded)
      .slice(0, (this.length >> 2) + 1)
      .toUpperCase()}_`;
  }
}
