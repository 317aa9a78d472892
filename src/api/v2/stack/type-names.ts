import { CELL_TYPE } from '#api/v2/schemas/ton-objects.js';

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
