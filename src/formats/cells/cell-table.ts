import { Cell, type CellType } from '#formats/cells/cell.js';
import type { CellColumns } from '#formats/cells/cell-columns.js';
import { CellHashes } from '#formats/cells/cell-hashes.js';

/**
 * All cells of one bag of cells, as columns of numbers instead of objects: building it costs next to nothing, and
 * hashes are computed only for the cells that are asked (and what lies below them).
 */
export class CellTable implements CellColumns {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly dataStart: Uint32Array;
  readonly bitLength: Uint16Array;
  readonly refs: Uint32Array;
  readonly refCount: Uint8Array;
  readonly type: Uint8Array;
  readonly levelMask: Uint8Array;
  readonly withHashes: Uint8Array;
  #hashes: CellHashes | null = null;

  constructor(columns: CellColumns) {
    this.bytes = columns.bytes;
    this.count = columns.count;
    this.dataStart = columns.dataStart;
    this.bitLength = columns.bitLength;
    this.refs = columns.refs;
    this.refCount = columns.refCount;
    this.type = columns.type;
    this.levelMask = columns.levelMask;
    this.withHashes = columns.withHashes;
  }

  /** The cell at `index`. Two calls give two objects; compare cells by hash. */
  cell(index: number): Cell {
    return new TableCell(this, index);
  }

  /** The 32 bytes of a cell's hash at a level (0..3); a view into the table. */
  hash(index: number, level: number): Uint8Array {
    const hashes = this.#computed();
    const at = hashes.slot(index, level) * 32;
    return hashes.bytes.subarray(at, at + 32);
  }

  /** The bytes that {@link hashOffset} points into. */
  get hashBytes(): Uint8Array {
    return this.#computed().bytes;
  }

  /** Where the 32 bytes of a cell's representation hash start in {@link hashBytes}. Spares the view that {@link hash} makes. */
  hashOffset(index: number): number {
    return this.#computed().slot(index, 3) * 32;
  }

  depth(index: number, level: number): number {
    return this.#computed().depth(index, level);
  }

  /** Computes the hashes of all cells. */
  hashAll(): void {
    this.#computed().computeAll();
  }

  #computed(): CellHashes {
    this.#hashes ??= new CellHashes(this);
    return this.#hashes;
  }
}

/** A cell of a {@link CellTable}: the table and a number. */
export class TableCell extends Cell {
  readonly table: CellTable;
  readonly index: number;

  constructor(table: CellTable, index: number) {
    super();
    this.table = table;
    this.index = index;
  }

  get type(): CellType {
    return this.table.type[this.index] as CellType;
  }
  get bits(): number {
    return this.table.bitLength[this.index]!;
  }
  get refCount(): number {
    return this.table.refCount[this.index]!;
  }
  get levelMask(): number {
    return this.table.levelMask[this.index]!;
  }
  get bytes(): Uint8Array {
    return this.table.bytes;
  }
  get dataOffset(): number {
    return this.table.dataStart[this.index]!;
  }

  ref(index: number): Cell {
    return new TableCell(this.table, this.table.refs[this.index * 4 + index]!);
  }
  hash(level = 3): Uint8Array {
    return this.table.hash(this.index, level);
  }
  depth(level = 3): number {
    return this.table.depth(this.index, level);
  }
}
