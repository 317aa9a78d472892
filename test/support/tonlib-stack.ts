import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openVmCellSlice, VM_NULL, type VmStackValue, vmCell, vmInt, vmSlice, vmTuple } from '#formats/tlb/vm-stack.js';
import { fromBase64, toHex } from '#kernel/bytes.js';

/** A stack entry as tonlib's JSON has it. */
export type TonlibEntry =
  | { '@type': 'tvm.stackEntryNumber'; number: { number: string } }
  | { '@type': 'tvm.stackEntryCell'; cell: { bytes: string } }
  | { '@type': 'tvm.stackEntrySlice'; slice: { bytes: string } }
  | { '@type': 'tvm.stackEntryTuple'; tuple: { elements: TonlibEntry[] } }
  | { '@type': 'tvm.stackEntryList'; list: { elements: TonlibEntry[] } };

/** A value as tonlib takes it: lists are pairs of head and tail. */
export function fromTonlibEntry(entry: TonlibEntry): VmStackValue {
  switch (entry['@type']) {
    case 'tvm.stackEntryNumber':
      return vmInt(BigInt(entry.number.number));
    case 'tvm.stackEntryCell':
      return vmCell(parseBocRoot(fromBase64(entry.cell.bytes)!));
    case 'tvm.stackEntrySlice':
      return vmSlice(parseBocRoot(fromBase64(entry.slice.bytes)!));
    case 'tvm.stackEntryTuple':
      return vmTuple(entry.tuple.elements.map(fromTonlibEntry));
    case 'tvm.stackEntryList':
      return entry.list.elements.reduceRight((tail, head) => vmTuple([fromTonlibEntry(head), tail]), VM_NULL);
  }
}

/** For comparing: numbers in decimal, cells and slices by hash, what is a list as a list (so null is an empty one). */
export function shapeOfTonlib(entry: TonlibEntry): unknown {
  switch (entry['@type']) {
    case 'tvm.stackEntryNumber':
      return entry.number.number;
    case 'tvm.stackEntryCell':
      return `cell ${hashOf(parseBocRoot(fromBase64(entry.cell.bytes)!))}`;
    case 'tvm.stackEntrySlice':
      return `slice ${hashOf(parseBocRoot(fromBase64(entry.slice.bytes)!))}`;
    case 'tvm.stackEntryTuple':
      return { tuple: entry.tuple.elements.map(shapeOfTonlib) };
    case 'tvm.stackEntryList':
      return { list: entry.list.elements.map(shapeOfTonlib) };
  }
}

/** The same of a value. Builders and continuations have no form in tonlib. */
export function shapeOfValue(value: VmStackValue): unknown {
  switch (value.kind) {
    case 'vm_stk_tinyint':
    case 'vm_stk_int':
      return String(value.value);
    case 'vm_stk_nan':
      return 'NaN';
    case 'vm_stk_cell':
      return `cell ${hashOf(value.cell)}`;
    case 'vm_stk_slice':
      return `slice ${hashOf(new Builder().storeSlice(openVmCellSlice(value.slice)).endCell())}`;
    case 'vm_stk_builder':
    case 'vm_stk_cont':
      return 'unsupported';
    default: {
      const list = listOf(value);
      return list === null ? { tuple: (value.kind === 'vm_stk_tuple' ? value.data : []).map(shapeOfValue) } : { list };
    }
  }
}

function listOf(value: VmStackValue): unknown[] | null {
  const list: unknown[] = [];
  for (let rest = value; ; ) {
    if (rest.kind === 'vm_stk_null') return list;
    if (rest.kind !== 'vm_stk_tuple' || rest.data.length !== 2) return null;
    list.push(shapeOfValue(rest.data[0]!));
    rest = rest.data[1]!;
  }
}

function hashOf(cell: Cell): string {
  return toHex(cell.hash());
}
