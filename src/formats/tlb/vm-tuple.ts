import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/**
 * The cells of a tuple's items, in order; what is in them is not read. Their nesting in cells is taken apart in a loop.
 *
 * ```
 * vm_tupref_nil$_ = VmTupleRef 0;
 * vm_tupref_single$_ entry:^VmStackValue = VmTupleRef 1;
 * vm_tupref_any$_ {n:#} ref:^(VmTuple (n + 2)) = VmTupleRef (n + 2);
 * vm_tuple_nil$_ = VmTuple 0;
 * vm_tuple_tcons$_ {n:#} head:(VmTupleRef n) tail:^VmStackValue = VmTuple (n + 1);
 * ```
 */
export function vmTupleCells(length: number): Codec<readonly Cell[]> {
  return {
    type: `VmTuple ${length}`,
    load: (slice) => {
      const cells: Cell[] = [];
      let node = slice;
      for (let left = length; left > 0; left--) {
        const head = left > 1 ? node.loadRef() : null;
        cells.push(node.loadRef());
        if (node !== slice) node.end();
        if (left === 2) {
          cells.push(head as Cell);
          break;
        }
        if (head !== null) node = openCell(head);
      }
      return cells.reverse();
    },
    store: (cells, builder) => {
      if (cells.length !== length)
        throw tlbErrors.constraint({ bit: builder.bits, value: `${cells.length} items`, rule: `VmTuple ${length}` });
      if (length === 0) return;
      let head = cells[0] as Cell;
      for (let i = 1; i < length - 1; i++)
        head = new Builder()
          .storeRef(head)
          .storeRef(cells[i] as Cell)
          .endCell();
      builder.storeRef(head);
      if (length > 1) builder.storeRef(cells[length - 1] as Cell);
    },
  };
}
