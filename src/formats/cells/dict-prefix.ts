import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { type DictValue, storeValue } from '#formats/cells/dict-build.js';
import { bitAt, commonBits, copyBits, emptyKey, putBit, readLabel, storeLabel } from '#formats/cells/dict-label.js';
import { forkError, tooLarge, visitBudget, type WalkOptions } from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { BitString } from '#kernel/bytes.js';

/** An entry of a dictionary with keys of different lengths. */
export type BitStringEntry = readonly [key: BitString, value: Slice];

/** An entry to store in a prefix dictionary. */
export type BitStringInput = readonly [key: BitString, value: DictValue];

/**
 * The entry whose key is a prefix of `key` (or equals it), or null. There is at most one: no key of a prefix
 * dictionary is a prefix of another.
 *
 * ```
 * phm_edge#_ {n:#} {X:Type} {l:#} {m:#} label:(HmLabel ~l n) {n = (~m) + l} node:(PfxHashmapNode m X) = PfxHashmap n X;
 * phmn_leaf$0 {n:#} {X:Type} value:X = PfxHashmapNode n X;
 * phmn_fork$1 {n:#} {X:Type} left:^(PfxHashmap n X) right:^(PfxHashmap n X) = PfxHashmapNode (n + 1) X;
 * ```
 *
 * @param root the root cell of the `PfxHashmap n X`; null is the empty one
 * @param maxKeyBits the `n`
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow, cells/pruned-branch
 */
export function lookupPrefix(root: Cell | null, maxKeyBits: number, key: BitString): BitStringEntry | null {
  emptyKey(maxKeyBits);
  let cell = root;
  let at = 0;
  while (cell !== null) {
    const node = openPrefixNode(cell, maxKeyBits - at);
    const { bytes, length } = node.label;
    const given = Math.min(length, key.length - at);
    if (commonBits(bytes, 0, key.bytes, at, given) < length) return null;
    at += length;
    if (node.isLeaf) return [beginning(key.bytes, at), node.rest];
    if (at >= key.length) return null;
    cell = node.rest.preloadRef(key.at(at++));
  }
  return null;
}

/** The value of exactly this key, or null when it is not found. @throws as {@link lookupPrefix} */
export function lookupExactPrefix(root: Cell | null, maxKeyBits: number, key: BitString): Slice | null {
  const found = lookupPrefix(root, maxKeyBits, key);
  return found !== null && found[0].length === key.length ? found[1] : null;
}

/** The entries in the order of their keys' bits. @throws as {@link lookupPrefix}, and cells/dict-too-large */
export function* iteratePrefixEntries(
  root: Cell | null,
  maxKeyBits: number,
  options: Pick<WalkOptions, 'limit'> = {},
): Generator<BitStringEntry> {
  const path = emptyKey(maxKeyBits);
  const budget = visitBudget(root, options.limit);
  const limit = budget.left;
  const waiting: { readonly cell: Cell; readonly at: number; readonly bit: number }[] = [];
  if (root !== null) waiting.push({ cell: root, at: 0, bit: 0 });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (budget.left-- === 0) throw tooLarge(budget, limit);
    if (next.at > 0) putBit(path, next.at - 1, next.bit);
    const { label, isLeaf, rest } = openPrefixNode(next.cell, maxKeyBits - next.at);
    copyBits(path, next.at, label.bytes, 0, label.length);
    const at = next.at + label.length;
    if (isLeaf) {
      yield [beginning(path, at), rest];
      continue;
    }
    waiting.push({ cell: rest.preloadRef(1), at: at + 1, bit: 1 }, { cell: rest.preloadRef(0), at: at + 1, bit: 0 });
  }
}

/**
 * Builds the `PfxHashmap n X` of these entries, given in any order; null when there are none.
 * @throws cells/dict-key for a key longer than `maxKeyBits`, cells/dict-duplicate-key, cells/dict-key-prefix,
 *   cells/cell-overflow
 */
export function buildPrefixDictionary(maxKeyBits: number, entries: Iterable<BitStringInput>): Cell | null {
  const sorted = sortedByBits(maxKeyBits, entries);
  for (let i = 1; i < sorted.length; i++) {
    const prefix = sorted[i - 1]![0];
    const key = sorted[i]![0];
    if (commonBits(prefix.bytes, 0, key.bytes, 0, prefix.length) === prefix.length && prefix.length < key.length) {
      throw cellsErrors['dict-key-prefix']({ key: key.toString(), prefix: prefix.toString() });
    }
  }
  return sorted.length === 0 ? null : subtree(sorted, 0, sorted.length, 0, maxKeyBits);
}

function subtree(sorted: readonly BitStringInput[], from: number, to: number, at: number, maxKeyBits: number): Cell {
  const [{ bytes, length }, value] = sorted[from]!;
  const builder = new Builder();
  if (to - from === 1) {
    storeLabel(builder, bytes, at, length - at, maxKeyBits - at);
    return storeValue(builder.storeBit(false), value).endCell();
  }
  const last = sorted[to - 1]![0];
  const forkAt = at + commonBits(bytes, at, last.bytes, at, Math.min(length, last.length) - at);
  const middle = firstWithOne(sorted, from, to, forkAt);
  storeLabel(builder, bytes, at, forkAt - at, maxKeyBits - at);
  return builder
    .storeBit(true)
    .storeRef(subtree(sorted, from, middle, forkAt + 1, maxKeyBits))
    .storeRef(subtree(sorted, middle, to, forkAt + 1, maxKeyBits))
    .endCell();
}

interface PrefixNode {
  readonly label: BitString;
  readonly isLeaf: boolean;
  readonly rest: Slice;
}

function openPrefixNode(cell: Cell, left: number): PrefixNode {
  const rest = openCell(cell);
  const label = readLabel(rest, left);
  const isLeaf = !rest.loadBit();
  if (!isLeaf && (label.length === left || rest.remainingRefs !== 2 || rest.remainingBits > 0)) {
    throw forkError(cell, rest.remainingBits);
  }
  return { label, isLeaf, rest };
}

/** The entries in lexicographic order of their keys' bits. @throws cells/dict-key, cells/dict-duplicate-key */
function sortedByBits(maxKeyBits: number, entries: Iterable<BitStringInput>): BitStringInput[] {
  emptyKey(maxKeyBits);
  const sorted = [...entries];
  for (const [key] of sorted) {
    if (key.length > maxKeyBits) throw cellsErrors['dict-key']({ keyBits: maxKeyBits, bytes: key.bytes.length });
  }
  sorted.sort(([a], [b]) => compareBits(a, b));
  for (let i = 1; i < sorted.length; i++) {
    const [key] = sorted[i]!;
    if (compareBits(sorted[i - 1]![0], key) === 0) throw cellsErrors['dict-duplicate-key']({ key: key.toString() });
  }
  return sorted;
}

function compareBits(a: BitString, b: BitString): number {
  const shared = Math.min(a.length, b.length);
  const equal = commonBits(a.bytes, 0, b.bytes, 0, shared);
  return equal < shared ? a.at(equal) - b.at(equal) : a.length - b.length;
}

/** The first of the sorted entries `from` to `to` (exclusive) whose key has a 1 at bit `at`, where all have a bit; else `to`. */
function firstWithOne(sorted: readonly BitStringInput[], from: number, to: number, at: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bitAt(sorted[middle]![0].bytes, at) === 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first `length` bits, copied. */
function beginning(bytes: Uint8Array, length: number): BitString {
  const out = new Uint8Array((length + 7) >> 3);
  copyBits(out, 0, bytes, 0, length);
  return new BitString(out, length);
}
