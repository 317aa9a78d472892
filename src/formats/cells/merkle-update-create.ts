import { BuiltCell } from '#formats/cells/built-cell.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { isMerkle, prune, putHashAndDepth } from '#formats/cells/merkle-proof.js';
import { untracked } from '#formats/cells/usage-tree.js';

/**
 * Makes the Merkle update that leads from one tree to another.
 *
 * Both trees are searched level by level at the same time, and neither is followed below a cell that both have. So for two
 * states that differ in a few places the work is about the size of the difference, also when kept parts have moved up or down.
 * Merkle cells inside of the trees are kept or replaced as a whole.
 *
 * @throws cells/merkle-level when a tree has pruned parts
 */
export function createMerkleUpdate(oldRoot: Cell, newRoot: Cell): Cell {
  const before = untracked(oldRoot);
  const after = untracked(newRoot);
  for (const root of [before, after]) {
    if (root.levelMask !== 0) throw cellsErrors['merkle-level']({ subject: 'state', level: root.level });
  }
  const old = search(before, after);
  const needed: number[] = [];
  const newSide = prune(
    after,
    (cell, merkleDepth) => {
      const entry = merkleDepth === 0 ? old.find(cell) : -1;
      if (entry >= 0) needed.push(entry);
      return entry >= 0;
    },
    0,
  );
  const shown = new Uint8Array(old.count);
  for (const entry of needed) {
    for (let above = old.parents[entry]!; above >= 0 && shown[above] === 0; above = old.parents[above]!)
      shown[above] = 1;
  }
  const oldSide = prune(before, (cell, merkleDepth) => merkleDepth === 0 && shown[old.find(cell)] !== 1, 0);

  const bytes = new Uint8Array(69);
  bytes[0] = CellType.merkleUpdate;
  putHashAndDepth(bytes, 1, 65, oldSide);
  putHashAndDepth(bytes, 33, 67, newSide);
  return new BuiltCell(bytes, 552, [oldSide, newSide], true);
}

/** Searches both trees until nothing new can be found in both. @returns the cells met in the old one */
function search(before: Cell, after: Cell): Side {
  const old = new Side();
  const fresh = new Side();
  let oldFront = [old.meet(before, -1)];
  let newFront = [fresh.meet(after, -1)];
  if (fresh.find(before) >= 0) return old;
  while (oldFront.length > 0 && newFront.length > 0) {
    oldFront = old.advance(oldFront, fresh);
    newFront = fresh.advance(newFront, old);
  }
  return old;
}

/** The cells of one tree that have been met so far. */
class Side {
  readonly #index = new HashIndex();
  readonly #cells: Cell[] = [];
  /** Entry from which a cell was reached first; -1 for the root. */
  readonly parents: number[] = [];
  /** Entries that the other tree has too: not followed, nor anything below them. */
  readonly #shared: boolean[] = [];

  get count(): number {
    return this.#cells.length;
  }

  find(cell: Cell): number {
    return this.#index.find(cell.hash());
  }

  meet(cell: Cell, parent: number): number {
    const entry = this.#index.add(cell.hash());
    this.#cells[entry] = cell;
    this.parents[entry] = parent;
    this.#shared[entry] = false;
    return entry;
  }

  share(entry: number): void {
    this.#shared[entry] = true;
  }

  /** Follows the references of the cells at the front. @returns the next front */
  advance(front: readonly number[], other: Side): number[] {
    const next: number[] = [];
    for (const entry of front) {
      if (this.#isBelowShared(entry)) continue;
      const cell = this.#cells[entry]!;
      if (isMerkle(cell)) continue;
      for (let r = 0, count = cell.refCount; r < count; r++) {
        const child = untracked(cell.ref(r));
        if (this.find(child) >= 0) continue;
        const met = this.meet(child, entry);
        const twin = other.find(child);
        if (twin >= 0) {
          this.share(met);
          other.share(twin);
        } else if (child.refCount > 0) {
          next.push(met);
        }
      }
    }
    return next;
  }

  #isBelowShared(entry: number): boolean {
    for (let above = entry; above >= 0; above = this.parents[above]!) {
      if (!this.#shared[above]) continue;
      this.#shared[entry] = true;
      return true;
    }
    return false;
  }
}
