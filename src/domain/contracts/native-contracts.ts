import { NATIVE_COLLECTIONS } from '#domain/contracts/native-collections.js';
import type { NativeContract } from '#domain/contracts/native-contract.js';
import { NATIVE_ITEMS } from '#domain/contracts/native-items.js';
import { NATIVE_JETTONS } from '#domain/contracts/native-jettons.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

const CONTRACTS: ReadonlyMap<string, NativeContract> = new Map([
  ...NATIVE_JETTONS,
  ...NATIVE_COLLECTIONS,
  ...NATIVE_ITEMS,
]);

/** The hash that a library reference stands for; null when the cell is none. */
export function libraryHashOf(code: Cell): Uint8Array | null {
  if (code.type !== CellType.libraryReference) return null;
  return code.bytes.subarray(code.dataOffset + 1, code.dataOffset + 33);
}

/**
 * The native reader for a code; null when there is none. A library reference is looked through: the reader is right
 * only where the network has that library, since elsewhere the contract cannot run.
 */
export function nativeContractOf(code: Cell): NativeContract | null {
  return CONTRACTS.get(toHex(libraryHashOf(code) ?? code.hash())) ?? null;
}

/** What a native reader gives; null when the data is of another form, so that only running the code tells. */
export function tryNative<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}
