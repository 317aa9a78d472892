import { decodeCellText } from '#api/v3/cell-parameters.js';
import { v3Errors } from '#api/v3/errors.js';
import { badValue, quoted } from '#api/v3/parameter-forms.js';
import { bocText } from '#api/v3/serialize/texts.js';
import { cellOfSlice, pairChain } from '#domain/contracts/stack-shapes.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { type VmStackValue, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-value.js';

/** An argument of a get method as a request gives it. */
export interface StackArgument {
  readonly type: string;
  readonly value: unknown;
}

const MIN = -(1n << 256n);
const MAX = (1n << 256n) - 1n;

/** Types of arguments; the reference hands the last two on as they are called there. */
const READERS: ReadonlyMap<string, (value: string) => VmStackValue> = new Map([
  ['num', decodeNumber],
  ['cell', (value) => vmCell(decodeCellText(value))],
  ['slice', (value) => sliceOf(decodeCellText(value))],
  ['tvm.Cell', (value) => vmCell(decodeCellText(value))],
  ['tvm.Slice', (value) => sliceOf(decodeCellText(value))],
]);

/** @throws v3/parameter-value */
export function decodeStack(entries: readonly StackArgument[]): VmStack {
  return entries.map(({ type, value }, index) => {
    const read = READERS.get(type);
    if (read === undefined) throw badValue(`at ${index}: unsupported stack parameter type: ${quoted(type)}`);
    if (typeof value !== 'string') throw badValue(`at ${index}: the value is no text`);
    try {
      return read(value);
    } catch (error) {
      throw badValue(`at ${index}: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  });
}

function decodeNumber(text: string): VmStackValue {
  const match = text.length > 100 ? null : /^([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)$/.exec(text);
  if (match === null) throw badValue(`${quoted(text)} is not an integer, decimal or hexadecimal with 0x`);
  const magnitude = BigInt(match[2] as string);
  const value = match[1] === '-' ? -magnitude : magnitude;
  if (value < MIN || value > MAX) throw badValue(`${quoted(text)} does not fit 257 bits`);
  return vmInt(value);
}

function sliceOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw badValue('a slice of an exotic cell cannot be made');
  return vmSlice(cell);
}

/** A result of a get method. */
export interface StackEntry {
  readonly type: string;
  readonly value: string | readonly StackEntry[];
}

/** Deepest nesting of tuples and lists in an answer. */
const MAX_LEVELS = 256;

/**
 * Results of a get method: numbers in hexadecimal, cells and slices as bags of cells; a slice that is no part of a tuple is
 * called a cell, as in the live service. Pairs that end in null are a list, and null is an empty one.
 * @throws v3/result-depth
 */
export function encodeStack(stack: VmStack): StackEntry[] {
  return stack.map((value) => {
    const entry = entryOf(value, 0);
    return entry.type === 'slice' ? { ...entry, type: 'cell' } : entry;
  });
}

function entryOf(value: VmStackValue, level: number): StackEntry {
  if (level > MAX_LEVELS) throw v3Errors['result-depth']({ limit: MAX_LEVELS });
  const all = (values: readonly VmStackValue[]) => values.map((one) => entryOf(one, level + 1));
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return { type: 'num', value: hexOf(value.value) };
    case 'vm_stk_cell':
      return { type: 'cell', value: bocOf(value.cell) };
    case 'vm_stk_slice':
      return { type: 'slice', value: bocOf(cellOfSlice(value.slice)) };
    case 'vm_stk_null':
      return { type: 'list', value: [] };
    case 'vm_stk_tuple': {
      const { heads, rest } = pairChain(value);
      const isList = heads.length > 0 && rest.kind === 'vm_stk_null';
      return isList ? { type: 'list', value: all(heads) } : { type: 'tuple', value: all(value.data) };
    }
    default:
      return { type: 'unsupported', value: '' };
  }
}

function bocOf(cell: Cell): string {
  return bocText(cell).slice(1, -1);
}

/** `0x2a`, `-0x1`, `0x0` */
function hexOf(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}
