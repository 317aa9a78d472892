import fc from 'fast-check';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { VM_NULL, type VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { BitString } from '#kernel/bytes.js';

/** Trees of up to three levels, of ordinary cells with any number of bits. */
const anyCell: fc.Arbitrary<Cell> = cellsAbove(cellsAbove(cellsAbove(null)));

function cellsAbove(below: fc.Arbitrary<Cell> | null): fc.Arbitrary<Cell> {
  const refs = below === null ? fc.constant([]) : fc.array(below, { maxLength: 2 });
  return fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(7), refs).map(([bytes, cut, cells]) => {
    const length = Math.max(0, bytes.length * 8 - cut);
    const kept = bytes.slice(0, (length + 7) >> 3);
    if ((length & 7) !== 0) kept[kept.length - 1]! &= 0xff << (8 - (length & 7));
    const builder = new Builder().storeBits(new BitString(kept, length));
    for (const cell of cells) builder.storeRef(cell);
    return builder.endCell();
  });
}

const LIMIT = 1n << 256n;
export const anyInt257: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt(-LIMIT, LIMIT - 1n),
  fc.constantFrom(0n, 1n, -1n, LIMIT - 1n, -LIMIT, 1n << 63n, -(1n << 63n)),
);

/** Values that every dialect of stacks has a form for. */
export const anyStackValue: fc.Arbitrary<VmStackValue> = fc.letrec<{ value: VmStackValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyInt257.map(vmInt),
    fc.constant(VM_NULL),
    anyCell.map(vmCell),
    anyCell.map(vmSlice),
    fc.array(tie('value'), { maxLength: 4 }).map(vmTuple),
    fc
      .array(tie('value'), { maxLength: 4 })
      .map((items) => items.reduceRight((rest, item) => vmTuple([item, rest]), VM_NULL)),
  ),
})).value;
