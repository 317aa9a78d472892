import { codeRow } from '#drivers/store/encode/code-row.js';
import type { CodeRow } from '#drivers/store/rows.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable } from '#formats/cells/cell-table.js';

/** A code of fewer bytes than this stays in the transaction: finding it elsewhere would cost more than it saves. */
const SHARED_FROM = 128;
/** `serialized_boc#b5ee9c72`: no index, no checksum. */
const MAGIC = [0xb5, 0xee, 0x9c, 0x72];

/**
 * Writes the cells of transactions as they are stored: a byte that counts the shared cells (codes that messages deploy, which
 * are stored once for all transactions), the place of each of them in the bag (2 bytes), and a bag of cells without index
 * and checksum. In the bag a shared cell is a pruned branch of level 1: its hash and its depth.
 *
 * Cells are in the order of a walk that takes the last reference first, so that equal transactions have equal bytes.
 */
export class TransactionWriter {
  /** Codes that were left out, each once, by their hash as a text of bytes. */
  readonly #codes = new Map<string, CodeRow>();
  #table: CellTable | null = null;
  /** For each line of the table: when it was last numbered (the count of transactions), and its number. */
  #seen = new Uint32Array(0);
  #places = new Uint32Array(0);
  /** Level masks, as the shared cells below make them. */
  #masks = new Uint8Array(0);
  #hasMerkle = false;
  #turn = 0;
  /** Lines in the order of the walk: children first. */
  readonly #lines: number[] = [];
  #shared: readonly number[] = [];
  #out = new Uint8Array(4096);

  /** The codes that the transactions written so far leave out. */
  get codes(): readonly CodeRow[] {
    return [...this.#codes.values()];
  }

  /** Adds a code as a whole cell, unless it is there. */
  addCode(cell: Cell): void {
    const hash = cell.hash();
    const key = keyOf(hash);
    if (!this.#codes.has(key)) this.#codes.set(key, codeRow(cell));
  }

  /**
   * @param codes lines of codes that messages of the transaction deploy; those that are worth it are left out
   */
  write(table: CellTable, root: number, codes: readonly number[] = []): Uint8Array {
    if (table !== this.#table) this.#take(table);
    this.#shared = codes.length === 0 ? codes : this.#choose(table, codes);
    this.#number(root);
    // A branch pruned below a Merkle cell would mean another cell.
    if (this.#hasMerkle && this.#shared.length > 0) {
      this.#shared = [];
      this.#number(root);
    }
    return this.#serialize(table, root);
  }

  #number(root: number): void {
    this.#turn++;
    this.#lines.length = 0;
    this.#hasMerkle = false;
    this.#walk(root);
  }

  #take(table: CellTable): void {
    this.#table = table;
    if (this.#seen.length < table.count) {
      this.#seen = new Uint32Array(table.count * 2);
      this.#places = new Uint32Array(table.count * 2);
      this.#masks = new Uint8Array(table.count * 2);
    } else this.#seen.fill(0, 0, table.count);
    this.#turn = 0;
  }

  /** Which codes to leave out. */
  #choose(table: CellTable, codes: readonly number[]): readonly number[] {
    const chosen: number[] = [];
    for (const line of codes) {
      if (chosen.includes(line) || table.levelMask[line] !== 0) continue;
      this.#turn++;
      if (this.#weigh(table, line, 0) < SHARED_FROM) continue;
      chosen.push(line);
      this.addCode(table.cell(line));
    }
    return chosen;
  }

  /** Bytes of the distinct cells below and with a line; stops counting when there are enough. */
  #weigh(table: CellTable, line: number, before: number): number {
    if (before >= SHARED_FROM || this.#seen[line] === this.#turn) return before;
    this.#seen[line] = this.#turn;
    let bytes = before + 2 + ((table.bitLength[line]! + 7) >> 3) + table.refCount[line]!;
    for (let r = line * 4, end = r + table.refCount[line]!; r < end; r++) {
      bytes = this.#weigh(table, table.refs[r]!, bytes);
    }
    return bytes;
  }

  #walk(line: number): void {
    this.#seen[line] = this.#turn;
    const table = this.#table!;
    let mask = table.levelMask[line]!;
    if (this.#shared.length > 0 && this.#shared.includes(line)) {
      mask = 1;
    } else {
      const type = table.type[line]!;
      if (type === CellType.merkleProof || type === CellType.merkleUpdate) this.#hasMerkle = true;
      const first = line * 4;
      for (let r = first + table.refCount[line]! - 1; r >= first; r--) {
        const child = table.refs[r]!;
        if (this.#seen[child] !== this.#turn) this.#walk(child);
        if (type === 0) mask |= this.#masks[child]!;
      }
    }
    this.#masks[line] = mask;
    this.#places[line] = this.#lines.push(line) - 1;
  }

  #serialize(table: CellTable, root: number): Uint8Array {
    const lines = this.#lines;
    const count = lines.length;
    const shared = this.#shared;
    const refSize = count < 256 ? 1 : count < 65_536 ? 2 : 4;
    let cellBytes = 0;
    for (const line of lines) {
      if (shared.length > 0 && shared.includes(line)) cellBytes += 2 + 36;
      else cellBytes += 2 + ((table.bitLength[line]! + 7) >> 3) + table.refCount[line]! * refSize;
    }
    const offsetSize = cellBytes < 65_536 ? 2 : 4;
    const total = 1 + shared.length * 2 + 6 + refSize * 4 + offsetSize + cellBytes;
    if (this.#out.length < total) this.#out = new Uint8Array(total * 2);
    const out = this.#out;
    let at = 0;
    out[at++] = shared.length;
    for (const line of shared) at = putNumber(out, at, count - 1 - this.#places[line]!, 2);
    for (const byte of MAGIC) out[at++] = byte;
    out[at++] = refSize;
    out[at++] = offsetSize;
    at = putNumber(out, at, count, refSize);
    at = putNumber(out, at, 1, refSize);
    at = putNumber(out, at, 0, refSize);
    at = putNumber(out, at, cellBytes, offsetSize);
    at = putNumber(out, at, count - 1 - this.#places[root]!, refSize);
    for (let i = count - 1; i >= 0; i--) {
      const line = lines[i]!;
      at =
        shared.length > 0 && shared.includes(line)
          ? this.#putPruned(out, at, table, line)
          : this.#putCell(out, at, table, line, refSize, count - 1);
    }
    return out.slice(0, at);
  }

  #putCell(out: Uint8Array, start: number, table: CellTable, line: number, refSize: number, last: number): number {
    let at = start;
    const refs = table.refCount[line]!;
    const bits = table.bitLength[line]!;
    const length = (bits + 7) >> 3;
    out[at++] = refs | (table.type[line] === 0 ? 0 : 8) | (this.#masks[line]! << 5);
    out[at++] = (bits >> 3) + length;
    const { bytes } = table;
    for (let from = table.dataStart[line]!, to = at + length; at < to; ) out[at++] = bytes[from++]!;
    for (let r = line * 4, end = r + refs; r < end; r++) {
      const place = last - this.#places[table.refs[r]!]!;
      if (refSize === 1) out[at++] = place;
      else at = putNumber(out, at, place, refSize);
    }
    return at;
  }

  #putPruned(out: Uint8Array, start: number, table: CellTable, line: number): number {
    const depth = table.depth(line, 3);
    out[start] = 0x28; // exotic, level 1
    out[start + 1] = 72;
    out[start + 2] = CellType.prunedBranch;
    out[start + 3] = 1;
    out.set(table.hash(line, 3), start + 4);
    out[start + 36] = depth >> 8;
    out[start + 37] = depth;
    return start + 38;
  }
}

/** A hash as the key of a map. */
function keyOf(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

function putNumber(out: Uint8Array, at: number, value: number, size: number): number {
  let rest = value;
  for (let i = at + size - 1; i >= at; i--) {
    out[i] = rest;
    rest >>>= 8;
  }
  return at + size;
}
