import type { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { cellRef, uint } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/** A part of a cell: bits `st_bits` to `end_bits`, references `st_ref` to `end_ref`, the ends not included. */
export interface VmCellSlice {
  readonly cell: Cell;
  readonly st_bits: number;
  readonly end_bits: number;
  readonly st_ref: number;
  readonly end_ref: number;
}

const fields = record(
  '_ cell:^Cell st_bits:(## 10) end_bits:(## 10) { st_bits <= end_bits } st_ref:(#<= 4) end_ref:(#<= 4) { st_ref <= end_ref } = VmCellSlice;',
  { cell: cellRef, st_bits: uint(10), end_bits: uint(10), st_ref: uint(3), end_ref: uint(3) },
);

/** A slice on the stack of the virtual machine. Bounds beyond the cell are refused. */
export const VmCellSlice: Codec<VmCellSlice> = {
  type: 'VmCellSlice',
  load: (slice: Slice) => {
    const bit = slice.bitOffset;
    return check(fields.load(slice), bit);
  },
  store: (value: VmCellSlice, builder: Builder) => fields.store(check(value, builder.bits), builder),
};

function check(value: VmCellSlice, bit: number): VmCellSlice {
  const { cell, st_bits, end_bits, st_ref, end_ref } = value;
  if (st_bits > end_bits || end_bits > cell.bits || st_ref > end_ref || end_ref > cell.refCount) {
    throw tlbErrors.constraint({
      bit,
      value: `bits ${st_bits} to ${end_bits}, references ${st_ref} to ${end_ref}`,
      rule: `a slice of a cell of ${cell.bits} bits and ${cell.refCount} references`,
    });
  }
  return value;
}

/** A whole cell as a slice. */
export function wholeCell(cell: Cell): VmCellSlice {
  return { cell, st_bits: 0, end_bits: cell.bits, st_ref: 0, end_ref: cell.refCount };
}

/** To read it. @throws cells/exotic-not-expected, cells/pruned-branch */
export function openVmCellSlice({ cell, st_bits, end_bits, st_ref, end_ref }: VmCellSlice): Slice {
  const slice = openCell(cell);
  slice.take(st_bits, st_ref);
  return slice.take(end_bits - st_bits, end_ref - st_ref);
}
