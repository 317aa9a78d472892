import { BuiltCell } from '#formats/cells/builder.js';
import { Cell, CellType, cellTypeName, popcount3 } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** Which cells a proof includes: a predicate, or the cells that were recorded as opened. */
export type ProofFilter = UsageTracker | ((cell: Cell) => boolean);

/**
 * Opens a Merkle proof and returns the tree in it, whose `hash(0)` is the hash of the whole, unpruned tree.
 *
 * Layout: `!merkle_proof#03 virtual_hash:bits256 depth:uint16 virtual_root:^X`.
 *
 * @throws cells/exotic-not-expected when it is another cell; cells/merkle-level when parts of the proof are pruned by an
 * enclosing proof; cells/cell-exotic when the content has another hash or depth than the proof declares
 */
export function openMerkleProof(cell: Cell): Cell {
  requireType(cell, CellType.merkleProof);
  if (cell.levelMask !== 0) throw cellsErrors['merkle-level']({ subject: 'Merkle proof', level: cell.level });
  cell.touch();
  checkSide(cell, 0);
  return cell.ref(0);
}

/** @throws cells/exotic-not-expected, cells/pruned-branch */
export function requireType(cell: Cell, type: CellType): void {
  if (cell.type === type) return;
  const hash = toHex(cell.hash(0));
  if (cell.type === CellType.prunedBranch) throw cellsErrors['pruned-branch']({ hash });
  throw cellsErrors['exotic-not-expected']({ hash, found: cellTypeName(cell.type), wanted: cellTypeName(type) });
}

/** Checks a reference of a Merkle cell against the hash and depth that the cell declares. @throws cells/cell-exotic */
export function checkSide(cell: Cell, side: number): void {
  const sides = cell.refCount;
  const content = cell.ref(side);
  const hashAt = cell.dataOffset + 1 + side * 32;
  const depthAt = cell.dataOffset + 1 + sides * 32 + side * 2;
  const depth = (cell.bytes[depthAt]! << 8) | cell.bytes[depthAt + 1]!;
  if (bytesEqual(cell.bytes.subarray(hashAt, hashAt + 32), content.hash(0)) && depth === content.depth(0)) return;
  throw cellsErrors['cell-exotic']({
    problem: `reference ${side} of ${cellTypeName(cell.type)} has another hash or depth than the cell states`,
  });
}

/**
 * Creates a Merkle proof: `root` with all cells pruned that `keep` does not select. Cells without references are always
 * kept, since a pruned branch would hardly be smaller; `keep` is not called for cells below a pruned one.
 *
 * The tree may itself be the pruned tree of a proof, and may contain Merkle proofs and updates. Kept parts are shared.
 */
export function createMerkleProof(root: Cell, keep: ProofFilter): Cell {
  const keeps = keep instanceof UsageTracker ? (cell: Cell) => keep.has(cell.hash()) : keep;
  return wrapMerkleProof(prune(root, (cell) => !keeps(cell), 0));
}

/** The Merkle proof cell of a tree that is already pruned. */
export function wrapMerkleProof(virtualRoot: Cell): Cell {
  const bytes = new Uint8Array(35);
  bytes[0] = CellType.merkleProof;
  putHashAndDepth(bytes, 1, 33, virtualRoot);
  return new BuiltCell(bytes, 280, [virtualRoot], true);
}

/** Writes hash(0) and depth(0) of a cell into the data of a Merkle cell. */
export function putHashAndDepth(bytes: Uint8Array, hashAt: number, depthAt: number, cell: Cell): void {
  bytes.set(cell.hash(0), hashAt);
  const depth = cell.depth(0);
  bytes[depthAt] = depth >> 8;
  bytes[depthAt + 1] = depth;
}

/**
 * Copies a tree with some cells pruned. Unchanged parts are shared.
 *
 * @param leaveOut whether to prune a cell that has references; called once per distinct cell and depth
 * @param merkleDepth number of Merkle cells above `root` in the result, not counting the outermost
 */
export function prune(root: Cell, leaveOut: (cell: Cell, merkleDepth: number) => boolean, merkleDepth: number): Cell {
  const known: { index: HashIndex; made: Cell[] }[] = [];
  const visit = (given: Cell, depth: number): Cell => {
    const cell = untracked(given);
    const refCount = cell.refCount;
    // The level mask has bits for at most three nested Merkle cells: deeper ones are left as they are.
    if (refCount === 0 || depth > 2) return cell;
    known[depth] ??= { index: new HashIndex(), made: [] };
    const { index, made } = known[depth]!;
    const hash = cell.hash();
    const before = index.find(hash);
    if (before >= 0) return made[before]!;
    let result = cell;
    if (leaveOut(cell, depth)) {
      result = pruneCell(cell, depth);
    } else {
      const childDepth = depth + (isMerkle(cell) ? 1 : 0);
      const refs: Cell[] = [];
      let changed = false;
      for (let r = 0; r < refCount; r++) {
        const child = cell.ref(r);
        const visited = visit(child, childDepth);
        changed ||= visited !== child;
        refs.push(visited);
      }
      if (changed) result = withRefs(cell, refs);
    }
    made[index.add(hash)] = result;
    return result;
  };
  return visit(root, merkleDepth);
}

/** A cell with the data and type of `cell` and other references. */
function withRefs(cell: Cell, refs: readonly Cell[]): Cell {
  const start = cell.dataOffset;
  return new BuiltCell(
    cell.bytes.slice(start, start + ((cell.bits + 7) >> 3)),
    cell.bits,
    refs,
    cell.type !== CellType.ordinary,
  );
}

export function isMerkle(cell: Cell): boolean {
  return cell.type === CellType.merkleProof || cell.type === CellType.merkleUpdate;
}

/**
 * The pruned branch that replaces a cell below `merkleDepth` + 1 Merkle cells (0: directly in a proof). A cell without
 * references is returned as it is.
 *
 * Layout: `!pruned_branch#01 level_mask:uint8 hash:(n * bits256) depth:(n * uint16)`, a pair for each level of the mask.
 */
export function pruneCell(cell: Cell, merkleDepth: number): Cell {
  if (cell.refCount === 0) return untracked(cell);
  const mask = cell.levelMask | (1 << merkleDepth);
  if (mask > 7) throw cellsErrors['merkle-level']({ subject: 'pruned branch', level: merkleDepth + 1 });
  const count = popcount3(mask);
  const bytes = new Uint8Array(2 + count * 34);
  bytes[0] = CellType.prunedBranch;
  bytes[1] = mask;
  let hashAt = 2;
  let depthAt = 2 + count * 32;
  for (let level = 0; level < 3; level++) {
    if ((mask & (1 << level)) === 0) continue;
    // The pair of bit n is the cell's hash and depth at level n.
    bytes.set(cell.hash(level), hashAt);
    const depth = cell.depth(level);
    bytes[depthAt] = depth >> 8;
    bytes[depthAt + 1] = depth;
    hashAt += 32;
    depthAt += 2;
  }
  return new BuiltCell(bytes, bytes.length * 8, [], true);
}

/**
 * One proof that shows everything that either of two proofs of the same tree shows.
 *
 * @throws cells/merkle-other-root when they are proofs of different trees; as {@link openMerkleProof}
 */
export function combineMerkleProofs(first: Cell, second: Cell): Cell {
  const a = untracked(openMerkleProof(first));
  const b = untracked(openMerkleProof(second));
  if (!bytesEqual(a.hash(0), b.hash(0)))
    throw cellsErrors['merkle-other-root']({ first: toHex(a.hash(0)), second: toHex(b.hash(0)) });
  const indexes = [new HashIndex(), new HashIndex()] as const;
  const known = new Map<number, Cell>();
  const merge = (x: Cell, y: Cell, depth: number): Cell => {
    if (bytesEqual(x.hash(), y.hash())) return x;
    if (x.type === CellType.prunedBranch) return y;
    if (y.type === CellType.prunedBranch) return x;
    const key = (indexes[0].add(x.hash()) * 2 ** 24 + indexes[1].add(y.hash())) * 4 + depth;
    const before = known.get(key);
    if (before !== undefined) return before;
    const childDepth = depth + (isMerkle(x) ? 1 : 0);
    const refs: Cell[] = [];
    for (let r = 0; r < x.refCount; r++) refs.push(merge(untracked(x.ref(r)), untracked(y.ref(r)), childDepth));
    const merged = withRefs(x, refs);
    known.set(key, merged);
    return merged;
  };
  return wrapMerkleProof(merge(a, b, 0));
}

/**
 * Records which cells of a tree are opened, in order to create a Merkle proof of exactly these: read through `track(root)`,
 * then pass the tracker to `createMerkleProof`. Cells are identified by representation hash, not by position.
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

/** A view of a cell that notifies its tracker when it is opened; its references are such views, too. */
export class TrackedCell extends Cell {
  /** The underlying cell. */
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

/** The underlying cell, without views that record its use. */
export function untracked(cell: Cell): Cell {
  let bare = cell;
  while (bare instanceof TrackedCell) bare = bare.cell;
  return bare;
}
