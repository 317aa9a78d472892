import type { Codec } from '#formats/tlb/codec/codec.js';
import { deferred, maybe, ref } from '#formats/tlb/codec/composites.js';
import { type Dictionary, hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { bigUint, int16, int32, uint } from '#formats/tlb/codec/primitives.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { VmCellSlice } from '#formats/tlb/vm-cell-slice.js';

// Continuations hold values and values hold continuations. To keep the files free of cycles, all here is declared for
// any type `V` of values; vm-value.ts names the types for the real one, vm-stack.ts makes the codecs.

/** `_ cregs:(HashmapE 4 VmStackValue) = VmSaveList;` — control registers by number. */
export type VmSaveListOf<V> = Dictionary<number, V>;

/** What a continuation restores when it is entered: see the schema line in {@link vmContinuations}. */
export interface VmControlDataOf<V> {
  /** How many arguments it takes; `null`: all. */
  readonly nargs: number | null;
  /** Values put under the arguments, the top last. */
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
