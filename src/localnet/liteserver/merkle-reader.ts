import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { createMerkleProof } from '#formats/cells/merkle-proof.js';
import { UsageTracker } from '#formats/cells/usage-tree.js';

/**
 * A tree that remembers which cells have been read through `root`. What a proof must show is what its reader will read:
 * so the server reads the same, and then asks for the proof of that.
 */
export class MerkleReader {
  readonly root: Cell;
  readonly #whole: Cell;
  readonly #tracker = new UsageTracker();

  constructor(root: Cell) {
    this.#whole = root;
    this.root = this.#tracker.track(root);
    this.root.touch();
  }

  /** The Merkle proof of all that was read so far. */
  proof(): Cell {
    return createMerkleProof(this.#whole, this.#tracker);
  }

  /** The same as a bag of cells. */
  proofBytes(): Uint8Array {
    return serializeBoc(this.proof());
  }
}

/** Marks a cell and all that lies below it as read. */
export function visitAll(cell: Cell): void {
  cell.touch();
  if (cell.type === CellType.prunedBranch) return;
  for (let r = 0, count = cell.refCount; r < count; r++) visitAll(cell.ref(r));
}

/** Marks what the cells of a list hold as read, not the list's own. */
export function visitEach(cells: Iterable<Cell | null | undefined>): void {
  for (const cell of cells) if (cell !== null && cell !== undefined) visitAll(cell);
}
