import { BuiltCell } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { checkSide, isMerkle, prune, putHashAndDepth, requireType, untracked } from '#formats/cells/merkle-proof.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** A parsed Merkle update. Hashes and depths are those of the whole, unpruned states. */
export interface MerkleUpdate {
  readonly oldHash: Uint8Array;
  readonly newHash: Uint8Array;
  readonly oldDepth: number;
  readonly newDepth: number;
  /** The old state, pruned to the paths to the parts that the new state reuses. */
  readonly old: Cell;
  /** The new state; parts that it reuses from the old one are pruned. */
  readonly new: Cell;
}

/**
 * Parses a Merkle update and checks that its sides have the hashes and depths that it declares.
 *
 * Layout: `!merkle_update#04 old_hash:bits256 new_hash:bits256 old_depth:uint16 new_depth:uint16 old:^X new:^X`.
 *
 * @throws cells/exotic-not-expected, cells/pruned-branch, cells/cell-exotic
 */
export function readMerkleUpdate(cell: Cell): MerkleUpdate {
  requireType(cell, CellType.merkleUpdate);
  cell.touch();
  checkSide(cell, 0);
  checkSide(cell, 1);
  const before = cell.ref(0);
  const after = cell.ref(1);
  return {
    oldHash: before.hash(0),
    newHash: after.hash(0),
    oldDepth: before.depth(0),
    newDepth: after.depth(0),
    old: before,
    new: after,
  };
}

/**
 * Applies a Merkle update: returns the new state, whose unchanged parts are the cells of the old one.
 *
 * The work is bounded by the size of the update: only those cells of the old state are read which its old side shows.
 *
 * All cells that the update adds are copied. So the result retains the reused cells of the old state and copies of the
 * new ones, never the bytes of the block, and a chain of updates takes as much memory as the cells of the last state.
 * (Cells of a state parsed from a bag of cells retain the bytes of that bag as long as one of them is in use.)
 *
 * @throws cells/update-old-state when `oldRoot` is another state; cells/update-missing-cell, cells/update-new-state for a
 *   forged update; cells/merkle-level when parts of it are pruned by an enclosing proof; as {@link readMerkleUpdate}
 */
export function applyMerkleUpdate(oldRoot: Cell, update: Cell): Cell {
  const { oldHash, newHash, oldDepth, newDepth, old, new: after } = readMerkleUpdate(update);
  if (update.levelMask !== 0) throw cellsErrors['merkle-level']({ subject: 'Merkle update', level: update.level });
  const root = untracked(oldRoot);
  if (!bytesEqual(root.hash(0), oldHash) || root.depth(0) !== oldDepth) {
    throw cellsErrors['update-old-state']({ expected: toHex(oldHash), found: toHex(root.hash(0)) });
  }
  const oldCells = new OldStateCells();
  oldCells.collect(root, untracked(old), 0);
  const result = new NewStateBuilder(oldCells).build(untracked(after), 0);
  if (!bytesEqual(result.hash(0), newHash) || result.depth(0) !== newDepth) {
    throw cellsErrors['update-new-state']({ expected: toHex(newHash), found: toHex(result.hash(0)) });
  }
  return result;
}

/** Cells of the old state that the old side of an update shows, by their hash at the level of their position. */
class OldStateCells {
  readonly #byDepth: { readonly index: HashIndex; readonly cells: Cell[]; readonly walked: HashIndex }[] = [];

  collect(original: Cell, shown: Cell, merkleDepth: number): void {
    const level = this.#level(merkleDepth);
    const walked = level.walked.size;
    // A repeated part of the old side refers to the same cells each time.
    if (level.walked.add(shown.hash()) !== walked) return;
    const entry = level.index.add(original.hash(merkleDepth));
    level.cells[entry] ??= original;
    // The old state may be pruned itself.
    if (shown.type === CellType.prunedBranch || original.type === CellType.prunedBranch) return;
    const childDepth = depthBelow(shown, merkleDepth);
    const refCount = shown.refCount;
    for (let r = 0; r < refCount; r++) this.collect(untracked(original.ref(r)), untracked(shown.ref(r)), childDepth);
  }

  find(hash: Uint8Array, merkleDepth: number): Cell | null {
    const level = this.#level(merkleDepth);
    const entry = level.index.find(hash);
    return entry < 0 ? null : level.cells[entry]!;
  }

  #level(merkleDepth: number): { readonly index: HashIndex; readonly cells: Cell[]; readonly walked: HashIndex } {
    this.#byDepth[merkleDepth] ??= { index: new HashIndex(), cells: [], walked: new HashIndex() };
    return this.#byDepth[merkleDepth];
  }
}

/** Builds the cells of the new state from the new side of an update. */
class NewStateBuilder {
  readonly #oldCells: OldStateCells;
  readonly #known: { readonly index: HashIndex; readonly made: Cell[] }[] = [];

  constructor(oldCells: OldStateCells) {
    this.#oldCells = oldCells;
  }

  build(cell: Cell, merkleDepth: number): Cell {
    if (cell.type === CellType.prunedBranch && (cell.levelMask & (1 << merkleDepth)) !== 0) {
      return this.#resolve(cell, merkleDepth);
    }
    this.#known[merkleDepth] ??= { index: new HashIndex(), made: [] };
    const { index, made } = this.#known[merkleDepth];
    const hash = cell.hash();
    const before = index.find(hash);
    if (before >= 0) return made[before]!;
    const childDepth = depthBelow(cell, merkleDepth);
    const refs: Cell[] = [];
    for (let r = 0, count = cell.refCount; r < count; r++) refs.push(this.build(untracked(cell.ref(r)), childDepth));
    const result = copyWith(cell, refs, merkleDepth);
    made[index.add(hash)] = result;
    return result;
  }

  #resolve(pruned: Cell, merkleDepth: number): Cell {
    const hash = pruned.hash(merkleDepth);
    const found = this.#oldCells.find(hash, merkleDepth);
    if (found === null || found.depth(merkleDepth) !== pruned.depth(merkleDepth)) {
      throw cellsErrors['update-missing-cell']({ hash: toHex(hash) });
    }
    return found;
  }
}

/**
 * A copy of a cell of the new side whose pruned branches have been replaced. Outside inner Merkle cells its hash equals
 * that of the new side at level 0, since the replacements have the hashes and depths of the pruned branches. Inside, where
 * a pruned branch also has hashes that were not compared, the hash is computed.
 */
function copyWith(cell: Cell, refs: readonly Cell[], merkleDepth: number): Cell {
  const start = cell.dataOffset;
  const bytes = cell.bytes.slice(start, start + ((cell.bits + 7) >> 3));
  const exotic = cell.type !== CellType.ordinary;
  const known = cell.levelMask === 0 || (merkleDepth === 0 && !isMerkle(cell));
  if (known && refs.every((ref) => ref.levelMask === 0)) {
    if (cell.type !== CellType.prunedBranch)
      return BuiltCell.withHash(bytes, cell.bits, refs, exotic, cell.hash(0).slice(), cell.depth(0));
  }
  const copy = new BuiltCell(bytes, cell.bits, refs, exotic);
  if (
    !bytesEqual(copy.hash(merkleDepth), cell.hash(merkleDepth)) ||
    copy.depth(merkleDepth) !== cell.depth(merkleDepth)
  ) {
    throw cellsErrors['update-new-state']({
      expected: toHex(cell.hash(merkleDepth)),
      found: toHex(copy.hash(merkleDepth)),
    });
  }
  return copy;
}

/** Number of Merkle cells above the references of a cell, at most 3: nothing can be pruned at deeper levels. */
function depthBelow(cell: Cell, merkleDepth: number): number {
  return isMerkle(cell) ? Math.min(merkleDepth + 1, 3) : merkleDepth;
}

/**
 * Creates the Merkle update from one tree to another.
 *
 * Both trees are searched level by level at the same time, and neither is followed below a cell that both contain. So the
 * work for two states that differ in a few places is about the size of the difference, even when shared parts have moved
 * up or down. Merkle cells inside the trees are kept or replaced as a whole.
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

/** Searches both trees until no further shared cells can be found. @returns the cells visited in the old tree */
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

/** The cells of one tree that have been visited so far. */
class Side {
  readonly #index = new HashIndex();
  readonly #cells: Cell[] = [];
  /** Entry from which a cell was first reached; -1 for the root. */
  readonly parents: number[] = [];
  /** Entries that the other tree also contains: neither they nor their descendants are followed. */
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
