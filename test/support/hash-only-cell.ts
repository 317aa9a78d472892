import { Cell, type CellType } from '#formats/cells/cell.js';
import { fromHex } from '#kernel/bytes.js';

/** A code that is only a hash: for those that nobody recorded. */
export class HashOnlyCell extends Cell {
  readonly #hash: Uint8Array;
  override readonly type: CellType = 0;
  override readonly bits = 0;
  override readonly refCount = 0;
  override readonly levelMask = 0;
  override readonly bytes = new Uint8Array(0);
  override readonly dataOffset = 0;

  constructor(hash: string) {
    super();
    this.#hash = fromHex(hash) as Uint8Array;
  }

  override ref(): Cell {
    return this;
  }
  override hash(): Uint8Array {
    return this.#hash;
  }
  override depth(): number {
    return 0;
  }
}
