import type { Builder } from '#formats/cells/builder.js';
import type { Slice } from '#formats/cells/slice.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';

/** `Maybe X`: `null` when absent. */
export function maybe<T>(codec: Codec<T>): Codec<T | null> {
  return {
    type: `(Maybe ${codec.type})`,
    load: (slice) => (slice.loadBit() ? codec.load(slice) : null),
    store: (value, builder) => {
      builder.storeBit(value !== null);
      if (value !== null) codec.store(value, builder);
    },
  };
}

/** A value of `Either X Y`: which side, and the value. */
export type Either<L, R> = { readonly kind: 'left'; readonly value: L } | { readonly kind: 'right'; readonly value: R };

/** `Either X Y`. */
export function either<L, R>(left: Codec<L>, right: Codec<R>): Codec<Either<L, R>> {
  return {
    type: `(Either ${left.type} ${right.type})`,
    load: (slice) =>
      slice.loadBit() ? { kind: 'right', value: right.load(slice) } : { kind: 'left', value: left.load(slice) },
    store: (value, builder) => {
      builder.storeBit(value.kind === 'right');
      if (value.kind === 'right') right.store(value.value, builder);
      else left.store(value.value, builder);
    },
  };
}

/** `^X`, decoded when asked for. */
export function ref<T>(codec: Codec<T>): Codec<Lazy<T>> {
  return {
    type: `^${codec.type}`,
    load: (slice) => Lazy.ofCell(codec, slice.loadRef()),
    store: (value, builder) => void builder.storeRef(value.cell),
  };
}

/** `^X`, decoded at once: for small parts that are always wanted. */
export function eagerRef<T>(codec: Codec<T>): Codec<T> {
  return {
    type: `^${codec.type}`,
    load: (slice) => decodeCell(codec, slice.loadRef()),
    store: (value, builder) => void builder.storeRef(encodeCell(codec, value)),
  };
}

/** A codec that is defined further down: for types that contain themselves. */
export function deferred<T>(type: string, codec: () => Codec<T>): Codec<T> {
  return {
    type,
    load: (slice: Slice) => codec().load(slice),
    store: (value: T, builder: Builder) => codec().store(value, builder),
  };
}
