import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import type { Augmentation } from '#formats/cells/dict-augmentation.js';
import { emptyKey } from '#formats/cells/dict-key.js';
import { labelForm } from '#formats/cells/dict-label.js';
import { extraSlice, openNode, takeExtra } from '#formats/cells/dict-node.js';
import {
  forkError,
  tableOf,
  tooLarge,
  type VisitBudget,
  visitBudget,
  type WalkOptions,
} from '#formats/cells/dict-walk.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** What to check a dictionary for. */
export interface CheckOptions {
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
export function checkDictionary(root: Cell | null, keyBits: number, options: CheckOptions = {}): void {
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
    const extra = takeExtra(extraSlice(root, keyBits), augmentation);
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
    const extra = takeExtra(rest, augmentation);
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
  const extra = takeExtra(rest, augmentation);
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
