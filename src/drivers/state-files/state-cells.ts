import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { PageCache } from '#drivers/state-files/page-cache.js';
import { FileCell, indexEntry, MAX_CELL_BYTES, type StateFile } from '#drivers/state-files/state-file.js';
import { CellTable } from '#formats/cells/cell-table.js';

/** Trees of cells of a file in one table. */
export interface LoadedTrees {
  readonly table: CellTable;
  /** Index in the table of each root that was asked for. */
  readonly roots: readonly number[];
}

/** Cells of a verified state file at any place, read through a cache of bounded size. */
export class StateCells {
  readonly file: StateFile;
  readonly #pages: PageCache;
  readonly #cell = new FileCell();
  /** Capacity of the next table. */
  #cells = 1024;
  #dataBytes = 65_536;

  /** @param cacheBytes memory for pages of the file */
  constructor(file: StateFile, cacheBytes: number) {
    this.file = file;
    this.#pages = new PageCache(file.source, cacheBytes, MAX_CELL_BYTES);
  }

  /** Bytes read from the file. */
  get bytesRead(): number {
    return this.#pages.bytesRead;
  }

  /** The bytes in which the last {@link open}ed cell is. */
  get bytes(): Uint8Array {
    return this.#pages.bytes;
  }

  /** Opens a cell, until the next call. @throws state-files/damaged */
  open(index: number): FileCell {
    const { header, source } = this.file;
    const { offsetSize, indexStart, cellsStart, cellsEnd } = header;
    let start = cellsStart;
    if (index > 0) {
      const at = this.#pages.at(indexStart + (index - 1) * offsetSize, offsetSize);
      start += indexEntry(this.#pages.bytes, at, header);
    }
    const at = this.#pages.at(start, Math.min(MAX_CELL_BYTES, cellsEnd - start));
    if (!this.#cell.read(this.#pages.bytes, at, index, header)) {
      throw stateFilesErrors.damaged({
        file: source.name,
        offset: start,
        problem: `cell ${index} ${this.#cell.problem}`,
      });
    }
    return this.#cell;
  }

  /**
   * Copies the trees below some cells into a table; cells that they share are in it once.
   *
   * @throws state-files/damaged; state-files/too-large above `maxCells`
   */
  load(indexes: readonly number[], maxCells = 2 ** 22): LoadedTrees {
    return new TreeLoading(this, this.#cells, this.#dataBytes).run(indexes, maxCells, (cells, bytes) => {
      this.#cells = Math.ceil(cells * 1.25);
      this.#dataBytes = Math.ceil(bytes * 1.25);
    });
  }
}

/** One {@link StateCells.load}. */
class TreeLoading {
  readonly #cells: StateCells;
  readonly #places = new Map<number, number>();
  /** By index in the table: index in the file. */
  readonly #order: number[] = [];
  #capacity: number;
  #bytes: Uint8Array;
  #used = 0;
  #dataStart: Uint32Array;
  #bitLength: Uint16Array;
  #refs: Uint32Array;
  #refCount: Uint8Array;
  #type: Uint8Array;
  #levelMask: Uint8Array;

  constructor(cells: StateCells, capacity: number, dataBytes: number) {
    this.#cells = cells;
    this.#capacity = capacity;
    this.#bytes = new Uint8Array(dataBytes);
    this.#dataStart = new Uint32Array(capacity);
    this.#bitLength = new Uint16Array(capacity);
    this.#refs = new Uint32Array(capacity * 4);
    this.#refCount = new Uint8Array(capacity);
    this.#type = new Uint8Array(capacity);
    this.#levelMask = new Uint8Array(capacity);
  }

  run(indexes: readonly number[], maxCells: number, onDone: (cells: number, bytes: number) => void): LoadedTrees {
    const roots = indexes.map((index) => this.#placeOf(index));
    for (let next = 0; next < this.#order.length; next++) {
      if (next === maxCells) {
        const data = { what: 'the number of cells of accounts', size: next + 1, limit: maxCells };
        throw stateFilesErrors['too-large']({ file: this.#cells.file.source.name, offset: 0, ...data });
      }
      this.#copy(next);
    }
    const count = this.#order.length;
    onDone(count, this.#used);
    const table = new CellTable({
      bytes: this.#bytes,
      count,
      dataStart: this.#dataStart,
      bitLength: this.#bitLength,
      refs: this.#refs,
      refCount: this.#refCount,
      type: this.#type,
      levelMask: this.#levelMask,
      withHashes: new Uint8Array(count),
    });
    return { table, roots };
  }

  #placeOf(index: number): number {
    const known = this.#places.get(index);
    if (known !== undefined) return known;
    const place = this.#order.push(index) - 1;
    this.#places.set(index, place);
    return place;
  }

  #copy(place: number): void {
    if (place >= this.#capacity) this.#grow();
    const cell = this.#cells.open(this.#order[place]!);
    const { bytes } = this.#cells;
    const { dataLength, dataStart, refCount } = cell;
    if (this.#used + dataLength > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2 + dataLength);
      larger.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = larger;
    }
    let to = this.#used;
    this.#dataStart[place] = to;
    for (let from = dataStart, end = from + dataLength; from < end; ) this.#bytes[to++] = bytes[from++]!;
    this.#bitLength[place] = cell.bits;
    this.#refCount[place] = refCount;
    this.#type[place] = cell.isExotic ? this.#bytes[this.#used]! : 0;
    this.#levelMask[place] = cell.levelMask;
    this.#used = to;
    for (let r = 0; r < refCount; r++) this.#refs[place * 4 + r] = this.#placeOf(cell.refs[r]!);
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const larger = <T extends Uint8Array | Uint16Array | Uint32Array>(array: T, made: T): T => {
      made.set(array);
      return made;
    };
    this.#dataStart = larger(this.#dataStart, new Uint32Array(capacity));
    this.#bitLength = larger(this.#bitLength, new Uint16Array(capacity));
    this.#refs = larger(this.#refs, new Uint32Array(capacity * 4));
    this.#refCount = larger(this.#refCount, new Uint8Array(capacity));
    this.#type = larger(this.#type, new Uint8Array(capacity));
    this.#levelMask = larger(this.#levelMask, new Uint8Array(capacity));
    this.#capacity = capacity;
  }
}
