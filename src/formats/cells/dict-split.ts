import type { Cell } from '#formats/cells/cell.js';
import type { Augmentation } from '#formats/cells/dict-augmentation.js';
import { bitAt, commonBits, copyBits, putBit } from '#formats/cells/dict-bits.js';
import { emptyKey } from '#formats/cells/dict-key.js';
import {
  type AugmentedRoot,
  augmentedRoot,
  type DictNode,
  forkCell,
  openNode,
  relabelled,
} from '#formats/cells/dict-node.js';
import { tooLarge, type VisitBudget } from '#formats/cells/dict-walk.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { toHex } from '#kernel/bytes/bytes.js';

/**
 * The part of a `Hashmap n X` whose keys begin with `prefix`; keys stay whole. Null when there are none. Makes one cell
 * at most. This is how a shard's dictionaries are split.
 * @throws cells/dict-key when the prefix is longer than keys are; otherwise as `lookup`
 */
export function splitDictionary(root: Cell | null, keyBits: number, prefix: BitString): Cell | null {
  return split(root, keyBits, prefix, false);
}

/** As {@link splitDictionary} for a `HashmapAug n X Y`, with the extra of the part. */
export function splitAugmentedDictionary(
  root: Cell | null,
  keyBits: number,
  prefix: BitString,
  augmentation: Augmentation,
): AugmentedRoot {
  return augmentedRoot(split(root, keyBits, prefix, true), keyBits, augmentation);
}

/**
 * The union of two `Hashmap n X` without a common key, such as those of two shards that merge. Parts where only one of
 * them has keys are used again as they are.
 * @param limit 65,536 is plenty for dictionaries that were split by their first bits, and stops hostile ones soon
 * @throws cells/dict-duplicate-key; cells/dict-too-large when more than `limit` nodes of them share a place; otherwise as `setEntry`
 */
export function mergeDictionaries(
  left: Cell | null,
  right: Cell | null,
  keyBits: number,
  limit: number = MERGE_VISITS,
): Cell | null {
  return merge(left, right, { keyBits, path: emptyKey(keyBits), augmentation: null, budget: { left: limit }, limit });
}

/** As {@link mergeDictionaries} for `HashmapAug n X Y`; extras are computed anew where both have keys. */
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

/** Most nodes of two dictionaries that may share a place; shared cells could make it 2^1000. */
const MERGE_VISITS = 65_536;

interface Merging {
  readonly keyBits: number;
  /** The bits above the nodes at hand. */
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

/** The union of two nodes that stand `at` bits deep. */
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

/** Notes the bit that leads `below` bits deep; returns that depth. */
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
