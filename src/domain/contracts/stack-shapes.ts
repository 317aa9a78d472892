import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openVmCellSlice, type VmCellSlice } from '#formats/tlb/vm-cell-slice.js';
import type { VmStackValue } from '#formats/tlb/vm-value.js';

/** A cell with just what the slice has left. An exotic cell can only be given whole, as it is. */
export function cellOfSlice(slice: VmCellSlice): Cell {
  const { cell, st_bits, end_bits, st_ref, end_ref } = slice;
  const whole = st_bits === 0 && end_bits === cell.bits && st_ref === 0 && end_ref === cell.refCount;
  if (whole || cell.type !== CellType.ordinary) return cell;
  return new Builder().storeSlice(openVmCellSlice(slice)).endCell();
}

/** A chain of pairs, each with the next one as its second item. */
export interface PairChain {
  readonly heads: readonly VmStackValue[];
  /** What the last pair ends with: `vm_stk_null` makes the chain a list. */
  readonly rest: VmStackValue;
}

export function pairChain(value: VmStackValue): PairChain {
  const heads: VmStackValue[] = [];
  let rest = value;
  while (rest.kind === 'vm_stk_tuple' && rest.data.length === 2) {
    heads.push(rest.data[0]!);
    rest = rest.data[1]!;
  }
  return { heads, rest };
}
