import type { Cell } from '#formats/cells/cell.js';
import type { Augmentation } from '#formats/cells/dict-augmentation.js';
import { bitAt, commonBits, copyBits, putBit } from '#formats/cells/dict-bits.js';
import { checkKey } from '#formats/cells/dict-key.js';
import {
  type AugmentedRoot,
  augmentedRoot,
  type DictValue,
  forkCell,
  leafCell,
  openNode,
  relabelled,
} from '#formats/cells/dict-node.js';
import type { Slice } from '#formats/cells/slice.js';

/** When a value is stored: always, only under a new key, or only under a key that is there. */
export type SetMode = 'set' | 'add' | 'replace';

/**
 * Stores a value in a `Hashmap n X` and returns the new root. All cells beside the path to the key are used again.
 * When nothing is stored (see {@link SetMode}) the root itself comes back.
 *
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when a proof
 *   leaves out the path; cells/cell-overflow when the value does not fit beside its label
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
 * As {@link setEntry} in a `HashmapAug n X Y`: the value is given without extra; extras are computed anew on the path.
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

/** The root without the entry, and the slice at its value as `lookup` gives it; null when the key was not there. */
export interface Deleted {
  readonly root: Cell | null;
  readonly value: Slice | null;
}

/**
 * Takes an entry out of a `Hashmap n X`. A fork that is left with one side merges with it, so that the result is what
 * building it without the entry gives. When the key is not there the root itself comes back.
 *
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when a proof
 *   leaves out the path or the node beside a deleted leaf; cells/cell-overflow when the merged node is too large
 */
export function deleteEntry(root: Cell | null, keyBits: number, key: Uint8Array): Deleted {
  checkKey(keyBits, key);
  return remove({ keyBits, key, augmentation: null }, root);
}

/** As {@link deleteEntry} from a `HashmapAug n X Y`; the slice of the deleted entry stands at its extra. */
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

/** The node `cell` with the value stored; the first `at` bits of the key lead to it. The cell itself when nothing is. */
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
