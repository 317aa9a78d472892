import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { bitAt } from '#formats/cells/dict-bits.js';
import { checkKey } from '#formats/cells/dict-key.js';
import { DictLabel } from '#formats/cells/dict-label.js';
import { DictWalk, forkError, tableOf } from '#formats/cells/dict-walk.js';
import { openCell, Slice } from '#formats/cells/slice.js';

/** An entry of a dictionary: its key, left-aligned, and a slice that stands at its value. */
export interface DictEntry {
  readonly key: Uint8Array;
  readonly value: Slice;
}

const label = new DictLabel();

/**
 * The value of a key in a `Hashmap n X` or `HashmapAug n X Y`, or null when the key is not there. For an augmented
 * dictionary the slice stands at the extra in front of the value. Walks one path; of a table no cell becomes an object
 * but the leaf.
 *
 * @param root the root cell of the dictionary (not the cell that holds the `HashmapE` bit); null is the empty one
 * @param key ⌈keyBits/8⌉ bytes, left-aligned, bits after the last zero
 * @throws cells/dict-key, cells/dict-label, cells/dict-fork, cells/slice-underflow; cells/pruned-branch when a proof
 *   leaves out the part where the key would be
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

/** Which neighbour of a key is wanted. */
export interface NearestOptions {
  /** `next`: the least key that is greater; `previous`: the greatest that is less. Keys compare as unsigned numbers. */
  readonly direction: 'next' | 'previous';
  /** Whether the key itself will do. */
  readonly inclusive: boolean;
}

/** The entry next to a key, which need not be in the dictionary itself; null when there is none. @throws as {@link lookup} */
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
