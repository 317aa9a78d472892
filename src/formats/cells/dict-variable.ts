import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { storeValue } from '#formats/cells/dict-build.js';
import { commonBits, copyBits, emptyKey, putBit, readLabel, storeLabel } from '#formats/cells/dict-label.js';
import {
  type BitStringEntry,
  type BitStringInput,
  beginning,
  firstWithOne,
  sortedByBits,
} from '#formats/cells/dict-prefix.js';
import { forkError, tooLarge, visitBudget, type WalkOptions } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { BitString } from '#kernel/bytes.js';

/**
 * The value of a key in a dictionary with keys of any length up to `maxKeyBits`, or null.
 *
 * ```
 * vhm_edge#_ {n:#} {X:Type} {l:#} {m:#} label:(HmLabel ~l n) {n = (~m) + l} node:(VarHashmapNode m X) = VarHashmap n X;
 * vhmn_leaf$00 {n:#} {X:Type} value:X = VarHashmapNode n X;
 * vhmn_fork$01 {n:#} {X:Type} left:^(VarHashmap n X) right:^(VarHashmap n X) value:(Maybe X) = VarHashmapNode (n + 1) X;
 * vhmn_cont$1 {n:#} {X:Type} branch:Bit child:^(VarHashmap n X) value:X = VarHashmapNode (n + 1) X;
 * ```
 *
 * @param root the root cell of the `VarHashmap n X`; null is the empty one
 * @param maxKeyBits the `n`
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow, cells/pruned-branch
 */
export function lookupVariable(root: Cell | null, maxKeyBits: number, key: BitString): Slice | null {
  emptyKey(maxKeyBits);
  let cell = root;
  let at = 0;
  while (cell !== null) {
    const { label, value, children } = openVariableNode(cell, maxKeyBits - at);
    const { bytes, length } = label;
    const given = Math.min(length, key.length - at);
    if (commonBits(bytes, 0, key.bytes, at, given) < length) return null;
    at += length;
    if (at === key.length) return value;
    cell = children[key.at(at++)] ?? null;
  }
  return null;
}

/**
 * The entries in the order of their keys' bits, the beginning of a key before the key.
 * @throws as {@link lookupVariable}, and cells/dict-too-large
 */
export function* iterateVariableEntries(
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
    const { label, value, children } = openVariableNode(next.cell, maxKeyBits - next.at);
    copyBits(path, next.at, label.bytes, 0, label.length);
    const at = next.at + label.length;
    if (value !== null) yield [beginning(path, at), value];
    for (const bit of [1, 0] as const) {
      const child = children[bit];
      if (child !== null) waiting.push({ cell: child, at: at + 1, bit });
    }
  }
}

/**
 * Builds the `VarHashmap n X` of these entries, given in any order; null when there are none.
 * @throws cells/dict-key for a key longer than `maxKeyBits`, cells/dict-duplicate-key, cells/cell-overflow
 */
export function buildVariableDictionary(maxKeyBits: number, entries: Iterable<BitStringInput>): Cell | null {
  const sorted = sortedByBits(maxKeyBits, entries);
  return sorted.length === 0 ? null : subtree(sorted, 0, sorted.length, 0, maxKeyBits);
}

function subtree(sorted: readonly BitStringInput[], from: number, to: number, at: number, maxKeyBits: number): Cell {
  const [first, value] = sorted[from]!;
  const last = sorted[to - 1]![0];
  const length = commonBits(first.bytes, at, last.bytes, at, Math.min(first.length, last.length) - at);
  const below = at + length;
  const builder = new Builder();
  storeLabel(builder, first.bytes, at, length, maxKeyBits - at);
  const isOwn = first.length === below;
  const rest = isOwn ? from + 1 : from;
  if (rest === to) return storeValue(builder.storeUint(0, 2), value).endCell();
  const middle = firstWithOne(sorted, rest, to, below);
  const child = (start: number, end: number) => subtree(sorted, start, end, below + 1, maxKeyBits);
  if (middle === rest || middle === to) {
    // All keys go on with the same bit, so this node is only there for its own value.
    builder
      .storeBit(true)
      .storeBit(middle === rest)
      .storeRef(child(rest, to));
    return storeValue(builder, value).endCell();
  }
  builder.storeUint(1, 2).storeRef(child(rest, middle)).storeRef(child(middle, to)).storeBit(isOwn);
  return (isOwn ? storeValue(builder, value) : builder).endCell();
}

interface VariableNode {
  readonly label: BitString;
  /** The value of the key that ends at this node. */
  readonly value: Slice | null;
  readonly children: readonly [Cell | null, Cell | null];
}

function openVariableNode(cell: Cell, left: number): VariableNode {
  const slice = openCell(cell);
  const label = readLabel(slice, left);
  const isCont = slice.loadBit();
  const second = slice.loadBit();
  if (!isCont && !second) return { label, value: slice, children: [null, null] };
  if (label.length === left || slice.remainingRefs < (isCont ? 1 : 2)) throw forkError(cell, slice.remainingBits);
  if (isCont) {
    const child = slice.loadRef();
    return { label, value: slice, children: second ? [null, child] : [child, null] };
  }
  const children = [slice.loadRef(), slice.loadRef()] as const;
  const hasValue = slice.loadBit();
  if (!hasValue && !slice.isEmpty) throw forkError(cell, slice.remainingBits);
  return { label, value: hasValue ? slice : null, children };
}
