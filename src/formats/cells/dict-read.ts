import { type Cell, CellType } from '#formats/cells/cell.js';
import { type CellTable, TableCell } from '#formats/cells/cell-table.js';
import { bitAt, checkKey, DictLabel, emptyKey, putBit } from '#formats/cells/dict-label.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';

/** A dictionary entry: its left-aligned key, and a slice positioned at its value. */
export interface DictEntry {
  readonly key: Uint8Array;
  readonly value: Slice;
}

const label = new DictLabel();

/**
 * The value of a key in a `Hashmap n X` or `HashmapAug n X Y`, or null when the key is not found. For an augmented
 * dictionary the slice starts at the extra in front of the value. Walks one path; in a table, only the leaf becomes an
 * object.
 *
 * @param root the root cell of the dictionary (not the cell that holds the `HashmapE` bit); null is the empty one
 * @param key ⌈keyBits/8⌉ bytes, left-aligned, unused bits zero
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when the path to
 *   the key is pruned
 */
export function lookup(root: Cell | null, keyBits: number, key: Uint8Array): Slice | null {
  checkKey(keyBits, key);
  let cell = root;
  let depth = 0;
  while (cell !== null) {
    const table = tableOf(cell);
    if (table !== null) return lookupInTable(table, (cell as TableCell).index, keyBits, key, depth);
    if (cell.type !== CellType.ordinary) openCell(cell);
    cell.touch();
    const start = cell.dataOffset * 8;
    label.read(cell.bytes, start, start + cell.bits, keyBits - depth);
    const { length, end } = label;
    if (label.matches(key, depth) < length) return null;
    depth += length;
    if (depth === keyBits) return new Slice(cell).skip(end - start);
    if (cell.refCount < 2) throw forkError(cell, cell.bits - (end - start));
    cell = cell.ref(bitAt(key, depth++));
  }
  return null;
}

function lookupInTable(table: CellTable, from: number, keyBits: number, key: Uint8Array, known: number): Slice | null {
  const { bytes, dataStart, bitLength, refs, refCount, type } = table;
  let index = from;
  let depth = known;
  for (;;) {
    if (type[index] !== 0) openCell(table.cell(index));
    const start = dataStart[index]! * 8;
    const bits = bitLength[index]!;
    label.read(bytes, start, start + bits, keyBits - depth);
    const { length, end } = label;
    if (label.matches(key, depth) < length) return null;
    depth += length;
    if (depth === keyBits) return new Slice(table.cell(index)).skip(end - start);
    if (refCount[index]! < 2) throw forkError(table.cell(index), bits - (end - start));
    index = refs[index * 4 + bitAt(key, depth++)]!;
  }
}

/** Which neighbour of a key to look up. */
export interface NearestOptions {
  /** `next`: the least key that is greater; `previous`: the greatest that is less. Keys compare as unsigned numbers. */
  readonly direction: 'next' | 'previous';
  /** Whether the key itself may be returned. */
  readonly inclusive: boolean;
}

/** The entry nearest to a key, which need not exist in the dictionary; null when there is none. @throws as {@link lookup} */
export function lookupNearest(
  root: Cell | null,
  keyBits: number,
  key: Uint8Array,
  { direction, inclusive }: NearestOptions,
): DictEntry | null {
  const walk = new DictWalk(root, keyBits, { reverse: direction === 'previous' });
  walk.seek(key, inclusive);
  return walk.next() ? { key: walk.key, value: walk.value() } : null;
}

/** The entry with the least key; null when the dictionary is empty. @throws as {@link lookup} */
export function minEntry(root: Cell | null, keyBits: number): DictEntry | null {
  const walk = new DictWalk(root, keyBits);
  return walk.next() ? { key: walk.key, value: walk.value() } : null;
}

/** The entry with the greatest key; null when the dictionary is empty. @throws as {@link lookup} */
export function maxEntry(root: Cell | null, keyBits: number): DictEntry | null {
  const walk = new DictWalk(root, keyBits, { reverse: true });
  return walk.next() ? { key: walk.key, value: walk.value() } : null;
}

/** {@link WalkOptions}, and where to start. */
export interface IterateOptions extends WalkOptions {
  /** Start at this key, or after it; it need not exist in the dictionary. */
  readonly from?: { readonly key: Uint8Array; readonly inclusive: boolean };
}

/**
 * Calls `visit` for each entry of a `Hashmap n X` or `HashmapAug n X Y` in ascending order of the keys as unsigned numbers,
 * until it returns false. Each key is a new array; for an augmented dictionary the slice starts at the
 * extra in front of the value.
 *
 * @param root the root cell of the dictionary (not the cell that holds the `HashmapE` bit); null is the empty one
 * @throws cells/dict-label, cells/dict-fork, cells/slice-underflow, cells/pruned-branch (unless skipped),
 *   cells/dict-too-large (see {@link WalkOptions.limit})
 */
export function forEachEntry(
  root: Cell | null,
  keyBits: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: a visitor that never stops returns nothing
  visit: (key: Uint8Array, value: Slice) => boolean | void,
  options: IterateOptions = {},
): void {
  const walk = start(root, keyBits, options);
  while (walk.next()) if (visit(walk.key.slice(), walk.value()) === false) return;
}

/** The entries one by one, read on demand. Otherwise as {@link forEachEntry}. */
export function* iterateEntries(
  root: Cell | null,
  keyBits: number,
  options: IterateOptions = {},
): Generator<readonly [key: Uint8Array, value: Slice]> {
  const walk = start(root, keyBits, options);
  while (walk.next()) yield [walk.key.slice(), walk.value()];
}

/** The number of entries. @throws as {@link forEachEntry} */
export function countEntries(root: Cell | null, keyBits: number, options: IterateOptions = {}): number {
  const walk = start(root, keyBits, options);
  let count = 0;
  while (walk.next()) count++;
  return count;
}

function start(root: Cell | null, keyBits: number, options: IterateOptions): DictWalk {
  const walk = new DictWalk(root, keyBits, options);
  if (options.from !== undefined) walk.seek(options.from.key, options.from.inclusive);
  return walk;
}

/** Options for walking the entries of a dictionary. */
export interface WalkOptions {
  /** Descending order of keys. */
  readonly reverse?: boolean;
  /** What to do at a pruned branch: throw cells/pruned-branch (default), or skip its part of the dictionary. */
  readonly pruned?: 'throw' | 'skip';
  /**
   * Maximum number of cells to visit, forks included, before cells/dict-too-large; an object is a budget shared by walks.
   *
   * Equal parts of a dictionary are one cell, so a few hundred bytes can hold 2^1000 entries. Without sharing there are
   * never more visits than cells: the default is the number of cells of the table plus 65,536 for the few parts that
   * valid dictionaries share, and 2^24 for cells outside tables. Use one shared budget for nested dictionaries
   * of an untrusted sender.
   */
  readonly limit?: number | VisitBudget;
  /** Refuse forks that hold more than a label and two references, which is invalid in a `Hashmap` (unlike `HashmapAug`). */
  readonly plain?: boolean;
  /** Called at each fork in walk order; the slice is positioned after the label and both references, at the extra. */
  readonly fork?: (extra: Slice) => void;
}

/** A number of cell visits that several walks may share. */
export interface VisitBudget {
  left: number;
}

const SHARED_VISITS = 65_536;
const UNKNOWN_VISITS = 2 ** 24;

/** The table of a plain {@link TableCell}; null for other cells, such as ones that record their use. */
export function tableOf(cell: Cell): CellTable | null {
  return cell.constructor === TableCell ? (cell as TableCell).table : null;
}

/**
 * Walks the leaves of a dictionary in the order of their keys. `next()` moves to a leaf; `key` and `value()` describe
 * it. The stack is never deeper than the number of key bits.
 */
export class DictWalk {
  readonly #keyBits: number;
  /** The key of the leaf; the array is reused for the next one. */
  readonly key: Uint8Array;
  readonly #reverse: boolean;
  readonly #skipPruned: boolean;
  readonly #plain: boolean;
  readonly #fork: ((extra: Slice) => void) | undefined;
  readonly #budget: VisitBudget;
  readonly #limit: number;
  readonly #label = new DictLabel();
  // Pending nodes in columns: a table index or a cell, the number of key bits above, and the last of these bits.
  readonly #tables: (CellTable | null)[] = [];
  readonly #indexes: number[] = [];
  readonly #cells: (Cell | null)[] = [];
  readonly #depths: number[] = [];
  readonly #bits: number[] = [];
  #top = 0;
  // The current node.
  #table: CellTable | null = null;
  #index = 0;
  #cell: Cell | null = null;
  #valueAt = 0;

  constructor(root: Cell | null, keyBits: number, options: WalkOptions = {}) {
    this.key = emptyKey(keyBits);
    this.#keyBits = keyBits;
    this.#reverse = options.reverse === true;
    this.#skipPruned = options.pruned === 'skip';
    this.#plain = options.plain === true;
    this.#fork = options.fork;
    this.#budget = visitBudget(root, options.limit);
    this.#limit = this.#budget.left;
    if (root !== null) this.#pushCell(root, 0, 0);
  }

  /** Moves to the next leaf; false when there is none. */
  next(): boolean {
    while (this.#top > 0) {
      this.#pop();
      if (this.#depth > 0) putBit(this.key, this.#depth - 1, this.#bit);
      if (!this.#open()) continue;
      this.#label.copyTo(this.key, this.#depth);
      const depth = this.#depth + this.#label.length;
      if (depth === this.#keyBits) return true;
      this.#checkFork();
      const first = this.#reverse ? 0 : 1;
      this.#pushChild(first, depth + 1);
      this.#pushChild(1 - first, depth + 1);
    }
    return false;
  }

  /**
   * Skips the keys before `key` (in walk order); `inclusive` keeps `key` itself.
   * Call only before the first `next()`.
   */
  seek(key: Uint8Array, inclusive: boolean): void {
    checkKey(this.#keyBits, key);
    const before = this.#reverse ? 1 : 0;
    while (this.#top > 0) {
      const { key: found } = this;
      this.#pop();
      const depth = this.#depth;
      if (!this.#open()) return;
      const label = this.#label;
      const equal = label.matches(key, depth);
      if (equal < label.length) {
        // The whole subtree is on one side of the key.
        if (label.bit(equal) !== before) this.#pushAgain(depth);
        return;
      }
      label.copyTo(found, depth);
      const below = depth + label.length;
      if (below === this.#keyBits) {
        if (inclusive) this.#pushAgain(depth);
        return;
      }
      this.#checkFork();
      const bit = (key[below >> 3]! >> (7 - (below & 7))) & 1;
      putBit(found, below, bit);
      if (bit === before) this.#pushChild(1 - bit, below + 1);
      this.#pushChild(bit, below + 1);
    }
  }

  /** A slice positioned at the leaf's value (for augmented dictionaries: at the extra in front of it). */
  value(): Slice {
    return new Slice(this.leaf()).skip(this.#valueAt);
  }

  /** The cell of the leaf. */
  leaf(): Cell {
    return this.#table === null ? this.#cell! : this.#table.cell(this.#index);
  }

  #depth = 0;
  #bit = 0;
  #pop(): void {
    const top = --this.#top;
    this.#table = this.#tables[top]!;
    this.#index = this.#indexes[top]!;
    this.#cell = this.#cells[top]!;
    this.#depth = this.#depths[top]!;
    this.#bit = this.#bits[top]!;
  }

  /** Reads the label of the popped node; false when it is pruned and pruned parts are skipped. */
  #open(): boolean {
    if (this.#budget.left-- === 0) throw tooLarge(this.#budget, this.#limit);
    const table = this.#table;
    const left = this.#keyBits - this.#depth;
    if (table !== null) {
      const index = this.#index;
      if (table.type[index] !== 0) return this.#refuse(table.cell(index));
      const start = table.dataStart[index]! * 8;
      this.#label.read(table.bytes, start, start + table.bitLength[index]!, left);
      this.#valueAt = this.#label.end - start;
      return true;
    }
    const cell = this.#cell!;
    if (cell.type !== CellType.ordinary) return this.#refuse(cell);
    cell.touch();
    const start = cell.dataOffset * 8;
    this.#label.read(cell.bytes, start, start + cell.bits, left);
    this.#valueAt = this.#label.end - start;
    return true;
  }

  #refuse(cell: Cell): false {
    if (!(this.#skipPruned && cell.type === CellType.prunedBranch)) openCell(cell);
    return false;
  }

  #checkFork(): void {
    const table = this.#table;
    const refs = table === null ? this.#cell!.refCount : table.refCount[this.#index]!;
    const bits = (table === null ? this.#cell!.bits : table.bitLength[this.#index]!) - this.#valueAt;
    if (refs < 2 || (this.#plain && (refs > 2 || bits > 0))) throw forkError(this.leaf(), bits);
    if (this.#fork === undefined) return;
    const extra = this.value();
    extra.take(0, 2);
    this.#fork(extra);
  }

  #pushChild(bit: number, depth: number): void {
    if (this.#table === null) this.#pushCell(this.#cell!.ref(bit), depth, bit);
    else this.#push(this.#table, this.#table.refs[this.#index * 4 + bit]!, null, depth, bit);
  }

  #pushCell(cell: Cell, depth: number, bit: number): void {
    const table = tableOf(cell);
    if (table === null) this.#push(null, 0, cell, depth, bit);
    else this.#push(table, (cell as TableCell).index, null, depth, bit);
  }

  #pushAgain(depth: number): void {
    this.#push(this.#table, this.#index, this.#cell, depth, this.#bit);
  }

  #push(table: CellTable | null, index: number, cell: Cell | null, depth: number, bit: number): void {
    const top = this.#top++;
    this.#tables[top] = table;
    this.#indexes[top] = index;
    this.#cells[top] = cell;
    this.#depths[top] = depth;
    this.#bits[top] = bit;
  }
}

/** The number of cells that a walk from `root` may visit; see {@link WalkOptions.limit}. */
export function visitBudget(root: Cell | null, limit: number | VisitBudget | undefined): VisitBudget {
  if (typeof limit === 'object') return limit;
  if (limit !== undefined) return { left: limit };
  const table = root === null ? null : tableOf(root);
  return { left: table === null ? UNKNOWN_VISITS : table.count + SHARED_VISITS };
}

/** The error for an exhausted budget; the budget stays at zero. */
export function tooLarge(budget: VisitBudget, limit: number): Error {
  budget.left = 0;
  return cellsErrors['dict-too-large']({ limit });
}

/** The error for a fork without two references, or with unexpected content. */
export function forkError(cell: Cell, bits: number): Error {
  return cellsErrors['dict-fork']({ hash: toHex(cell.hash(0)), bits, references: cell.refCount });
}
