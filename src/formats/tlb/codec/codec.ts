import { Builder } from '#formats/cells/builder.js';
import type { Cell, CellType } from '#formats/cells/cell.js';
import { openCell, openExotic, type Slice } from '#formats/cells/slice.js';

/** Reads and writes one TL-B type. Codecs are declared with `record`, `union` and their parts; they hold no state. */
export interface Codec<T> {
  /** The TL-B type as it would be written: `uint32`, `Maybe ^Cell`, `BlockInfo`. */
  readonly type: string;
  /** Set when the type is a whole exotic cell (`!merkle_update`); its codec starts after the type byte. */
  readonly exotic?: CellType;
  /** Reads a value from the front of the slice and moves it. @throws tlb/* or cells/*, with the path of the field */
  load(slice: Slice): T;
  /** Appends a value. @throws cells/value-range, cells/cell-overflow, tlb/* */
  store(value: T, builder: Builder): void;
}

/** The type of a codec's values. */
export type ValueOf<C> = C extends Codec<infer T> ? T : never;

/**
 * Reads a whole cell as one value; nothing may be left over.
 * @throws cells/slice-not-empty, cells/pruned-branch, and what the codec throws
 */
export function decodeCell<T>(codec: Codec<T>, cell: Cell): T {
  const slice = codec.exotic === undefined ? openCell(cell) : openExotic(cell, codec.exotic);
  const value = codec.load(slice);
  slice.end();
  return value;
}

/** Writes a value as a cell of its own. */
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
