import { BOC_MAGIC, MAX_ROOTS } from '#formats/cells/boc-parse.js';
import { Cell, CellType, popcount3 } from '#formats/cells/cell.js';
import { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { crc32c } from '#formats/cells/digests.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import { toBase64 } from '#kernel/bytes.js';

/** Optional parts of a serialised bag of cells; none by default. */
export interface BocOptions {
  /** An index of cell ends (mode bit 1). */
  readonly index?: boolean;
  /** A CRC-32C at the end (mode bit 2). */
  readonly crc32c?: boolean;
  /** Stored hashes and depths of some inner cells, so that a reader need not compute them (mode bit 8). */
  readonly storeHashes?: boolean;
  /** In the index: whether several references lead to a cell (mode bit 16); needs `index`. */
  readonly cacheBits?: boolean;
  /**
   * `nearby` (default): the order of the reference implementation. `depth-first`: each cell before all that is below it, and
   * repeated cells at their last occurrence, as other well-known libraries write. Not with `storeHashes`.
   */
  readonly order?: 'nearby' | 'depth-first';
}

/** Options of block and state files, whose file hash is the SHA-256 of these bytes (mode 31). Proofs use no options. */
export const BLOCK_FILE: BocOptions = { index: true, crc32c: true, cacheBits: true, storeHashes: true };

/**
 * Serialises cells as a bag of cells, byte for byte as the reference implementation does; equal cells are written once.
 *
 * Schema: `serialized_boc#b5ee9c72` (boc.tlb).
 *
 * @throws cells/boc-options for contradictory options or an impossible number of roots
 */
export function serializeBoc(roots: Cell | readonly Cell[], options: BocOptions = {}): Uint8Array {
  return serialize(roots, options, newBytes);
}

/** As {@link serializeBoc}, in base64. Nothing is allocated for the bytes of small bags. */
export function serializeBocBase64(root: Cell, options: BocOptions = {}): string {
  return toBase64(serialize(root, options, scratchBytes));
}

/** Where a bag is written: bytes of any content. */
type TakeBytes = (length: number) => Uint8Array;

const newBytes: TakeBytes = (length) => new Uint8Array(length);

const scratch = new Uint8Array(8_192);
const scratchBytes: TakeBytes = (length) => (length <= scratch.length ? scratch.subarray(0, length) : newBytes(length));

function serialize(roots: Cell | readonly Cell[], options: BocOptions, takeBytes: TakeBytes): Uint8Array {
  const all = roots instanceof Cell ? [roots] : roots;
  if (all.length < 1 || all.length > MAX_ROOTS)
    throw cellsErrors['boc-options']({ problem: `${all.length} roots; 1 to ${MAX_ROOTS} are possible` });
  if (options.cacheBits === true && options.index !== true)
    throw cellsErrors['boc-options']({ problem: 'cache bits stand in the index, which is switched off' });
  const first = all[0]!;
  if (all.length === 1 && first.refCount === 0 && first.type === CellType.ordinary && isPlain(options)) {
    return oneCell(first, options.crc32c === true, takeBytes);
  }
  // A whole bag has as many cells as its table; the size of a part is unknown.
  const expected = first instanceof TableCell && first.index === 0 ? first.table.count : 0;
  const list = takeList(expected);
  const entries = all.map((root) => {
    root.hash(); // computes all hashes below, which also checks the depth
    return list.add(root);
  });
  const order = options.order === 'depth-first' ? depthFirstOrder(list, entries) : orderCells(list, entries);
  const bytes = write(list, entries, order, options, takeBytes);
  giveBack(list);
  return bytes;
}

function isPlain({ index, storeHashes }: BocOptions): boolean {
  return index !== true && storeHashes !== true;
}

/** The output of {@link write} for an ordinary cell without references, such as most message bodies. */
function oneCell(cell: Cell, withCrc: boolean, takeBytes: TakeBytes): Uint8Array {
  const length = (cell.bits + 7) >> 3;
  const end = 13 + length;
  const out = takeBytes(withCrc ? end + 4 : end);
  putNumber(out, 0, BOC_MAGIC.generic, 4);
  // Byte sizes of numbers, one cell, one root, none absent, total cell bytes, index of the root; references of the cell.
  out[4] = withCrc ? 0x41 : 0x01;
  out[5] = 1;
  out[6] = 1;
  out[7] = 1;
  out[8] = 0;
  out[9] = 2 + length;
  out[10] = 0;
  out[11] = 0;
  out[12] = (cell.bits >> 3) + length;
  const { bytes, dataOffset } = cell;
  for (let at = 0; at < length; at++) out[13 + at] = bytes[dataOffset + at]!;
  if (withCrc) putCrc(out, end);
  return out;
}

/** Larger lists are not reused: writing their cells takes longer than allocating them. */
const KEPT_CAPACITY = 512;

/** The list of the last small bag: most bags are small, and allocating a list costs more than filling it. */
let kept: CellList | null = null;

/** @param expected number of cells; 0 when unknown */
function takeList(expected: number): CellList {
  const list = kept;
  if (list === null || expected > list.capacity) return new CellList(expected);
  kept = null;
  return list;
}

/** After an error the list is not returned, and the next call allocates another one. */
function giveBack(list: CellList): void {
  if (list.capacity > KEPT_CAPACITY) return;
  list.clear();
  kept = list;
}

function write(
  list: CellList,
  roots: readonly number[],
  order: BocOrder,
  options: BocOptions,
  takeBytes: TakeBytes,
): Uint8Array {
  const { count, bits, descriptor, refs, shared } = list;
  const withHashes = options.storeHashes === true;
  const { partRoots, places } = order;
  // The root count has as many bytes as a reference; it exceeds the cell count only when roots are repeated.
  const refSize = bytesFor(Math.max(count, roots.length));
  const ends = options.index === true ? new Float64Array(count) : null;
  let cellBytes = 0;
  for (let place = 0; place < count; place++) {
    const entry = order.entries[place]!;
    const d1 = descriptor[entry]!;
    cellBytes += 2 + ((bits[entry]! + 7) >> 3) + (d1 & 7) * refSize;
    if (withHashes && partRoots[entry] !== 0) cellBytes += (popcount3(d1 >> 5) + 1) * 34;
    if (ends !== null) ends[place] = options.cacheBits === true ? cellBytes * 2 + shared[entry]! : cellBytes;
  }
  const offsetSize = bytesFor(options.cacheBits === true ? cellBytes * 2 : cellBytes);
  const indexBytes = ends === null ? 0 : count * offsetSize;
  const head = 6 + refSize * (3 + roots.length) + offsetSize;
  const withCrc = options.crc32c === true;
  const out = takeBytes(head + indexBytes + cellBytes + (withCrc ? 4 : 0));

  let at = putNumber(out, 0, BOC_MAGIC.generic, 4);
  out[at++] = (ends === null ? 0 : 0x80) | (withCrc ? 0x40 : 0) | (options.cacheBits === true ? 0x20 : 0) | refSize;
  out[at++] = offsetSize;
  at = putNumber(out, at, count, refSize);
  at = putNumber(out, at, roots.length, refSize);
  at = putNumber(out, at, 0, refSize);
  at = putNumber(out, at, cellBytes, offsetSize);
  for (const root of roots) at = putNumber(out, at, places[root]!, refSize);
  if (ends !== null) for (const end of ends) at = putNumber(out, at, end, offsetSize);

  for (let place = 0; place < count; place++) {
    const entry = order.entries[place]!;
    const d1 = descriptor[entry]!;
    const hashes = withHashes && partRoots[entry] !== 0;
    const length = (bits[entry]! + 7) >> 3;
    out[at++] = hashes ? d1 | 16 : d1;
    out[at++] = (bits[entry]! >> 3) + length;
    const source = list.sources[entry]!;
    if (hashes) at = putHashes(out, at, source, list.position[entry]!, d1 >> 5);
    let from = source instanceof CellTable ? source.dataStart[list.position[entry]!]! : source.dataOffset;
    const { bytes } = source;
    for (const end = at + length; at < end; ) out[at++] = bytes[from++]!;
    for (let r = entry * 4, end = r + (d1 & 7); r < end; r++) at = putNumber(out, at, places[refs[r]!]!, refSize);
  }
  if (withCrc) putCrc(out, at);
  return out;
}

/** Writes the CRC-32C of everything before it. */
function putCrc(out: Uint8Array, start: number): void {
  const crc = crc32c(out.subarray(0, start));
  for (let i = 0; i < 4; i++) out[start + i] = crc >>> (8 * i);
}

/** Writes all hashes of a cell, lowest level first, then all depths. */
function putHashes(out: Uint8Array, start: number, source: CellTable | Cell, position: number, mask: number): number {
  let at = start;
  for (let level = 0; level <= 3; level++) {
    if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
    out.set(source instanceof CellTable ? source.hash(position, level) : source.hash(level), at);
    at += 32;
  }
  for (let level = 0; level <= 3; level++) {
    if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
    at = putNumber(out, at, source instanceof CellTable ? source.depth(position, level) : source.depth(level), 2);
  }
  return at;
}

/** The smallest number of bytes that can hold `value`. */
function bytesFor(value: number): number {
  let size = 0;
  while (value >= 256 ** size) size++;
  return size;
}

function putNumber(out: Uint8Array, at: number, value: number, size: number): number {
  let rest = value;
  let i = at + size;
  while (rest > 0x7fffffff) {
    out[--i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  while (i > at) {
    out[--i] = rest;
    rest >>= 8;
  }
  return at + size;
}

/** Maximum number of cells in a part of the layout. */
const PAGE = 64;

/** Positions of the cells of a list in the bag. */
interface BocOrder {
  /** Entries of the list in the order in which they are written: parents before children. */
  readonly entries: Uint32Array;
  /** Place of each entry in that order. */
  readonly places: Uint32Array;
  /** 1: the entry starts a part; only these cells may have stored hashes. */
  readonly partRoots: Uint8Array;
}

/**
 * The cell order of the reference serializer. It splits the tree into parts of at most 64 nearby cells and
 * writes each part contiguously. Modifies the weights of the list.
 */
function orderCells(list: CellList, roots: readonly number[]): BocOrder {
  limitWeights(list);
  const partRoots = findPartRoots(list);
  const places = new Numbering(list, partRoots).run(roots);
  const entries = new Uint32Array(list.count);
  for (let entry = 0; entry < list.count; entry++) entries[places[entry]!] = entry;
  return { entries, places, partRoots };
}

/** Each cell before all that is below it. Recursion is as deep as the cells, at most MAX_DEPTH. */
function depthFirstOrder(list: CellList, roots: readonly number[]): BocOrder {
  const { count, refs, descriptor } = list;
  const entries = new Uint32Array(count);
  const places = new Uint32Array(count);
  const visited = new Uint8Array(count);
  // Positions are assigned from the last one down: a cell after all that is below it.
  let next = count;
  const visit = (entry: number): void => {
    if (visited[entry] !== 0) return;
    visited[entry] = 1;
    const first = entry * 4;
    for (let r = first + (descriptor[entry]! & 7) - 1; r >= first; r--) visit(refs[r]!);
    places[entry] = --next;
    entries[next] = entry;
  };
  for (let i = roots.length - 1; i >= 0; i--) visit(roots[i]!);
  return { entries, places, partRoots: new Uint8Array(count) };
}

/** From parents to children: divides the capacity of a part among the children; a heavy child is limited to its share. */
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

/** From children to parents: a cell with more descendants than its limit allows starts a part. */
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

/** Assigns each entry its position. Recursion is as deep as the cells, at most MAX_DEPTH. */
class Numbering {
  readonly #refs: Uint32Array;
  readonly #descriptor: Uint8Array;
  readonly #partRoots: Uint8Array;
  readonly #state: Uint8Array;
  readonly #places: Uint32Array;
  /** Positions are assigned from the last one down. */
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

  /** Visits the parts below first, so that they come last in the bag. */
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

/**
 * The distinct cells reachable from some roots, children before parents: the cells of a bag of cells.
 * An entry is an index; its properties are columns. Cells are identified by their representation hash.
 */
class CellList {
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

  /** Number of cells that fit without growing. */
  get capacity(): number {
    return this.bits.length;
  }

  /** Removes all cells so that the list can be reused; keeps its capacity. */
  clear(): void {
    this.count = 0;
    this.sources.length = 0;
    this.#known.clear();
  }

  /** Adds a cell and its descendants. @returns its entry */
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
