import type { CellList } from '#formats/cells/boc-cell-list.js';

/** Cells that one page of the layout may hold. */
const PAGE = 64;

/** Where the cells of a list stand in the bag. */
export interface BocOrder {
  /** Entries of the list in the order in which they are written: parents before children. */
  readonly entries: Uint32Array;
  /** Place of each entry in that order. */
  readonly places: Uint32Array;
  /** 1: the entry starts a part of its own; these are the cells whose hashes may be stored. */
  readonly partRoots: Uint8Array;
}

/**
 * The order of the reference serializer. It cuts the tree into parts of at most 64 cells that are near to each other and
 * writes each part together. Changes the weights of the list.
 */
export function orderCells(list: CellList, roots: readonly number[]): BocOrder {
  limitWeights(list);
  const partRoots = findPartRoots(list);
  const places = new Numbering(list, partRoots).run(roots);
  const entries = new Uint32Array(list.count);
  for (let entry = 0; entry < list.count; entry++) entries[places[entry]!] = entry;
  return { entries, places, partRoots };
}

/** From parents to children: shares the room of a part among the children; a heavy child is limited to its share. */
function limitWeights(list: CellList): void {
  const { refs, weight, descriptor } = list;
  for (let entry = list.count - 1; entry >= 0; entry--) {
    const size = descriptor[entry]! & 7;
    const first = entry * 4;
    let room = PAGE - 1;
    let heavy = size;
    let light = 0;
    for (let j = 0; j < size; j++) {
      const own = weight[refs[first + j]!]!;
      if (own > Math.floor((PAGE - 1 + j) / size)) continue;
      room -= own;
      heavy--;
      light |= 1 << j;
    }
    for (let j = 0; j < size; j++) {
      if ((light & (1 << j)) !== 0) continue;
      const limit = Math.floor(room++ / heavy);
      const child = refs[first + j]!;
      if (weight[child]! > limit) weight[child] = limit;
    }
  }
}

/** From children to parents: a cell that has more below it than its limit allows starts a part. */
function findPartRoots(list: CellList): Uint8Array {
  const { refs, weight, descriptor } = list;
  const partRoots = new Uint8Array(list.count);
  for (let entry = 0; entry < list.count; entry++) {
    const first = entry * 4;
    const end = first + (descriptor[entry]! & 7);
    let sum = 1;
    for (let r = first; r < end; r++) sum += weight[refs[r]!]!;
    if (sum <= weight[entry]!) {
      weight[entry] = sum;
    } else {
      weight[entry] = 0;
      partRoots[entry] = 1;
    }
  }
  return partRoots;
}

const PRE_VISITED = 1;
const VISITED = 2;
const NUMBERED = 3;

/** Gives each entry its place. The nesting is that of the cells, at most MAX_DEPTH. */
class Numbering {
  readonly #refs: Uint32Array;
  readonly #descriptor: Uint8Array;
  readonly #partRoots: Uint8Array;
  readonly #state: Uint8Array;
  readonly #places: Uint32Array;
  /** Places are given from the last one on. */
  #next: number;

  constructor(list: CellList, partRoots: Uint8Array) {
    this.#refs = list.refs;
    this.#descriptor = list.descriptor;
    this.#partRoots = partRoots;
    this.#state = new Uint8Array(list.count);
    this.#places = new Uint32Array(list.count);
    this.#next = list.count - 1;
  }

  run(roots: readonly number[]): Uint32Array {
    for (const root of roots) {
      this.#preVisit(root);
      this.#visit(root);
    }
    for (const root of roots) this.#number(root);
    return this.#places;
  }

  /** Reaches the parts below first, so that they come last in the bag. */
  #preVisit(entry: number): void {
    if (this.#state[entry] !== 0) return;
    const first = entry * 4;
    for (let r = first + (this.#descriptor[entry]! & 7) - 1; r >= first; r--) {
      const child = this.#refs[r]!;
      if (this.#partRoots[child] !== 0) this.#visit(child);
      else this.#preVisit(child);
    }
    this.#state[entry] = PRE_VISITED;
  }

  #visit(entry: number): void {
    if (this.#state[entry]! >= VISITED) return;
    if (this.#partRoots[entry] !== 0) this.#preVisit(entry);
    const first = entry * 4;
    const last = first + (this.#descriptor[entry]! & 7) - 1;
    for (let r = last; r >= first; r--) this.#visit(this.#refs[r]!);
    for (let r = last; r >= first; r--) this.#number(this.#refs[r]!);
    this.#state[entry] = VISITED;
  }

  #number(entry: number): void {
    if (this.#state[entry] === NUMBERED) return;
    this.#state[entry] = NUMBERED;
    this.#places[entry] = this.#next--;
  }
}
