import type { Cell } from '#formats/cells/cell.js';
import {
  type Augmentation,
  type AugmentedRoot,
  augmentedRoot,
  type DictNode,
  type DictValue,
  forkCell,
  leafCell,
  openNode,
  relabelled,
} from '#formats/cells/dict-build.js';
import { bitAt, checkKey, commonBits, copyBits, emptyKey, putBit } from '#formats/cells/dict-label.js';
import { tooLarge, type VisitBudget } from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { Slice } from '#formats/cells/slice.js';
import { BitString, toHex } from '#kernel/bytes.js';

/** When a value is stored: always, only under a new key, or only under an existing key. */
export type SetMode = 'set' | 'add' | 'replace';

/**
 * Stores a value in a `Hashmap n X` and returns the new root. All cells beside the path to the key are reused.
 * When nothing is stored (see {@link SetMode}), returns the same root.
 *
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when the path is
 *   pruned; cells/cell-overflow when the value does not fit beside its label
 */
export function setEntry(root: Cell, keyBits: number, key: Uint8Array, value: DictValue, mode?: SetMode): Cell;
export function setEntry(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  value: DictValue,
  mode?: 'set' | 'add',
): Cell;
export function setEntry(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  value: DictValue,
  mode?: SetMode,
): Cell | null;
export function setEntry(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  value: DictValue,
  mode: SetMode = 'set',
): Cell | null {
  checkKey(keyBits, key);
  return set({ keyBits, key, value, mode, augmentation: null }, root);
}

/**
 * As {@link setEntry} for a `HashmapAug n X Y`: the value is given without extra; extras on the path are recomputed.
 * @throws as {@link setEntry}, and what the augmentation throws
 */
export function setAugmentedEntry(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  value: DictValue,
  augmentation: Augmentation,
  mode: SetMode = 'set',
): AugmentedRoot {
  checkKey(keyBits, key);
  return augmentedRoot(set({ keyBits, key, value, mode, augmentation }, root), keyBits, augmentation);
}

/** The new root, and the removed value as `lookup` returns it; `value` is null when the key was not found. */
export interface Deleted {
  readonly root: Cell | null;
  readonly value: Slice | null;
}

/**
 * Removes an entry from a `Hashmap n X`. A fork left with one child merges with it, so that the result is what
 * building it without the entry yields. When the key is not found, returns the same root.
 *
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when the path or
 *   the sibling of a deleted leaf is pruned; cells/cell-overflow when the merged node is too large
 */
export function deleteEntry(root: Cell | null, keyBits: number, key: Uint8Array): Deleted {
  checkKey(keyBits, key);
  return remove({ keyBits, key, augmentation: null }, root);
}

/** As {@link deleteEntry} for a `HashmapAug n X Y`; the slice of the removed entry starts at its extra. */
export function deleteAugmentedEntry(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  augmentation: Augmentation,
): Deleted & AugmentedRoot {
  checkKey(keyBits, key);
  const { root: rest, value } = remove({ keyBits, key, augmentation }, root);
  return { ...augmentedRoot(rest, keyBits, augmentation), value };
}

interface Place {
  readonly keyBits: number;
  readonly key: Uint8Array;
  readonly augmentation: Augmentation | null;
}

interface Storing extends Place {
  readonly value: DictValue;
  readonly mode: SetMode;
}

function set(job: Storing, root: Cell | null): Cell | null {
  if (root !== null) return setBelow(job, root, 0);
  return job.mode === 'replace' ? null : leafCell(job.key, 0, job.keyBits, job.value, job.augmentation);
}

/** The node `cell`, reached by the first `at` bits of the key, with the value stored; the same cell when nothing is stored. */
function setBelow(job: Storing, cell: Cell, at: number): Cell {
  const { keyBits, key, value, mode, augmentation } = job;
  const node = openNode(cell, keyBits - at, augmentation !== null);
  const { bytes, length } = node.label;
  const equal = commonBits(bytes, 0, key, at, length);
  const below = at + equal + 1;
  if (equal < length) {
    if (mode === 'replace') return cell;
    const old = relabelled(node, bytes, equal + 1, length - equal - 1, keyBits - below);
    const leaf = leafCell(key, below, keyBits, value, augmentation);
    const [left, right] = bitAt(key, below - 1) === 0 ? [leaf, old] : [old, leaf];
    return forkCell(key, at, equal, keyBits, left, right, augmentation);
  }
  if (node.isLeaf) return mode === 'add' ? cell : leafCell(key, at, keyBits, value, augmentation);
  const bit = bitAt(key, below - 1);
  const child = node.rest.preloadRef(bit);
  const changed = setBelow(job, child, below);
  if (changed === child) return cell;
  const other = node.rest.preloadRef(1 - bit);
  const [left, right] = bit === 0 ? [changed, other] : [other, changed];
  return forkCell(key, at, length, keyBits, left, right, augmentation);
}

function remove(place: Place, root: Cell | null): Deleted {
  return root === null ? { root: null, value: null } : removeBelow(place, root, 0);
}

function removeBelow(place: Place, cell: Cell, at: number): Deleted {
  const { keyBits, key, augmentation } = place;
  const augmented = augmentation !== null;
  const node = openNode(cell, keyBits - at, augmented);
  const { bytes, length } = node.label;
  if (commonBits(bytes, 0, key, at, length) < length) return { root: cell, value: null };
  if (node.isLeaf) return { root: null, value: node.rest };
  const forkAt = at + length;
  const bit = bitAt(key, forkAt);
  const { root: changed, value } = removeBelow(place, node.rest.preloadRef(bit), forkAt + 1);
  if (value === null) return { root: cell, value };
  const other = node.rest.preloadRef(1 - bit);
  if (changed !== null) {
    const [left, right] = bit === 0 ? [changed, other] : [other, changed];
    return { root: forkCell(key, at, length, keyBits, left, right, augmentation), value };
  }
  const only = openNode(other, keyBits - forkAt - 1, augmented);
  const merged = new Uint8Array(128);
  copyBits(merged, 0, bytes, 0, length);
  putBit(merged, length, 1 - bit);
  copyBits(merged, length + 1, only.label.bytes, 0, only.label.length);
  return { root: relabelled(only, merged, 0, length + 1 + only.label.length, keyBits - at), value };
}

/**
 * The part of a `Hashmap n X` whose keys start with `prefix`; keys stay whole. Null when there are none. Creates at most
 * one cell. This is how the dictionaries of a shard are split.
 * @throws cells/dict-key when the prefix is longer than the keys; otherwise as `lookup`
 */
export function splitDictionary(root: Cell | null, keyBits: number, prefix: BitString): Cell | null {
  return split(root, keyBits, prefix, false);
}

/** As {@link splitDictionary} for a `HashmapAug n X Y`, with the extra of the resulting part. */
export function splitAugmentedDictionary(
  root: Cell | null,
  keyBits: number,
  prefix: BitString,
  augmentation: Augmentation,
): AugmentedRoot {
  return augmentedRoot(split(root, keyBits, prefix, true), keyBits, augmentation);
}

/**
 * The union of two `Hashmap n X` without common keys, such as those of two merging shards. Parts where only one of
 * them has keys are reused as they are.
 * @param limit the default of 65,536 is ample for dictionaries that were split by their first bits, and stops hostile input early
 * @throws cells/dict-duplicate-key; cells/dict-too-large when more than `limit` nodes overlap; otherwise as `setEntry`
 */
export function mergeDictionaries(
  left: Cell | null,
  right: Cell | null,
  keyBits: number,
  limit: number = MERGE_VISITS,
): Cell | null {
  return merge(left, right, { keyBits, path: emptyKey(keyBits), augmentation: null, budget: { left: limit }, limit });
}

/** As {@link mergeDictionaries} for `HashmapAug n X Y`; extras are recomputed where both have keys. */
export function mergeAugmentedDictionaries(
  left: Cell | null,
  right: Cell | null,
  keyBits: number,
  augmentation: Augmentation,
  limit: number = MERGE_VISITS,
): AugmentedRoot {
  const job = { keyBits, path: emptyKey(keyBits), augmentation, budget: { left: limit }, limit };
  return augmentedRoot(merge(left, right, job), keyBits, augmentation);
}

function split(root: Cell | null, keyBits: number, prefix: BitString, augmented: boolean): Cell | null {
  if (prefix.length > keyBits) throw cellsErrors['dict-key']({ keyBits, bytes: prefix.bytes.length });
  let cell = root;
  let at = 0;
  while (cell !== null) {
    const node = openNode(cell, keyBits - at, augmented);
    const { bytes, length } = node.label;
    const wanted = Math.min(length, prefix.length - at);
    if (commonBits(bytes, 0, prefix.bytes, at, wanted) < wanted) return null;
    if (at + length >= prefix.length) {
      if (at === 0) return cell;
      const label = emptyKey(keyBits);
      copyBits(label, 0, prefix.bytes, 0, at);
      copyBits(label, at, bytes, 0, length);
      return relabelled(node, label, 0, at + length, keyBits);
    }
    at += length;
    cell = node.rest.preloadRef(prefix.at(at++));
  }
  return null;
}

/** Maximum number of overlapping nodes of two dictionaries; shared cells could make it 2^1000. */
const MERGE_VISITS = 65_536;

interface Merging {
  readonly keyBits: number;
  /** The key bits above the current nodes. */
  readonly path: Uint8Array;
  readonly augmentation: Augmentation | null;
  readonly budget: VisitBudget;
  readonly limit: number;
}

function merge(left: Cell | null, right: Cell | null, job: Merging): Cell | null {
  if (left === null || right === null) return left ?? right;
  const open = (cell: Cell) => openNode(cell, job.keyBits, job.augmentation !== null);
  return mergeNodes(job, open(left), open(right), 0);
}

/** The union of two nodes at a depth of `at` key bits. */
function mergeNodes(job: Merging, a: DictNode, b: DictNode, at: number): Cell {
  const { keyBits, path, augmentation } = job;
  if (job.budget.left-- === 0) throw tooLarge(job.budget, job.limit);
  const shorter = Math.min(a.label.length, b.label.length);
  const equal = commonBits(a.label.bytes, 0, b.label.bytes, 0, shorter);
  copyBits(path, at, a.label.bytes, 0, equal);
  const below = at + equal + 1;
  let children: readonly [Cell, Cell];
  if (equal < shorter) {
    const first = relabelled(a, a.label.bytes, equal + 1, a.label.length - equal - 1, keyBits - below);
    const second = relabelled(b, b.label.bytes, equal + 1, b.label.length - equal - 1, keyBits - below);
    children = bitAt(a.label.bytes, equal) === 0 ? [first, second] : [second, first];
  } else if (at + equal === keyBits) {
    throw cellsErrors['dict-duplicate-key']({ key: toHex(path) });
  } else if (a.label.length === b.label.length) {
    const both = (bit: number) =>
      mergeNodes(job, openChild(job, a, bit, below), openChild(job, b, bit, below), putPath(job, below, bit));
    children = [both(0), both(1)];
  } else {
    const [upper, lower] = a.label.length < b.label.length ? [a, b] : [b, a];
    const bit = bitAt(lower.label.bytes, equal);
    const rest: DictNode = { ...lower, label: bitsFrom(lower.label, equal + 1) };
    const merged = mergeNodes(job, openChild(job, upper, bit, below), rest, putPath(job, below, bit));
    const other = upper.rest.preloadRef(1 - bit);
    children = bit === 0 ? [merged, other] : [other, merged];
  }
  return forkCell(path, at, equal, keyBits, children[0], children[1], augmentation);
}

function openChild({ keyBits, augmentation }: Merging, node: DictNode, bit: number, below: number): DictNode {
  return openNode(node.rest.preloadRef(bit), keyBits - below, augmentation !== null);
}

/** Records the key bit that leads to depth `below`; returns that depth. */
function putPath({ path }: Merging, below: number, bit: number): number {
  putBit(path, below - 1, bit);
  return below;
}

function bitsFrom(bits: BitString, from: number): BitString {
  const length = bits.length - from;
  const bytes = new Uint8Array((length + 7) >> 3);
  copyBits(bytes, 0, bits.bytes, from, length);
  return new BitString(bytes, length);
}
