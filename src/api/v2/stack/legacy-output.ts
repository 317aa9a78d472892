import { bocBase64 } from '#api/v2/serialize/ton-objects.js';
import { treeOfCell } from '#api/v2/stack/legacy-cell.js';
import type { LegacyEntry } from '#api/v2/stack/typed-entry.js';
import { typedEntry } from '#api/v2/stack/typed-output.js';
import { cellOfSlice } from '#domain/contracts/stack-shapes.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import type { VmStackValue } from '#formats/tlb/vm-value.js';

/**
 * Results for `runGetMethod`. Slices are called `cell`, as clients expect; null is an empty list; what is within tuples
 * and lists is typed.
 * @throws v2/result-depth
 */
export function encodeLegacyStack(stack: VmStack): LegacyEntry[] {
  return stack.map(legacyEntry);
}

function legacyEntry(value: VmStackValue): LegacyEntry {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return ['num', hexOf(value.value)];
    case 'vm_stk_cell':
      return cellEntry(value.cell);
    case 'vm_stk_slice':
      return cellEntry(cellOfSlice(value.slice));
    case 'vm_stk_null':
    case 'vm_stk_tuple': {
      const entry = typedEntry(value, 0);
      if ('tuple' in entry) return ['tuple', entry.tuple];
      if ('list' in entry) return ['list', entry.list];
      return ['unsupported', ''];
    }
    default:
      return ['unsupported', ''];
  }
}

function cellEntry(cell: Cell): LegacyEntry {
  const bytes = bocBase64(cell);
  const object = treeOfCell(cell);
  return ['cell', object === null ? { bytes } : { bytes, object }];
}

/** `0x2a`, `-0x1`, `0x0` */
function hexOf(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}
