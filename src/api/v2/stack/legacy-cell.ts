import { decodeBase64 } from '#api/v2/parameter-forms.js';
import { at, badEntry, fieldsOf, kindOf } from '#api/v2/stack/input-error.js';
import type { LegacyCell } from '#api/v2/stack/typed-entry.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType, MAX_BITS, MAX_DEPTH } from '#formats/cells/cell.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/**
 * Reads a cell that is written out as a tree: `{"data": {"b64", "len"}, "refs": [...], "special"}`. `special` may be left
 * out; bits after the last one do not count.
 * @throws v2/stack-entry, v2/parameter-value, cells/cell-*
 */
export function cellOfTree(tree: unknown): Cell {
  return readTree(tree, 0);
}

function readTree(tree: unknown, depth: number): Cell {
  if (depth > MAX_DEPTH) throw badEntry(`cells are nested more than ${MAX_DEPTH} deep`);
  const { data, refs = [], special = false } = fieldsOf(tree, 'a cell', ['data', 'refs', 'special']);
  if (typeof special !== 'boolean') throw badEntry(`special is ${kindOf(special)}; wanted is true or false`);
  if (!Array.isArray(refs)) throw badEntry(`refs is ${kindOf(refs)}; wanted is an array of cells`);
  const builder = new Builder().storeBits(bitsOf(data));
  refs.forEach((ref, index) => {
    builder.storeRef(at(`refs[${index}]`, () => readTree(ref, depth + 1)));
  });
  return special ? builder.endExotic() : builder.endCell();
}

function bitsOf(data: unknown): BitString {
  const { b64, len } = fieldsOf(data, 'data', ['b64', 'len']);
  if (typeof b64 !== 'string') throw badEntry(`data.b64 is ${kindOf(b64)}; wanted is a string`);
  if (typeof len !== 'number' || !Number.isInteger(len) || len < 0 || len > MAX_BITS) {
    throw badEntry(`data.len is ${JSON.stringify(len)}; wanted is a number of bits from 0 to ${MAX_BITS}`);
  }
  const bytes = decodeBase64(b64);
  const size = (len + 7) >> 3;
  if (bytes.length !== size) {
    throw badEntry(`data.b64 has ${bytes.length} bytes; ${len} bits take ${size}`);
  }
  if ((len & 7) !== 0) bytes[size - 1]! &= 0xff << (8 - (len & 7));
  return new BitString(bytes, len);
}

/** Cells that are written out for one answer; beyond them, only the bag of cells is given. */
const MAX_CELLS = 4096;

/**
 * Writes a cell out as a tree. `null` when the tree is too large for it: equal cells are written out each time they are
 * referred to, so that few cells can stand for endlessly many.
 */
export function treeOfCell(cell: Cell): LegacyCell | null {
  return writeTree(cell, { left: MAX_CELLS });
}

function writeTree(cell: Cell, budget: { left: number }): LegacyCell | null {
  if (--budget.left < 0) return null;
  const { bits, refCount } = cell;
  const size = (bits + 7) >> 3;
  let data = cell.bytes.subarray(cell.dataOffset, cell.dataOffset + size);
  if ((bits & 7) !== 0) {
    data = data.slice();
    data[size - 1]! &= 0xff << (8 - (bits & 7));
  }
  const refs: LegacyCell[] = [];
  for (let index = 0; index < refCount; index++) {
    const ref = writeTree(cell.ref(index), budget);
    if (ref === null) return null;
    refs.push(ref);
  }
  return { data: { b64: toBase64(data), len: bits }, refs, special: cell.type !== CellType.ordinary };
}
