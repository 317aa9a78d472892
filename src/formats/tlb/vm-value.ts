import type { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { type Codec, deferred, type Lazy, maybe, ref } from '#formats/tlb/codec/codec.js';
import { type Dictionary, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import { bigUint, cellRef, int16, int32, uint } from '#formats/tlb/codec/primitives.js';
import { record, union, variant } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';

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

export type VmCont = VmContOf<VmStackValue>;
export type VmControlData = VmControlDataOf<VmStackValue>;
export type VmSaveList = VmSaveListOf<VmStackValue>;

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

/** A part of a cell: bits `st_bits` to `end_bits`, references `st_ref` to `end_ref`, ends exclusive. */
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

/** A slice on the TVM stack. Bounds beyond the cell are refused. */
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
export function wholeCellSlice(cell: Cell): VmCellSlice {
  return { cell, st_bits: 0, end_bits: cell.bits, st_ref: 0, end_ref: cell.refCount };
}

/** A slice for reading it. @throws cells/exotic-not-expected, cells/pruned-branch */
export function openVmCellSlice({ cell, st_bits, end_bits, st_ref, end_ref }: VmCellSlice): Slice {
  const slice = openCell(cell);
  slice.take(st_bits, st_ref);
  return slice.take(end_bits - st_bits, end_ref - st_ref);
}

// Continuations hold values and values hold continuations. To keep the files free of cycles, all here is declared for
// any type `V` of values; vm-value.ts names the types for the real one, vm-stack.ts makes the codecs.

/** `_ cregs:(HashmapE 4 VmStackValue) = VmSaveList;` — control registers by number. */
export type VmSaveListOf<V> = Dictionary<number, V>;

/** Control data that a continuation restores when it is entered: see the schema line in {@link vmContinuations}. */
export interface VmControlDataOf<V> {
  /** Number of arguments; `null`: all. */
  readonly nargs: number | null;
  /** Values placed below the arguments, top last. */
  readonly stack: readonly V[] | null;
  readonly save: VmSaveListOf<V>;
  /** Codepage. */
  readonly cp: number | null;
}

export interface VmcStd<V> {
  readonly kind: 'vmc_std';
  readonly cdata: VmControlDataOf<V>;
  readonly code: VmCellSlice;
}
export interface VmcEnvelope<V> {
  readonly kind: 'vmc_envelope';
  readonly cdata: VmControlDataOf<V>;
  readonly next: Lazy<VmContOf<V>>;
}
export interface VmcQuit {
  readonly kind: 'vmc_quit';
  readonly exit_code: number;
}
export interface VmcQuitExc {
  readonly kind: 'vmc_quit_exc';
}
export interface VmcRepeat<V> {
  readonly kind: 'vmc_repeat';
  readonly count: bigint;
  readonly body: Lazy<VmContOf<V>>;
  readonly after: Lazy<VmContOf<V>>;
}
export interface VmcUntil<V> {
  readonly kind: 'vmc_until';
  readonly body: Lazy<VmContOf<V>>;
  readonly after: Lazy<VmContOf<V>>;
}
export interface VmcAgain<V> {
  readonly kind: 'vmc_again';
  readonly body: Lazy<VmContOf<V>>;
}
export interface VmcWhile<V> {
  readonly kind: 'vmc_while_cond' | 'vmc_while_body';
  readonly cond: Lazy<VmContOf<V>>;
  readonly body: Lazy<VmContOf<V>>;
  readonly after: Lazy<VmContOf<V>>;
}
export interface VmcPushint<V> {
  readonly kind: 'vmc_pushint';
  readonly value: number;
  readonly next: Lazy<VmContOf<V>>;
}

export type VmContOf<V> =
  | VmcStd<V>
  | VmcEnvelope<V>
  | VmcQuit
  | VmcQuitExc
  | VmcRepeat<V>
  | VmcUntil<V>
  | VmcAgain<V>
  | VmcWhile<V>
  | VmcPushint<V>;

/** The codecs of continuations for the codecs of a stack and of a value. Continuations in references are lazy. */
export function vmContinuations<V>(
  stack: Codec<readonly V[]>,
  value: Codec<V>,
): { readonly VmCont: Codec<VmContOf<V>>; readonly VmControlData: Codec<VmControlDataOf<V>> } {
  const VmControlData: Codec<VmControlDataOf<V>> = record(
    'vm_ctl_data$_ nargs:(Maybe uint13) stack:(Maybe VmStack) save:VmSaveList cp:(Maybe int16) = VmControlData;',
    { nargs: maybe(uint(13)), stack: maybe(stack), save: hashmapE(uintKey(4), value), cp: maybe(int16) },
  );
  const next: Codec<Lazy<VmContOf<V>>> = ref(deferred('VmCont', () => VmCont));
  const VmCont: Codec<VmContOf<V>> = union('VmCont', [
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
  return { VmCont, VmControlData };
}
