import { crc16 } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, MAX_DEPTH } from '#formats/cells/cell.js';
import { type VisitBudget, visitBudget } from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { type Codec, deferred, type Lazy, maybe, ref } from '#formats/tlb/codec/codec.js';
import { type Dictionary, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bigInt, bigUint, cellRef, int16, int32, int64, uint, uint16 } from '#formats/tlb/codec/primitives.js';
import { dependent, record, union, variant } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { isTernError } from '#kernel/tern-error.js';

/** Nodes take arguments of a get-method of at most so many bytes, as a bag of cells. */
export const MAX_STACK_BYTES = 65_535;

/**
 * A TVM value, as on the stack of a get-method. Its constructors in TL-B:
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
  /** The form that nodes use for every integer that fits int64; {@link vmInt} chooses it. */
  | { readonly kind: 'vm_stk_tinyint'; readonly value: bigint }
  | { readonly kind: 'vm_stk_int'; readonly value: bigint }
  /** Not a number: for example the result of a quiet division by zero. */
  | { readonly kind: 'vm_stk_nan' }
  | { readonly kind: 'vm_stk_cell'; readonly cell: Cell }
  | { readonly kind: 'vm_stk_slice'; readonly slice: VmCellSlice }
  /** The contents of the builder. */
  | { readonly kind: 'vm_stk_builder'; readonly cell: Cell }
  | { readonly kind: 'vm_stk_cont'; readonly cont: VmCont }
  | { readonly kind: 'vm_stk_tuple'; readonly data: readonly VmStackValue[] };

/** The values of a stack, top last: results of a get-method are in the order of its declaration. */
export type VmStack = readonly VmStackValue[];

export const VM_NULL: VmStackValue = { kind: 'vm_stk_null' };
export const VM_NAN: VmStackValue = { kind: 'vm_stk_nan' };

/** An integer in the form that nodes use: `vm_stk_tinyint` when it fits int64. Encoding fails beyond int257. */
export function vmInt(value: bigint | number): VmStackValue {
  const big = BigInt(value);
  return { kind: BigInt.asIntN(64, big) === big ? 'vm_stk_tinyint' : 'vm_stk_int', value: big };
}

export function vmCell(cell: Cell): VmStackValue {
  return { kind: 'vm_stk_cell', cell };
}

/** A slice of a whole cell: the way to pass addresses and strings. */
export function vmSlice(cell: Cell): VmStackValue {
  return { kind: 'vm_stk_slice', slice: wholeCellSlice(cell) };
}

export function vmTuple(data: readonly VmStackValue[]): VmStackValue {
  return { kind: 'vm_stk_tuple', data };
}

const encoder = new TextEncoder();

/** The id of the get-method with this name: `crc16(name) & 0xffff | 0x10000`. */
export function methodIdOf(name: string): number {
  const bytes = encoder.encode(name);
  return crc16(bytes, bytes.length) | 0x10000;
}

/** A part of a cell: bits `st_bits` to `end_bits`, references `st_ref` to `end_ref`, ends exclusive. */
export interface VmCellSlice {
  readonly cell: Cell;
  readonly st_bits: number;
  readonly end_bits: number;
  readonly st_ref: number;
  readonly end_ref: number;
}

const vmCellSliceFields = record(
  '_ cell:^Cell st_bits:(## 10) end_bits:(## 10) { st_bits <= end_bits } st_ref:(#<= 4) end_ref:(#<= 4) { st_ref <= end_ref } = VmCellSlice;',
  { cell: cellRef, st_bits: uint(10), end_bits: uint(10), st_ref: uint(3), end_ref: uint(3) },
);

/** A slice on the TVM stack. Bounds beyond the cell are refused. */
export const VmCellSlice: Codec<VmCellSlice> = {
  type: 'VmCellSlice',
  load: (slice: Slice) => {
    const bit = slice.bitOffset;
    return checkBounds(vmCellSliceFields.load(slice), bit);
  },
  store: (value: VmCellSlice, builder: Builder) => vmCellSliceFields.store(checkBounds(value, builder.bits), builder),
};

function checkBounds(value: VmCellSlice, bit: number): VmCellSlice {
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
export function wholeCellSlice(cell: Cell): VmCellSlice {
  return { cell, st_bits: 0, end_bits: cell.bits, st_ref: 0, end_ref: cell.refCount };
}

/** A slice for reading it. @throws cells/exotic-not-expected, cells/pruned-branch */
export function openVmCellSlice({ cell, st_bits, end_bits, st_ref, end_ref }: VmCellSlice): Slice {
  const slice = openCell(cell);
  slice.take(st_bits, st_ref);
  return slice.take(end_bits - st_bits, end_ref - st_ref);
}

/** `_ cregs:(HashmapE 4 VmStackValue) = VmSaveList;` — control registers by number. */
export type VmSaveList = Dictionary<number, VmStackValue>;

/** Control data that a continuation restores when it is entered. */
export interface VmControlData {
  /** Number of arguments; `null`: all. */
  readonly nargs: number | null;
  /** Values placed below the arguments, top last. */
  readonly stack: readonly VmStackValue[] | null;
  readonly save: VmSaveList;
  /** Codepage. */
  readonly cp: number | null;
}

export interface VmcStd {
  readonly kind: 'vmc_std';
  readonly cdata: VmControlData;
  readonly code: VmCellSlice;
}
export interface VmcEnvelope {
  readonly kind: 'vmc_envelope';
  readonly cdata: VmControlData;
  readonly next: Lazy<VmCont>;
}
export interface VmcQuit {
  readonly kind: 'vmc_quit';
  readonly exit_code: number;
}
export interface VmcQuitExc {
  readonly kind: 'vmc_quit_exc';
}
export interface VmcRepeat {
  readonly kind: 'vmc_repeat';
  readonly count: bigint;
  readonly body: Lazy<VmCont>;
  readonly after: Lazy<VmCont>;
}
export interface VmcUntil {
  readonly kind: 'vmc_until';
  readonly body: Lazy<VmCont>;
  readonly after: Lazy<VmCont>;
}
export interface VmcAgain {
  readonly kind: 'vmc_again';
  readonly body: Lazy<VmCont>;
}
export interface VmcWhile {
  readonly kind: 'vmc_while_cond' | 'vmc_while_body';
  readonly cond: Lazy<VmCont>;
  readonly body: Lazy<VmCont>;
  readonly after: Lazy<VmCont>;
}
export interface VmcPushint {
  readonly kind: 'vmc_pushint';
  readonly value: number;
  readonly next: Lazy<VmCont>;
}

/** A TVM continuation: code, or the state of a control structure. */
export type VmCont =
  | VmcStd
  | VmcEnvelope
  | VmcQuit
  | VmcQuitExc
  | VmcRepeat
  | VmcUntil
  | VmcAgain
  | VmcWhile
  | VmcPushint;

const stackCodec: Codec<VmStack> = deferred('VmStack', () => VmStack);
const valueCodec: Codec<VmStackValue> = deferred('VmStackValue', () => VmStackValue);

/** The codec of {@link VmControlData}. */
export const VmControlData: Codec<VmControlData> = record(
  'vm_ctl_data$_ nargs:(Maybe uint13) stack:(Maybe VmStack) save:VmSaveList cp:(Maybe int16) = VmControlData;',
  { nargs: maybe(uint(13)), stack: maybe(stackCodec), save: hashmapE(uintKey(4), valueCodec), cp: maybe(int16) },
);
const next: Codec<Lazy<VmCont>> = ref(deferred('VmCont', () => VmCont));
/** The codec of {@link VmCont}. Continuations in references are lazy. */
export const VmCont: Codec<VmCont> = union('VmCont', [
  variant('vmc_std$00 cdata:VmControlData code:VmCellSlice = VmCont;', { cdata: VmControlData, code: VmCellSlice }),
  variant('vmc_envelope$01 cdata:VmControlData next:^VmCont = VmCont;', { cdata: VmControlData, next }),
  variant('vmc_quit$1000 exit_code:int32 = VmCont;', { exit_code: int32 }),
  variant('vmc_quit_exc$1001 = VmCont;', {}),
  variant('vmc_repeat$10100 count:uint63 body:^VmCont after:^VmCont = VmCont;', {
    count: bigUint(63),
    body: next,
    after: next,
  }),
  variant('vmc_until$110000 body:^VmCont after:^VmCont = VmCont;', { body: next, after: next }),
  variant('vmc_again$110001 body:^VmCont = VmCont;', { body: next }),
  variant('vmc_while_cond$110010 cond:^VmCont body:^VmCont after:^VmCont = VmCont;', {
    cond: next,
    body: next,
    after: next,
  }),
  variant('vmc_while_body$110011 cond:^VmCont body:^VmCont after:^VmCont = VmCont;', {
    cond: next,
    body: next,
    after: next,
  }),
  variant('vmc_pushint$1111 value:int32 next:^VmCont = VmCont;', { value: int32, next }),
]);

/** Maximum nesting of continuations whose stacks hold continuations; far above what contracts use. */
const MAX_NESTED_STACKS = 64;

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
  readonly values: VmStackValue[];
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
function loadShallow(slice: Slice, pending: Pending[], path: string): VmStackValue {
  if (budget.left-- <= 0) throw tlbErrors['vm-size']({ limit });
  const value = ShallowValue.load(slice);
  if (value.kind !== 'vm_stk_tuple') return value;
  const values: VmStackValue[] = [];
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

function storeValue(value: VmStackValue, builder: Builder, depth: number): void {
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

/** The codec of {@link VmStackValue}. */
export const VmStackValue: Codec<VmStackValue> = {
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
      const values: VmStackValue[] = [];
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
