import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Slice } from '#formats/cells/slice.js';

/** All bits that are left, as bytes. @throws contract-data/half-byte */
export function wholeBytes(slice: Slice): Uint8Array {
  const { remainingBits: bits } = slice;
  if ((bits & 7) !== 0) throw contractDataErrors['half-byte']({ bits });
  return slice.loadBytes(bits >> 3);
}
