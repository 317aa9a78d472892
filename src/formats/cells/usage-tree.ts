import { Cell, type CellType } from '#formats/cells/cell.js';
import { HashIndex } from '#formats/cells/hash-index.js';

/**
 * Records which cells of a tree are opened, to make a Merkle proof of just these: read through `track(root)`, then give
 * the tracker to `createMerkleProof`. Cells are told apart by representation hash, not by place.
 */
export class UsageTracker {
  readonly #opened = new HashIndex();

  /** The same tree; every opening of a cell in it (`openCell`, `openExotic`, `Cell.touch`) is recorded. */
  track(root: Cell): Cell {
    return new TrackedCell(untracked(root), this);
  }

  /** Whether a cell with this representation hash was opened. */
  has(hash: Uint8Array): boolean {
    return this.#opened.has(hash);
  }

  /** Records a cell as opened. */
  record(cell: Cell): void {
    this.#opened.add(cell.hash());
  }

  /** Number of distinct cells opened. */
  get size(): number {
    return this.#opened.size;
  }
}

/** A view of a cell that tells its tracker when it is opened; its references are such views too. */
export class TrackedCell extends Cell {
  /** The cell itself. */
  readonly cell: Cell;
  readonly #tracker: UsageTracker;
  #opened = false;

  constructor(cell: Cell, tracker: UsageTracker) {
    super();
    this.cell = cell;
    this.#tracker = tracker;
  }

  get type(): CellType {
    return this.cell.type;
  }
  get bits(): number {
    return this.cell.bits;
  }
  get refCount(): number {
    return this.cell.refCount;
  }
  get levelMask(): number {
    return this.cell.levelMask;
  }
  get bytes(): Uint8Array {
    return this.cell.bytes;
  }
  get dataOffset(): number {
    return this.cell.dataOffset;
  }
  ref(index: number): Cell {
    return new TrackedCell(untracked(this.cell.ref(index)), this.#tracker);
  }
  hash(level?: number): Uint8Array {
    return this.cell.hash(level);
  }
  depth(level?: number): number {
    return this.cell.depth(level);
  }
  override touch(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#tracker.record(this.cell);
  }
}

/** The cell itself, without the views that record its use. */
export function untracked(cell: Cell): Cell {
  let bare = cell;
  while (bare instanceof TrackedCell) bare = bare.cell;
  return bare;
}
