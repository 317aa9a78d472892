import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Augmentation } from '#formats/cells/dict-augmentation.js';
import { readLabel, storeLabel } from '#formats/cells/dict-label.js';
import { forkError } from '#formats/cells/dict-walk.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import type { BitString } from '#kernel/bytes/bit-string.js';

/** A value to store: what a slice has left, or what a builder holds. */
export type DictValue = Slice | Builder;

/** A dictionary (null is the empty one) and the extra over all of it. */
export interface AugmentedRoot {
  readonly root: Cell | null;
  readonly extra: Builder;
}

/** An opened node of a dictionary. */
export interface DictNode {
  readonly label: BitString;
  readonly isLeaf: boolean;
  /** What follows the label. */
  readonly rest: Slice;
}

/**
 * Opens a node.
 * @param left bits of the key that are not known above it
 * @param augmented whether forks have more than two references and a label
 * @throws cells/pruned-branch, cells/exotic-not-expected, cells/dict-label, cells/dict-fork, cells/slice-underflow
 */
export function openNode(cell: Cell, left: number, augmented: boolean): DictNode {
  const rest = openCell(cell);
  const label = readLabel(rest, left);
  const isLeaf = label.length === left;
  const refs = rest.remainingRefs;
  if (!isLeaf && (refs < 2 || (!augmented && (refs > 2 || rest.remainingBits > 0)))) {
    throw forkError(cell, rest.remainingBits);
  }
  return { label, isLeaf, rest };
}

/** A leaf; its label is `key` from bit `at` on. @throws cells/cell-overflow */
export function leafCell(
  key: Uint8Array,
  at: number,
  keyBits: number,
  value: DictValue,
  augmentation: Augmentation | null,
): Cell {
  const builder = new Builder();
  storeLabel(builder, key, at, keyBits - at, keyBits - at);
  if (augmentation !== null) {
    builder.storeBuilder(augmentation.leaf(value instanceof Builder ? sliceOf(value) : value.clone()));
  }
  return storeValue(builder, value).endCell();
}

/**
 * A fork; its label is the `length` bits of `key` from bit `at` on.
 * @throws cells/cell-overflow
 */
export function forkCell(
  key: Uint8Array,
  at: number,
  length: number,
  keyBits: number,
  left: Cell,
  right: Cell,
  augmentation: Augmentation | null,
): Cell {
  const builder = new Builder();
  storeLabel(builder, key, at, length, keyBits - at);
  builder.storeRef(left).storeRef(right);
  if (augmentation !== null) {
    const below = keyBits - at - length - 1;
    builder.storeBuilder(augmentation.combine(extraSlice(left, below), extraSlice(right, below)));
  }
  return builder.endCell();
}

/**
 * The same node under another label: `length` bits of `key` from bit `at` on, with `left` bits not known above it.
 * @throws cells/cell-overflow
 */
export function relabelled(node: DictNode, key: Uint8Array, at: number, length: number, left: number): Cell {
  const builder = new Builder();
  storeLabel(builder, key, at, length, left);
  return builder.storeSlice(node.rest).endCell();
}

/** A slice that stands at the extra of a node; more may follow it. */
export function extraSlice(cell: Cell, left: number): Slice {
  const { isLeaf, rest } = openNode(cell, left, true);
  if (!isLeaf) rest.take(0, 2);
  return rest;
}

/** Adds the extra over all of it to the root of an augmented dictionary. */
export function augmentedRoot(root: Cell | null, keyBits: number, augmentation: Augmentation): AugmentedRoot {
  if (root === null) return { root, extra: augmentation.empty() };
  return { root, extra: new Builder().storeSlice(takeExtra(extraSlice(root, keyBits), augmentation)) };
}

/** Takes the extra that a slice stands at. */
export function takeExtra(slice: Slice, augmentation: Augmentation): Slice {
  const start = slice.clone();
  augmentation.skip(slice);
  return start.take(slice.bitOffset - start.bitOffset, slice.refOffset - start.refOffset);
}

/** Stores a value; returns the builder. */
export function storeValue(builder: Builder, value: DictValue): Builder {
  return value instanceof Builder ? builder.storeBuilder(value) : builder.storeSlice(value);
}

/** A slice over what a builder holds. */
function sliceOf(builder: Builder): Slice {
  return new Slice(builder.endCell());
}
