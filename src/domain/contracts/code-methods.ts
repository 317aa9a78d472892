import type { Cell } from '#formats/cells/cell.js';
import { DictWalk } from '#formats/cells/dict-walk.js';
import { openCell } from '#formats/cells/slice.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** `SETCP0` */
const SETCP0 = 0xff00;
/** `DICTPUSHCONST`, then a bit, the length of keys in 10 bits, and a reference to the dictionary. */
const DICTPUSHCONST = 0b1111_0100_1010_0;

/** Longer keys have no place in a column of integers; compilers write 19 bits. */
const MAX_KEY_BITS = 31;
/** Cells that are visited: more than the largest contracts have, and few enough for any that is made to keep us busy. */
const MAX_VISITS = 8_192;

/**
 * The get methods of a code by their ids, rising, as unsigned numbers: 0 is the entry of internal messages, 524287 (-1 in 19
 * bits) that of external ones. The code is not run: it has to begin as compilers write it, with a jump into a constant
 * dictionary.
 *
 * @param code as a whole; of a library reference, the library
 * @returns null when it begins otherwise, or has more entries than any contract
 */
export function codeMethods(code: Cell): readonly number[] | null {
  try {
    const slice = openCell(code);
    if (slice.loadUint(16) !== SETCP0 || slice.loadUint(13) !== DICTPUSHCONST) return null;
    slice.skip(1);
    const keyBits = slice.loadUint(10);
    if (keyBits === 0 || keyBits > MAX_KEY_BITS) return null;
    const walk = new DictWalk(slice.loadRef(), keyBits, { limit: MAX_VISITS });
    const ids: number[] = [];
    while (walk.next()) ids.push(numberOf(walk.key, keyBits));
    return ids;
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** The first bits of a key, at most 31. */
function numberOf(key: Uint8Array, bits: number): number {
  let number = 0;
  for (const byte of key) number = number * 256 + byte;
  return Math.floor(number / 2 ** (key.length * 8 - bits));
}
