import { BuiltCell } from '#formats/cells/built-cell.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes/bytes.js';

/**
 * Cells by hash, gathered from trees of which some parts may be pruned; a tree is only walked when a cell is not in those
 * before it.
 */
export class CellSources {
  readonly #cells = new Map<string, Cell>();
  readonly #walked = new Set<string>();
  readonly #waiting: (() => Cell | null)[] = [];

  /** @param tree called when it is needed; null: there is none */
  add(tree: () => Cell | null): void {
    this.#waiting.push(tree);
  }

  /** A cell whose `hash(0)` is this, itself not pruned; parts below may be. */
  find(hash: Uint8Array): Cell | null {
    const key = toHex(hash);
    for (;;) {
      const found = this.#cells.get(key);
      if (found !== undefined) return found;
      const next = this.#waiting.shift();
      if (next === undefined) return null;
      const tree = next();
      if (tree !== null) this.#walk(tree);
    }
  }

  #walk(cell: Cell): void {
    if (cell.type === CellType.prunedBranch) return;
    // By the hash that tells what is pruned below: another tree may show other parts of the same cell.
    const shown = toHex(cell.hash());
    if (this.#walked.has(shown)) return;
    this.#walked.add(shown);
    const key = cell.levelMask === 0 ? shown : toHex(cell.hash(0));
    if (cell.levelMask === 0 || !this.#cells.has(key)) this.#cells.set(key, cell);
    for (let i = 0; i < cell.refCount; i++) this.#walk(cell.ref(i));
  }
}

/**
 * The whole cell that a cell with pruned branches stands for; null when a part is in none of the sources. What it gives has
 * the hash that the given one has at level 0, by which the parts are found.
 */
export function completeCell(cell: Cell, sources: CellSources): Cell | null {
  return new Completion(sources).complete(cell, 0);
}

class Completion {
  readonly #sources: CellSources;
  readonly #done = new Map<string, Cell | null>();

  constructor(sources: CellSources) {
    this.#sources = sources;
  }

  /** @param merkleDepth how many Merkle cells are above: branches pruned below them at that level belong to them */
  complete(cell: Cell, merkleDepth: number): Cell | null {
    if (cell.level <= merkleDepth) return cell;
    const key = `${merkleDepth} ${toHex(cell.hash(merkleDepth))}`;
    const known = this.#done.get(key);
    if (known !== undefined) return known;
    const whole = this.#renew(cell, merkleDepth);
    this.#done.set(key, whole);
    return whole;
  }

  #renew(cell: Cell, merkleDepth: number): Cell | null {
    if (cell.type === CellType.prunedBranch) {
      const found = this.#sources.find(cell.hash(merkleDepth));
      return found === null ? null : this.complete(found, merkleDepth);
    }
    const deeper = cell.type === CellType.merkleProof || cell.type === CellType.merkleUpdate ? 1 : 0;
    const refs: Cell[] = [];
    for (let i = 0; i < cell.refCount; i++) {
      const ref = this.complete(cell.ref(i), merkleDepth + deeper);
      if (ref === null) return null;
      refs.push(ref);
    }
    const start = cell.dataOffset;
    const bytes = cell.bytes.subarray(start, start + ((cell.bits + 7) >> 3));
    return new BuiltCell(bytes, cell.bits, refs, cell.type !== CellType.ordinary);
  }
}
