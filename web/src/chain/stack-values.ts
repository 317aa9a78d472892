import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { openCell } from '#formats/cells/slice.js';
import { fromBase64, fromHex } from '#kernel/bytes.js';

/** A result of a get-method, as API v3 has it. */
export interface StackEntry {
  /** `num`, `cell`, `slice`, `tuple`, `list` and others. */
  readonly type: string;
  /** A number in hex with `0x`, a BoC in base64, or the entries of a tuple or list. */
  readonly value: unknown;
}

/** The integer of an entry; null when it is none. */
export function stackInteger(entry: StackEntry | undefined): bigint | null {
  if (entry?.type !== 'num' || typeof entry.value !== 'string') return null;
  const found = /^(-?)(0x[0-9a-fA-F]{1,65}|\d{1,80})$/.exec(entry.value);
  if (found === null) return null;
  const value = BigInt(found[2]!);
  return found[1] === '-' ? -value : value;
}

/** The raw address in a cell or slice (`addr_std`); null when there is none. */
export function stackAddress(entry: StackEntry | undefined): string | null {
  if (entry === undefined || (entry.type !== 'slice' && entry.type !== 'cell') || typeof entry.value !== 'string')
    return null;
  const bytes = fromBase64(entry.value);
  if (bytes === null) return null;
  try {
    const slice = openCell(parseBocRoot(bytes));
    // addr_std$10 anycast:(Maybe Anycast) workchain_id:int8 address:bits256
    if (slice.loadUint(2) !== 0b10 || slice.loadBit()) return null;
    return Address.ofParts(slice.loadInt(8), slice.loadBytes(32)).toRaw().toUpperCase();
  } catch {
    // A get-method may give anything.
    return null;
  }
}

/** The raw address of an account whose id is an integer; null when it is none. */
export function accountOfId(workchain: number, id: bigint | null): string | null {
  if (id === null || id < 0n || id >= 1n << 256n) return null;
  const bytes = fromHex(id.toString(16).padStart(64, '0'));
  return bytes === null ? null : Address.ofParts(workchain, bytes).toRaw().toUpperCase();
}

/** The entries of a tuple or list. */
export function stackEntries(entry: StackEntry | undefined): readonly StackEntry[] {
  if (entry === undefined || !Array.isArray(entry.value)) return [];
  return entry.value as readonly StackEntry[];
}
