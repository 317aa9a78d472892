import type { Cell } from '#formats/cells/cell.js';
import type { Augmentation } from '#formats/cells/dict-augmentation.js';
import { bitAt, commonBits } from '#formats/cells/dict-bits.js';
import { checkKey, emptyKey } from '#formats/cells/dict-key.js';
import { type AugmentedRoot, augmentedRoot, type DictValue, forkCell, leafCell } from '#formats/cells/dict-node.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { compareBytes, toHex } from '#kernel/bytes/bytes.js';

/** A key (⌈keyBits/8⌉ bytes, left-aligned, bits after the last zero) and its value. */
export type DictInput = readonly [key: Uint8Array, value: DictValue];

/**
 * Builds the `Hashmap n X` of these entries, given in any order; null when there are none. There is one cell tree for
 * one set of entries: all labels are the longest possible, in the shortest form.
 *
 * @throws cells/dict-key, cells/dict-duplicate-key; cells/cell-overflow when a value does not fit beside its label
 */
export function buildDictionary(keyBits: number, entries: Iterable<DictInput>): Cell | null {
  return build(keyBits, entries, null);
}

/**
 * Builds a `HashmapAug n X Y`; values are given without extras. Also returns the extra over all of it, which
 * `HashmapAugE` stores once more beside the root.
 * @throws as {@link buildDictionary}, and what the augmentation throws
 */
export function buildAugmentedDictionary(
  keyBits: number,
  entries: Iterable<DictInput>,
  augmentation: Augmentation,
): AugmentedRoot {
  return augmentedRoot(build(keyBits, entries, augmentation), keyBits, augmentation);
}

function build(keyBits: number, entries: Iterable<DictInput>, augmentation: Augmentation | null): Cell | null {
  emptyKey(keyBits);
  const sorted: DictInput[] = [];
  let inOrder = true;
  for (const entry of entries) {
    checkKey(keyBits, entry[0]);
    if (inOrder && sorted.length > 0) inOrder = compareBytes(sorted[sorted.length - 1]![0], entry[0]) < 0;
    sorted.push(entry);
  }
  if (sorted.length === 0) return null;
  if (!inOrder) {
    sorted.sort((a, b) => compareBytes(a[0], b[0]));
    for (let i = 1; i < sorted.length; i++) {
      const key = sorted[i]![0];
      if (compareBytes(sorted[i - 1]![0], key) === 0) throw cellsErrors['dict-duplicate-key']({ key: toHex(key) });
    }
  }
  return subtree({ keyBits, sorted, augmentation }, 0, sorted.length, 0);
}

interface Job {
  readonly keyBits: number;
  readonly sorted: readonly DictInput[];
  readonly augmentation: Augmentation | null;
}

/** The node over entries `from` to `to` (excluded), which agree on the first `at` bits. Nests once per key bit at most. */
function subtree(job: Job, from: number, to: number, at: number): Cell {
  const { keyBits, sorted, augmentation } = job;
  const [key, value] = sorted[from]!;
  if (to - from === 1) return leafCell(key, at, keyBits, value, augmentation);
  const length = commonBits(key, at, sorted[to - 1]![0], at, keyBits - at);
  const forkAt = at + length;
  let low = from + 1;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bitAt(sorted[middle]![0], forkAt) === 0) low = middle + 1;
    else high = middle;
  }
  const left = subtree(job, from, low, forkAt + 1);
  const right = subtree(job, low, to, forkAt + 1);
  return forkCell(key, at, length, keyBits, left, right, augmentation);
}
