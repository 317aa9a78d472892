import type { Cell } from '#formats/cells/cell.js';
import { type VmCellSlice, wholeCell } from '#formats/tlb/vm-cell-slice.js';
import type { VmContOf, VmControlDataOf, VmSaveListOf } from '#formats/tlb/vm-continuation.js';

/**
 * A value of the virtual machine, as on the stack of a get method. Its constructors in TL-B:
 *
 * ```
 * vm_stk_null#00 = VmStackValue;
 * vm_stk_tinyint#01 value:int64 = VmStackValue;
 * vm_stk_int#0201_ value:int257 = VmStackValue;
 * vm_stk_nan#02ff = VmStackValue;
 * vm_stk_cell#03 cell:^Cell = VmStackValue;
 * vm_stk_slice#04 _:VmCellSlice = VmStackValue;
 * vm_stk_builder#05 cell:^Cell = VmStackValue;
 * vm_stk_cont#06 cont:VmCont = VmStackValue;
 * vm_stk_tuple#07 len:(## 16) data:(VmTuple len) = VmStackValue;
 * ```
 */
export type VmStackValue =
  | { readonly kind: 'vm_stk_null' }
  /** What the node uses for every integer of 64 bits; {@link vmInt} picks the form. */
  | { readonly kind: 'vm_stk_tinyint'; readonly value: bigint }
  | { readonly kind: 'vm_stk_int'; readonly value: bigint }
  /** Result of a division by zero and the like. */
  | { readonly kind: 'vm_stk_nan' }
  | { readonly kind: 'vm_stk_cell'; readonly cell: Cell }
  | { readonly kind: 'vm_stk_slice'; readonly slice: VmCellSlice }
  /** What was written to the builder so far. */
  | { readonly kind: 'vm_stk_builder'; readonly cell: Cell }
  | { readonly kind: 'vm_stk_cont'; readonly cont: VmCont }
  | { readonly kind: 'vm_stk_tuple'; readonly data: readonly VmStackValue[] };

export type VmCont = VmContOf<VmStackValue>;
export type VmControlData = VmControlDataOf<VmStackValue>;
export type VmSaveList = VmSaveListOf<VmStackValue>;

export const VM_NULL: VmStackValue = { kind: 'vm_stk_null' };
export const VM_NAN: VmStackValue = { kind: 'vm_stk_nan' };

/** An integer in the form that the node writes: `vm_stk_tinyint` when it fits int64. Beyond int257 its encoding fails. */
export function vmInt(value: bigint | number): VmStackValue {
  const big = BigInt(value);
  return { kind: BigInt.asIntN(64, big) === big ? 'vm_stk_tinyint' : 'vm_stk_int', value: big };
}

export function vmCell(cell: Cell): VmStackValue {
  return { kind: 'vm_stk_cell', cell };
}

/** A slice over a whole cell: how addresses and strings are passed. */
export function vmSlice(cell: Cell): VmStackValue {
  return { kind: 'vm_stk_slice', slice: wholeCell(cell) };
}

export function vmTuple(data: readonly VmStackValue[]): VmStackValue {
  return { kind: 'vm_stk_tuple', data };
}
