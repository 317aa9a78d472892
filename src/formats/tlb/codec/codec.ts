import { Builder } from '#formats/cells/builder.js';
import type { Cell, CellType } from '#formats/cells/cell.js';
import { openCell, openExotic, type Slice } from '#formats/cells/slice.js';

/** Reads and writes one TL-B type. Codecs are declared with `record`, `union` and primitives; they are stateless. */
export interface Codec<T> {
  /** The TL-B type: `uint32`, `Maybe ^Cell`, `BlockInfo`. */
  readonly type: string;
  /** Set when the type is a whole exotic cell (`!merkle_update`); the codec starts after the type byte. */
  readonly exotic?: CellType;
  /** Reads a value from the slice, moving it. @throws tlb/* or cells/*, with the path of the field */
  load(slice: Slice): T;
  /** Appends a value. @throws cells/value-range, cells/cell-overflow, tlb/* */
  store(value: T, builder: Builder): void;
}

/** The type of a codec's values. */
export type ValueOf<C> = C extends Codec<infer T> ? T : never;

/**
 * Decodes a whole cell as one value; nothing may be left over.
 * @throws cells/slice-not-empty, cells/pruned-branch, and what the codec throws
 */
export function decodeCell<T>(codec: Codec<T>, cell: Cell): T {
  const slice = codec.exotic === undefined ? openCell(cell) : openExotic(cell, codec.exotic);
  const value = codec.load(slice);
  slice.end();
  return value;
}

/** Encodes a value as a cell. */
export function encodeCell<T>(codec: Codec<T>, value: T): Cell {
  const builder = new Builder();
  if (codec.exotic === undefined) {
    codec.store(value, builder);
    return builder.endCell();
  }
  builder.storeUint(codec.exotic, 8);
  codec.store(value, builder);
  return builder.endExotic();
}

/**
 * A value in a referenced cell (`^X` in TL-B) that is decoded on first use. The cell is available without
 * decoding, so its hash needs no parsing; a pruned cell is an error only when the value is read.
 */
export class Lazy<T> {
  /** Codec of the value. */
  readonly codec: Codec<T>;
  #cell: Cell | null;
  #value: T | null = null;
  #decoded = false;

  private constructor(codec: Codec<T>, cell: Cell | null) {
    this.codec = codec;
    this.#cell = cell;
  }

  /** Wraps a cell that contains the value. */
  static ofCell<T>(codec: Codec<T>, cell: Cell): Lazy<T> {
    return new Lazy(codec, cell);
  }

  /** Wraps a value; its cell is built on first use. */
  static ofValue<T>(codec: Codec<T>, value: T): Lazy<T> {
    const lazy = new Lazy(codec, null);
    lazy.#value = value;
    lazy.#decoded = true;
    return lazy;
  }

  /** The TL-B type of the value. */
  get type(): string {
    return this.codec.type;
  }

  get cell(): Cell {
    this.#cell ??= encodeCell(this.codec, this.#value as T);
    return this.#cell;
  }

  /** @throws as {@link decodeCell} */
  get value(): T {
    if (!this.#decoded) {
      this.#value = decodeCell(this.codec, this.#cell as Cell);
      this.#decoded = true;
    }
    return this.#value as T;
  }
}

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

/** `^X`, decoded on first use. */
export function ref<T>(codec: Codec<T>): Codec<Lazy<T>> {
  return {
    type: `^${codec.type}`,
    load: (slice) => Lazy.ofCell(codec, slice.loadRef()),
    store: (value, builder) => void builder.storeRef(value.cell),
  };
}

/** `^X`, decoded immediately: for small parts that are always needed. */
export function eagerRef<T>(codec: Codec<T>): Codec<T> {
  return {
    type: `^${codec.type}`,
    load: (slice) => decodeCell(codec, slice.loadRef()),
    store: (value, builder) => void builder.storeRef(encodeCell(codec, value)),
  };
}

/** A codec that is defined later: for recursive types. */
export function deferred<T>(type: string, codec: () => Codec<T>): Codec<T> {
  return {
    type,
    load: (slice: Slice) => codec().load(slice),
    store: (value: T, builder: Builder) => codec().store(value, builder),
  };
}
