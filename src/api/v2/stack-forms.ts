import { v2Errors } from '#api/v2/errors.js';
import { decodeBase64 } from '#api/v2/parameters.js';
import { CELL_TYPE } from '#api/v2/ton-objects.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType, MAX_BITS, MAX_DEPTH } from '#formats/cells/cell.js';
import { BitString, toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** `@type` constants of typed stacks, as the `spec` profile writes them. */
export const STACK_TYPE = {
  numberEntry: 'vm.stackEntryNumber',
  cellEntry: 'vm.stackEntryCell',
  sliceEntry: 'vm.stackEntrySlice',
  tupleEntry: 'vm.stackEntryTuple',
  listEntry: 'vm.stackEntryList',
  unsupportedEntry: 'vm.stackEntryUnsupported',
  number: 'vm.numberDecimal',
  cell: CELL_TYPE,
  slice: 'vm.slice',
  tuple: 'vm.tuple',
  list: 'vm.list',
} as const;

/** `tvm.cell` and `vm.cell` alike, without the prefix: `cell`; a text with neither prefix as it is. */
export function withoutPrefix(type: string): string {
  return type.startsWith('tvm.') ? type.slice(4) : type.startsWith('vm.') ? type.slice(3) : type;
}

type Names = typeof STACK_TYPE;

interface VmNumber {
  '@type': Names['number'];
  /** Decimal. */
  number: string;
}
interface VmCell {
  '@type': Names['cell'];
  /** Bag of cells in base64. */
  bytes: string;
}
interface VmSlice {
  '@type': Names['slice'];
  /** Bag of cells in base64: a cell with the rest of the slice. */
  bytes: string;
}
export interface VmTuple {
  '@type': Names['tuple'];
  elements: TypedEntry[];
}
export interface VmList {
  '@type': Names['list'];
  elements: TypedEntry[];
}

/** A value of a stack as `runGetMethodStd` has it, and as the items of tuples and lists everywhere. */
export type TypedEntry =
  | { '@type': Names['numberEntry']; number: VmNumber }
  | { '@type': Names['cellEntry']; cell: VmCell }
  | { '@type': Names['sliceEntry']; slice: VmSlice }
  | { '@type': Names['tupleEntry']; tuple: VmTuple }
  | { '@type': Names['listEntry']; list: VmList }
  | { '@type': Names['unsupportedEntry'] };

/** A cell as a tree. */
export interface LegacyCell {
  /** Data bits, padded with zeros to whole bytes, in base64; `len` counts the bits. */
  data: { b64: string; len: number };
  refs: LegacyCell[];
  /** Whether the cell is exotic. */
  special: boolean;
}

/** A value of a stack as `runGetMethod` returns it. */
export type LegacyEntry =
  | ['num', string]
  | ['cell', { bytes: string; object?: LegacyCell }]
  | ['tuple', VmTuple]
  | ['list', VmList]
  | ['unsupported', ''];

/**
 * Reads a cell from a tree: `{"data": {"b64", "len"}, "refs": [...], "special"}`. `special` may be left out; bits after the
 * last one are ignored.
 * @throws v2/stack-entry, v2/parameter-value, cells/cell-*
 */
export function cellOfTree(tree: unknown): Cell {
  return readTree(tree, 0);
}

function readTree(tree: unknown, depth: number): Cell {
  if (depth > MAX_DEPTH) throw badEntry(`cells are nested more than ${MAX_DEPTH} deep`);
  const { data, refs = [], special = false } = objectFields(tree, 'a cell', ['data', 'refs', 'special']);
  if (typeof special !== 'boolean') throw badEntry(`special is ${jsonTypeOf(special)}; expected is true or false`);
  if (!Array.isArray(refs)) throw badEntry(`refs is ${jsonTypeOf(refs)}; expected is an array of cells`);
  const builder = new Builder().storeBits(bitsOf(data));
  refs.forEach((ref, index) => {
    builder.storeRef(withinPath(`refs[${index}]`, () => readTree(ref, depth + 1)));
  });
  return special ? builder.endExotic() : builder.endCell();
}

function bitsOf(data: unknown): BitString {
  const { b64, len } = objectFields(data, 'data', ['b64', 'len']);
  if (typeof b64 !== 'string') throw badEntry(`data.b64 is ${jsonTypeOf(b64)}; expected is a string`);
  if (typeof len !== 'number' || !Number.isInteger(len) || len < 0 || len > MAX_BITS) {
    throw badEntry(`data.len is ${JSON.stringify(len)}; expected is a number of bits from 0 to ${MAX_BITS}`);
  }
  const bytes = decodeBase64(b64);
  const size = (len + 7) >> 3;
  if (bytes.length !== size) {
    throw badEntry(`data.b64 has ${bytes.length} bytes; ${len} bits take ${size}`);
  }
  if ((len & 7) !== 0) bytes[size - 1]! &= 0xff << (8 - (len & 7));
  return new BitString(bytes, len);
}

/** Most cells of a tree; larger ones are returned as a bag of cells only. */
const MAX_CELLS = 4096;

/** Most cells of all trees of a result, with those of trees that turned out to be too large. */
export const MAX_RESULT_CELLS = 4 * MAX_CELLS;

/**
 * A cell as a tree; `null` when it is too large: a cell is repeated for each reference to it, so that few cells can stand for
 * endlessly many.
 * @param result how many cells are left to the result that the tree belongs to
 */
export function treeOfCell(cell: Cell, result = { left: MAX_CELLS }): LegacyCell | null {
  const most = Math.min(MAX_CELLS, result.left);
  const budget = { left: most };
  const tree = writeTree(cell, budget);
  result.left -= most - Math.max(budget.left, 0);
  return tree;
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

/** A fault of an entry of a stack; its path is added by the callers. */
export function badEntry(problem: string): Error {
  return v2Errors['stack-entry']({ problem });
}

/** Does `work`; errors get `place` in front of their path. */
export function withinPath<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isTernError(error) ? error.within(place) : error;
  }
}

/** The type of a JSON value, for messages: `a string`, `an array`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A string, shortened and quoted for messages. */
export function quotedText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

/** An object with the allowed properties only. @throws v2/stack-entry */
export function objectFields(
  value: unknown,
  what: string,
  allowed: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badEntry(`${what} is ${jsonTypeOf(value)}; expected is an object with ${allowed.join(', ')}`);
  }
  for (const name of Object.keys(value)) {
    if (!allowed.includes(name)) throw badEntry(`${what} has an unknown property ${quotedText(name)}`);
  }
  return value as Readonly<Record<string, unknown>>;
}
