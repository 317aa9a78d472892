import type { Cell } from '#formats/cells/cell.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';

/**
 * A value in a cell of its own (`^X` in TL-B) that is decoded when it is first asked for. Its cell is there without
 * decoding, so a hash of it costs no parsing; a pruned cell is an error only when its value is asked for.
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

  /** Stands for the value in `cell`. */
  static ofCell<T>(codec: Codec<T>, cell: Cell): Lazy<T> {
    return new Lazy(codec, cell);
  }

  /** Holds a value; its cell is built when it is first asked for. */
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
