import type { Cell } from '#formats/cells/cell.js';
import { type CellTable, TableCell } from '#formats/cells/cell-table.js';
import { HashIndex } from '#formats/cells/hash-index.js';

/**
 * The distinct cells below some roots, each once, children before parents: what a bag of cells will hold.
 * An entry is a number; its properties are columns. Cells are told apart by their representation hash.
 */
export class CellList {
  count = 0;
  /** The table (with {@link position}) or the cell that an entry came from. */
  readonly sources: (CellTable | Cell)[] = [];
  position = new Uint32Array(64);
  bits = new Uint16Array(64);
  /** References, type and level mask, laid out as the first byte of a serialised cell. */
  descriptor = new Uint8Array(64);
  /** Four slots per entry. */
  refs = new Uint32Array(256);
  /** Lower bound of the number of cells below and with an entry, counting a shared one again; at most 255. */
  weight = new Uint8Array(64);
  /** 1: more than one reference leads to the entry. */
  shared = new Uint8Array(64);
  readonly #known: HashIndex;
  /** Entries of the list by number in `#known`, which also counts cells whose children are still being added. */
  #entryOf = new Uint32Array(64);

  constructor(expected: number) {
    this.#known = new HashIndex(expected);
    if (expected > this.bits.length) this.#reserve(expected);
  }

  /** How many cells fit without more room. */
  get capacity(): number {
    return this.bits.length;
  }

  /** Forgets all cells, so that the list can be filled anew; the room for them stays. */
  clear(): void {
    this.count = 0;
    this.sources.length = 0;
    this.#known.clear();
  }

  /** Adds a cell and all that lies below it. @returns its entry */
  add(cell: Cell): number {
    if (cell instanceof TableCell) return this.#addOfTable(cell.table, cell.index);
    const fresh = this.#known.size;
    const known = this.#known.add(cell.hash());
    if (known !== fresh) return this.#again(known);
    const refCount = cell.refCount;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    if (refCount > 0) a = this.add(cell.ref(0));
    if (refCount > 1) b = this.add(cell.ref(1));
    if (refCount > 2) c = this.add(cell.ref(2));
    if (refCount > 3) d = this.add(cell.ref(3));
    const entry = this.#append(known, cell, 0, cell.bits);
    this.#connect(entry, cell.type, cell.levelMask, refCount, a, b, c, d);
    return entry;
  }

  #addOfTable(table: CellTable, index: number): number {
    const fresh = this.#known.size;
    const at = table.hashOffset(index);
    const known = this.#known.add(table.hashBytes, at);
    if (known !== fresh) return this.#again(known);
    const refCount = table.refCount[index]!;
    const first = index * 4;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    if (refCount > 0) a = this.#addOfTable(table, table.refs[first]!);
    if (refCount > 1) b = this.#addOfTable(table, table.refs[first + 1]!);
    if (refCount > 2) c = this.#addOfTable(table, table.refs[first + 2]!);
    if (refCount > 3) d = this.#addOfTable(table, table.refs[first + 3]!);
    const entry = this.#append(known, table, index, table.bitLength[index]!);
    this.#connect(entry, table.type[index]!, table.levelMask[index]!, refCount, a, b, c, d);
    return entry;
  }

  #again(known: number): number {
    const entry = this.#entryOf[known]!;
    this.shared[entry] = 1;
    return entry;
  }

  #append(known: number, source: CellTable | Cell, position: number, bits: number): number {
    const entry = this.count++;
    if (known >= this.#entryOf.length || entry >= this.bits.length) this.#reserve(Math.max(known, entry) * 2);
    this.#entryOf[known] = entry;
    this.sources.push(source);
    this.position[entry] = position;
    this.bits[entry] = bits;
    this.shared[entry] = 0;
    return entry;
  }

  #connect(
    entry: number,
    type: number,
    mask: number,
    refCount: number,
    a: number,
    b: number,
    c: number,
    d: number,
  ): void {
    const { refs, weight } = this;
    this.descriptor[entry] = refCount + (type === 0 ? 0 : 8) + mask * 32;
    const first = entry * 4;
    refs[first] = a;
    refs[first + 1] = b;
    refs[first + 2] = c;
    refs[first + 3] = d;
    let sum = 1;
    for (let r = first; r < first + refCount; r++) sum += weight[refs[r]!]!;
    weight[entry] = Math.min(sum, 255);
  }

  #reserve(capacity: number): void {
    let size = this.bits.length;
    while (size <= capacity) size *= 2;
    this.position = grown(this.position, new Uint32Array(size));
    this.bits = grown(this.bits, new Uint16Array(size));
    this.descriptor = grown(this.descriptor, new Uint8Array(size));
    this.refs = grown(this.refs, new Uint32Array(size * 4));
    this.weight = grown(this.weight, new Uint8Array(size));
    this.shared = grown(this.shared, new Uint8Array(size));
    this.#entryOf = grown(this.#entryOf, new Uint32Array(size));
  }
}

function grown<A extends Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  from: A,
  to: A,
): A {
  to.set(from);
  return to;
}
