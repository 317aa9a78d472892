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
 * Builds the `Hashmap n X` of these entries, given in any order; null when there are none. The cell tree is unique for
 * a set of entries: labels are as long as possible, in their shortest form.
 *
 * @throws cells/dict-key, cells/dict-duplicate-key; cells/cell-overflow when a value does not fit beside its label
 */
export function buildDictionary(keyBits: number, entries: Iterable<DictInput>): Cell | null {
  return build(keyBits, entries, null);
}

/**
 * Builds a `HashmapAug n X Y`; values are given without extras. Also returns the extra of the root, which
 * `HashmapAugE` repeats beside the root.
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

/** The node of entries `from` to `to` (exclusive), whose keys share the first `at` bits. Recursion is at most one level per key bit. */
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

/** A value to store: the rest of a slice, or the contents of a builder. */
export type DictValue = Slice | Builder;

/** A dictionary (null when empty) and the extra of its root. */
export interface AugmentedRoot {
  readonly root: Cell | null;
  readonly extra: Builder;
}

/** A parsed dictionary node. */
export interface DictNode {
  readonly label: BitString;
  readonly isLeaf: boolean;
  /** The rest of the cell after the label. */
  readonly rest: Slice;
}

/**
 * Parses a node.
 * @param left remaining key bits
 * @param augmented whether forks hold more than a label and two references
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

/** Builds a leaf whose label is `key` from bit `at` on. @throws cells/cell-overflow */
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
 * Builds a fork whose label is `length` bits of `key` from bit `at` on.
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
 * The same node with another label: `length` bits of `key` from bit `at` on, with `left` remaining key bits.
 * @throws cells/cell-overflow
 */
export function relabelled(node: DictNode, key: Uint8Array, at: number, length: number, left: number): Cell {
  const builder = new Builder();
  storeLabel(builder, key, at, length, left);
  return builder.storeSlice(node.rest).endCell();
}

/** A slice positioned at the extra of a node; more may follow it. */
function extraSlice(cell: Cell, left: number): Slice {
  const { isLeaf, rest } = openNode(cell, left, true);
  if (!isLeaf) rest.take(0, 2);
  return rest;
}

/** The root of an augmented dictionary together with its extra. */
export function augmentedRoot(root: Cell | null, keyBits: number, augmentation: Augmentation): AugmentedRoot {
  if (root === null) return { root, extra: augmentation.empty() };
  return { root, extra: new Builder().storeSlice(loadExtra(extraSlice(root, keyBits), augmentation)) };
}

/** Takes the extra at the position of the slice. */
function loadExtra(slice: Slice, augmentation: Augmentation): Slice {
  const start = slice.clone();
  augmentation.skip(slice);
  return start.take(slice.bitOffset - start.bitOffset, slice.refOffset - start.refOffset);
}

/** Stores a value; returns the builder. */
export function storeValue(builder: Builder, value: DictValue): Builder {
  return value instanceof Builder ? builder.storeBuilder(value) : builder.storeSlice(value);
}

/** A slice over the contents of a builder. */
function sliceOf(builder: Builder): Slice {
  return new Slice(builder.endCell());
}

/**
 * The extras `Y` of a `HashmapAug n X Y`: how they are computed and skipped.
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
  /** The extra of a leaf. The slice covers exactly the value and may be consumed. */
  leaf(value: Slice): Builder;
  /** The extra of a fork. Both slices are positioned at the extras of the children; read only these, more may follow. */
  combine(left: Slice, right: Slice): Builder;
  /** Moves past an extra. */
  skip(slice: Slice): void;
}

/** Options of {@link checkDictionary}. */
export interface DictionaryCheckOptions {
  /** For a `HashmapAug n X Y`: the rule by which each extra is recomputed and compared. */
  readonly augmentation?: Augmentation;
  /** With `augmentation`: exactly the extra stored beside the root of a `HashmapAugE`. */
  readonly rootExtra?: Slice;
  /** `skip`: pruned parts are not checked; `throw` (default): they are an error. */
  readonly pruned?: WalkOptions['pruned'];
  /** Maximum number of nodes to check; see {@link WalkOptions.limit}. Shared nodes are checked once. */
  readonly limit?: WalkOptions['limit'];
}

/**
 * Checks that a dictionary is exactly what building it from its entries yields: each label in its only valid form, forks
 * with nothing but a label, two references and (augmented) the correct extra. Values are not checked.
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
  /** Checked nodes, by table (index and remaining key bits) or by cell (remaining key bits). */
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

/** A shared node is checked once, however many paths lead to it. */
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
