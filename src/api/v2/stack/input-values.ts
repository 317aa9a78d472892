import { decodeBase64 } from '#api/v2/parameter-forms.js';
import { badEntry, kindOf, shown } from '#api/v2/stack/input-error.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { type Cell, CellType, cellTypeName } from '#formats/cells/cell.js';
import { type VmStackValue, vmInt, vmSlice } from '#formats/tlb/vm-value.js';

const MIN = -(1n << 256n);
const MAX = (1n << 256n) - 1n;

/** Digits that a number of 257 bits can have, in the longest notation that makes sense. */
const MAX_CHARACTERS = 128;

/**
 * An integer of the virtual machine: a JSON integer, or a text in decimal or hexadecimal (`0x1f`), with a sign or without.
 * @throws v2/stack-entry
 */
export function integerOf(value: unknown): VmStackValue {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return vmInt(value);
    if (Number.isInteger(value)) {
      throw badEntry('the number lost digits as a JSON number; give it as a string, "0x…" or decimal');
    }
    throw badEntry(`${value} is not an integer`);
  }
  if (typeof value !== 'string') throw badEntry(`a number is ${kindOf(value)}; wanted is an integer or a string`);
  const match = /^\s*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)\s*$/.exec(value);
  if (match === null) throw badEntry(`${shown(value)} is not an integer, decimal or hexadecimal with 0x`);
  if (value.length > MAX_CHARACTERS) throw badEntry(`${shown(value)} does not fit 257 bits with a sign`);
  const magnitude = BigInt(match[2] as string);
  const integer = match[1] === '-' ? -magnitude : magnitude;
  if (integer < MIN || integer > MAX) throw badEntry(`${shown(value)} does not fit 257 bits with a sign`);
  return vmInt(integer);
}

/** The only root of a bag of cells in base64. @throws v2/stack-entry, v2/parameter-value, cells/* */
export function bocOf(value: unknown, what: string): Cell {
  if (typeof value !== 'string') throw badEntry(`${what} is ${kindOf(value)}; wanted is a bag of cells in base64`);
  if (value === '') throw badEntry(`${what} is empty; wanted is a bag of cells in base64`);
  return parseBocRoot(decodeBase64(value));
}

/** A cell to start with. @throws v2/stack-entry when the cell has no data to be read */
export function sliceOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw badEntry(`a slice of ${cellTypeName(cell.type)} cannot be made`);
  return vmSlice(cell);
}

/** What has been written to a builder. @throws v2/stack-entry */
export function builderOf(cell: Cell): VmStackValue {
  if (cell.type !== CellType.ordinary) throw badEntry(`a builder cannot hold ${cellTypeName(cell.type)}`);
  return { kind: 'vm_stk_builder', cell };
}
