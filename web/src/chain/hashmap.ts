import { openCell, type Slice } from '#formats/cells/slice.js';

/** Entries beyond this are not read: no parameter of a configuration has so many. */
const MOST = 20_000;

/**
 * The entries of a `Hashmap n X` in the order of their keys, with slices at their values.
 *
 * @param root where the first label begins; the slice of the only entry is this one
 * @param bits of the keys
 */
export function hashmapEntries(root: Slice, bits: number): { readonly key: bigint; readonly value: Slice }[] {
  const entries: { key: bigint; value: Slice }[] = [];
  const open: { readonly slice: Slice; readonly key: bigint; readonly left: number }[] = [
    { slice: root, key: 0n, left: bits },
  ];
  for (let next = open.pop(); next !== undefined && entries.length < MOST; next = open.pop()) {
    const { slice } = next;
    const label = loadLabel(slice, next.left);
    const key = (next.key << BigInt(label.length)) | label.bits;
    const left = next.left - label.length;
    if (left === 0) {
      entries.push({ key, value: slice });
      continue;
    }
    const [low, high] = [openCell(slice.loadRef()), openCell(slice.loadRef())];
    open.push({ slice: high, key: (key << 1n) | 1n, left: left - 1 }, { slice: low, key: key << 1n, left: left - 1 });
  }
  return entries;
}

/** hml_short$0, hml_long$10, hml_same$11 */
function loadLabel(slice: Slice, most: number): { readonly length: number; readonly bits: bigint } {
  const lengthBits = Math.ceil(Math.log2(most + 1));
  if (!slice.loadBit()) {
    let length = 0;
    while (slice.loadBit()) length++;
    return { length, bits: length === 0 ? 0n : slice.loadUintBig(length) };
  }
  if (!slice.loadBit()) {
    const length = slice.loadUint(lengthBits);
    return { length, bits: length === 0 ? 0n : slice.loadUintBig(length) };
  }
  const bit = slice.loadBit();
  const length = slice.loadUint(lengthBits);
  return { length, bits: bit ? (1n << BigInt(length)) - 1n : 0n };
}
