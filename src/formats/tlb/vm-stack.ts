import { crc16 } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, MAX_DEPTH } from '#formats/cells/cell.js';
import { type VisitBudget, visitBudget } from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { type Codec, deferred } from '#formats/tlb/codec/codec.js';
import { bigInt, cellRef, int64, uint16 } from '#formats/tlb/codec/primitives.js';
import { dependent, union, variant } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import {
  type VmCont as Cont,
  type VmControlData as ControlData,
  type VmStackValue as Value,
  VmCellSlice,
  vmContinuations,
} from '#formats/tlb/vm-value.js';
import { isTernError } from '#kernel/tern-error.js';

/** Maximum nesting of continuations whose stacks hold continuations; far above what contracts use. */
const MAX_NESTED_STACKS = 64;

const continuations = vmContinuations<Value>(
  deferred('VmStack', () => VmStack),
  deferred('VmStackValue', () => VmStackValue),
);
/** A TVM continuation: code, or the state of a control structure. */
export const VmCont = continuations.VmCont;
export type VmCont = Cont;
/** Control data that a continuation restores when it is entered. */
export const VmControlData = continuations.VmControlData;
export type VmControlData = ControlData;

/** A value whose tuple items are still cells: tuples can be nested as deep as cells, so a loop reads them. */
const ShallowValue = union('VmStackValue', [
  variant('vm_stk_null#00 = VmStackValue;', {}),
  variant('vm_stk_tinyint#01 value:int64 = VmStackValue;', { value: int64 }),
  variant('vm_stk_int#0201_ value:int257 = VmStackValue;', { value: bigInt(257) }),
  variant('vm_stk_nan#02ff = VmStackValue;', {}),
  variant('vm_stk_cell#03 cell:^Cell = VmStackValue;', { cell: cellRef }),
  variant('vm_stk_slice#04 _:VmCellSlice = VmStackValue;', { slice: VmCellSlice }),
  variant('vm_stk_builder#05 cell:^Cell = VmStackValue;', { cell: cellRef }),
  variant('vm_stk_cont#06 cont:VmCont = VmStackValue;', { cont: VmCont }),
  variant('vm_stk_tuple#07 len:(## 16) data:(VmTuple len) = VmStackValue;', {
    len: uint16,
    data: dependent('len', vmTupleCells),
  }),
]);

/** Cells of tuple items that are still to be read, and the array for their values. */
interface Pending {
  readonly cells: readonly Cell[];
  readonly values: Value[];
  readonly path: string;
}

// Stacks in continuations are read by their declared codecs, which pass no context: the nesting depth and the remaining
// budget of values are kept here while a value or stack is read or written.
let nested = 0;
let budget: VisitBudget = { left: 0 };
let limit = 0;

function nesting<T>(work: () => T): T {
  if (nested >= MAX_NESTED_STACKS) throw tlbErrors['vm-nesting']({ limit: MAX_NESTED_STACKS });
  nested++;
  try {
    return work();
  } finally {
    nested--;
  }
}

/** Equal parts of a value share a cell: without a bound, a few cells could expand to a tuple of 2^1000 items. */
function startBudget(slice: Slice): void {
  if (nested > 0) return;
  budget = visitBudget(slice.cell, undefined);
  limit = budget.left;
}

/** Reads a value except for tuple items, which are pushed to `pending`. */
function loadShallow(slice: Slice, pending: Pending[], path: string): Value {
  if (budget.left-- <= 0) throw tlbErrors['vm-size']({ limit });
  const value = ShallowValue.load(slice);
  if (value.kind !== 'vm_stk_tuple') return value;
  const values: Value[] = [];
  pending.push({ cells: value.data, values, path });
  return { kind: 'vm_stk_tuple', data: values };
}

function loadPending(pending: Pending[]): void {
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { cells, values } = next;
    for (let i = 0; i < cells.length; i++) {
      const path = `${next.path}[${i}]`;
      values.push(
        located(path, () => {
          const slice = openCell(cells[i] as Cell);
          const value = loadShallow(slice, pending, path);
          slice.end();
          return value;
        }),
      );
    }
  }
}

function located<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw path !== '' && isTernError(error) ? error.within(path) : error;
  }
}

function storeValue(value: Value, builder: Builder, depth: number): void {
  if (value.kind !== 'vm_stk_tuple') {
    ShallowValue.store(value, builder);
    return;
  }
  if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
  const cells: Cell[] = [];
  for (const item of value.data) {
    const own = new Builder();
    storeValue(item, own, depth + 1);
    cells.push(own.endCell());
  }
  ShallowValue.store({ kind: 'vm_stk_tuple', len: cells.length, data: cells }, builder);
}

/** A TVM value; see the type for its constructors. */
export type VmStackValue = Value;
export const VmStackValue: Codec<Value> = {
  type: 'VmStackValue',
  load: (slice) => {
    startBudget(slice);
    return nesting(() => {
      const pending: Pending[] = [];
      const value = loadShallow(slice, pending, '');
      loadPending(pending);
      return value;
    });
  },
  store: (value, builder) => nesting(() => storeValue(value, builder, 0)),
};

/** The values of a stack, top last: results of a get-method are in the order of its declaration. */
export type VmStack = readonly Value[];

/**
 * A TVM stack: arguments and results of get-methods.
 *
 * ```
 * vm_stack#_ depth:(## 24) stack:(VmStackList depth) = VmStack;
 * vm_stk_cons#_ {n:#} rest:^(VmStackList n) tos:VmStackValue = VmStackList (n + 1);
 * vm_stk_nil#_ = VmStackList 0;
 * ```
 *
 * @throws tlb/vm-size, tlb/vm-nesting, and as all codecs; paths count from the bottom of the stack
 */
export const VmStack: Codec<VmStack> = {
  type: 'VmStack',
  load: (slice) => {
    startBudget(slice);
    return nesting(() => {
      const depth = slice.loadUint(24);
      const pending: Pending[] = [];
      const values: Value[] = [];
      let node = slice;
      for (let left = depth; left > 0; left--) {
        const path = `[${left - 1}]`;
        node = located(path, () => {
          const rest = node.loadRef();
          values.push(loadShallow(node, pending, path));
          if (node !== slice) node.end();
          return openCell(rest);
        });
      }
      if (depth > 0) node.end();
      loadPending(pending);
      return values.reverse();
    });
  },
  store: (values, builder) =>
    nesting(() => {
      builder.storeUint(values.length, 24);
      let rest: Cell = EMPTY_CELL;
      values.forEach((value, i) => {
        const last = i === values.length - 1;
        const node = last ? builder : new Builder();
        node.storeRef(rest);
        storeValue(value, node, 0);
        if (!last) rest = node.endCell();
      });
    }),
};

/**
 * The cells of a tuple's items in order; their contents are not read. A loop unwinds the nesting of cells.
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

const encoder = new TextEncoder();

/** The id of the get-method with this name: `crc16(name) & 0xffff | 0x10000`. */
export function methodIdOf(name: string): number {
  const bytes = encoder.encode(name);
  return crc16(bytes, bytes.length) | 0x10000;
}
