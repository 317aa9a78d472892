import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { bitAt, checkKey, commonBits, emptyKey, labelForm, readLabel, storeLabel } from '#formats/cells/dict-label.js';
import {
  forkError,
  tableOf,
  tooLarge,
  type VisitBudget,
  visitBudget,
  type WalkOptions,
} from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { type BitString, bytesEqual, compareBytes, toHex } from '#kernel/bytes.js';

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
  return { root, extra: new Builder().storeSlice(loadExtra(extraSlice(root, keyBits), augmentation)) };
}

/** Takes the extra that a slice stands at. */
export function loadExtra(slice: Slice, augmentation: Augmentation): Slice {
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

/**
 * The extras `Y` of a `HashmapAug n X Y`: how they are made and how long they are.
 *
 * ```
 * ahmn_leaf#_ {X:Type} {Y:Type} extra:Y value:X = HashmapAugNode 0 X Y;
 * ahmn_fork#_ {n:#} {X:Type} {Y:Type} left:^(HashmapAug n X Y) right:^(HashmapAug n X Y) extra:Y
 *   = HashmapAugNode (n + 1) X Y;
 * ahme_empty$0 {n:#} {X:Type} {Y:Type} extra:Y = HashmapAugE n X Y;
 * ahme_root$1 {n:#} {X:Type} {Y:Type} root:^(HashmapAug n X Y) extra:Y = HashmapAugE n X Y;
 * ```
 */
export interface Augmentation {
  /** The extra of an empty dictionary. */
  empty(): Builder;
  /** The extra of a leaf. The slice stands at the value and ends with it; it may be read. */
  leaf(value: Slice): Builder;
  /** The extra of a fork. Both slices stand at the extras below; exactly these are to be read, more may follow. */
  combine(left: Slice, right: Slice): Builder;
  /** Moves behind an extra. */
  skip(slice: Slice): void;
}

/** What to check a dictionary for. */
export interface DictionaryCheckOptions {
  /** The rule of its extras: with it, it is a `HashmapAug n X Y` and each extra is computed and compared. */
  readonly augmentation?: Augmentation;
  /** With `augmentation`: the extra stored beside the root of a `HashmapAugE`, and no more. */
  readonly rootExtra?: Slice;
  /** `skip`: what a proof leaves out is not checked; `throw` (default): it is an error. */
  readonly pruned?: WalkOptions['pruned'];
  /** Most nodes to check; see {@link WalkOptions.limit}. Nodes that occur several times are checked once. */
  readonly limit?: WalkOptions['limit'];
}

/**
 * Checks that a dictionary is exactly what building it from its entries gives: each label in its one accepted form, forks
 * with nothing but a label, two references and (augmented) the right extra. Values are not looked at.
 *
 * @throws cells/dict-label-form, cells/dict-fork, cells/dict-augmentation, cells/dict-label, cells/slice-underflow,
 *   cells/pruned-branch, cells/exotic-not-expected, cells/dict-too-large, and what the augmentation throws
 */
export function checkDictionary(root: Cell | null, keyBits: number, options: DictionaryCheckOptions = {}): void {
  emptyKey(keyBits);
  const { augmentation, rootExtra } = options;
  const budget = visitBudget(root, options.limit);
  const job: Checking = {
    augmentation: augmentation ?? null,
    skipPruned: options.pruned === 'skip',
    budget,
    limit: budget.left,
    seen: new Map(),
  };
  if (root !== null) checkNode(job, root, keyBits);
  if (augmentation === undefined || rootExtra === undefined) return;
  if (root === null) compareExtras(rootExtra.cell, rootExtra, augmentation.empty());
  else if (!isPruned(root)) {
    const extra = loadExtra(extraSlice(root, keyBits), augmentation);
    compareExtras(rootExtra.cell, rootExtra, new Builder().storeSlice(extra));
  }
}

interface Checking {
  readonly augmentation: Augmentation | null;
  readonly skipPruned: boolean;
  readonly budget: VisitBudget;
  readonly limit: number;
  /** Nodes that were checked, by table (index and key bits left) or by cell (key bits left). */
  readonly seen: Map<object, Set<number>>;
}

function checkNode(job: Checking, cell: Cell, left: number): void {
  if (job.skipPruned && isPruned(cell)) return;
  if (!isNew(job, cell, left)) return;
  if (job.budget.left-- === 0) throw tooLarge(job.budget, job.limit);
  const { augmentation } = job;
  const { label, isLeaf, rest } = openNode(cell, left, augmentation !== null);
  const tag = openCell(cell).loadUint(2);
  if ((tag < 2 ? 0 : tag) !== labelForm(label.bytes, 0, label.length, left)) {
    throw cellsErrors['dict-label-form']({ hash: toHex(cell.hash(0)), length: label.length, left });
  }
  if (isLeaf) {
    if (augmentation === null) return;
    const extra = loadExtra(rest, augmentation);
    compareExtras(cell, extra, augmentation.leaf(rest));
    return;
  }
  const children = rest.take(0, 2);
  const first = children.loadRef();
  const second = children.loadRef();
  const below = left - label.length - 1;
  checkNode(job, first, below);
  checkNode(job, second, below);
  if (augmentation === null) return;
  const extra = loadExtra(rest, augmentation);
  if (!rest.isEmpty) throw forkError(cell, extra.remainingBits + rest.remainingBits);
  if (job.skipPruned && (isPruned(first) || isPruned(second))) return;
  compareExtras(cell, extra, augmentation.combine(extraSlice(first, below), extraSlice(second, below)));
}

function isPruned(cell: Cell): boolean {
  return cell.type === CellType.prunedBranch;
}

/** A node with shared cells below is checked once, however many ways lead to it. */
function isNew({ seen }: Checking, cell: Cell, left: number): boolean {
  const table = tableOf(cell);
  const owner = table ?? cell;
  const place = table === null ? left : (cell as TableCell).index * 1024 + left;
  const places = seen.get(owner) ?? new Set<number>();
  if (places.has(place)) return false;
  seen.set(owner, places.add(place));
  return true;
}

function compareExtras(node: Cell, stored: Slice, computed: Builder): void {
  const storedCell = new Builder().storeSlice(stored).endCell();
  const computedCell = computed.endCell();
  if (bytesEqual(storedCell.hash(), computedCell.hash())) return;
  throw cellsErrors['dict-augmentation']({
    hash: toHex(node.hash(0)),
    stored: describe(storedCell),
    computed: describe(computedCell),
  });
}

function describe(cell: Cell): string {
  const bits = openCell(cell).loadBits(cell.bits).toString();
  return cell.refCount === 0 ? bits : `${bits} with ${cell.refCount} references`;
}
