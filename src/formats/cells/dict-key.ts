import { MAX_BITS } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';

/**
 * Keys are strings of `keyBits` bits (0..1023) in ⌈keyBits/8⌉ bytes: left-aligned, bits after the last one zero.
 * @throws cells/dict-key when the key is not
 */
export function checkKey(keyBits: number, key: Uint8Array): void {
  if (keyBits >= 0 && keyBits <= MAX_BITS && key.length === (keyBits + 7) >> 3) {
    if ((keyBits & 7) === 0 || (key[key.length - 1]! & (0xff >> (keyBits & 7))) === 0) return;
  }
  throw cellsErrors['dict-key']({ keyBits, bytes: key.length });
}

/** A key of zeros to write to. @throws cells/dict-key when there are no keys of that size */
export function emptyKey(keyBits: number): Uint8Array {
  if (!Number.isInteger(keyBits) || keyBits < 0 || keyBits > MAX_BITS) {
    throw cellsErrors['dict-key']({ keyBits, bytes: 0 });
  }
  return new Uint8Array((keyBits + 7) >> 3);
}
