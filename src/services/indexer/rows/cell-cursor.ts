import type { CellTable } from '#formats/cells/cell-table.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, Slice } from '#formats/cells/slice.js';

const words = new Uint32Array(2);
const signed = new BigInt64Array(words.buffer);
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/** Two 32-bit words as one signed integer of 64 bits. */
export function int64Of(high: number, low: number): bigint {
  words[1 - LOW] = high;
  words[LOW] = low;
  return signed[0]!;
}

/**
 * Reads cells of a table like `Slice`, but reuses one object for all of them: an indexer reads the same few fields of millions
 * of cells.
 */
export class CellCursor {
  table!: CellTable;
  index = 0;
  bytes!: Uint8Array;
  /** Bit positions within `bytes`. */
  at = 0;
  end = 0;
  /** Positions within the table's column of references. */
  ref = 0;
  refEnd = 0;

  /** Moves to the start of a cell. @throws cells/pruned-branch, cells/exotic-not-expected */
  open(table: CellTable, index: number): this {
    if (table.type[index] !== 0) openCell(table.cell(index));
    this.table = table;
    this.index = index;
    this.bytes = table.bytes;
    this.at = table.dataStart[index]! * 8;
    this.end = this.at + table.bitLength[index]!;
    this.ref = index * 4;
    this.refEnd = this.ref + table.refCount[index]!;
    return this;
  }

  /** An unsigned integer of at most 32 bits. */
  uint(bits: number): number {
    const value = this.peek(bits);
    this.at += bits;
    return value;
  }

  /** As {@link uint}, without moving. */
  peek(bits: number): number {
    const at = this.at;
    if (at + bits > this.end) this.#underflow(bits);
    if (bits === 0) return 0;
    const bytes = this.bytes;
    const byte = at >> 3;
    const shift = at & 7;
    const word = (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
    const value = shift === 0 ? word : (word << shift) | (bytes[byte + 4]! >> (8 - shift));
    return value >>> (32 - bits);
  }

  /** A signed integer of 64 bits, or an unsigned one below 2^63. */
  int64(): bigint {
    const high = this.uint(32);
    return int64Of(high, this.uint(32));
  }

  skip(bits: number): void {
    if (this.at + bits > this.end) this.#underflow(bits);
    this.at += bits;
  }

  /** Copies `length` bytes to `out`. */
  copy(out: Uint8Array, offset: number, length: number): void {
    if (this.at + length * 8 > this.end) this.#underflow(length * 8);
    const bytes = this.bytes;
    const shift = this.at & 7;
    let from = this.at >> 3;
    const to = offset + length;
    this.at += length * 8;
    if (shift === 0) {
      for (let i = offset; i < to; ) out[i++] = bytes[from++]!;
      return;
    }
    for (let i = offset; i < to; i++) {
      out[i] = (bytes[from]! << shift) | (bytes[from + 1]! >> (8 - shift));
      from++;
    }
  }

  /** Reads `length` bytes into a new array. */
  take(length: number): Uint8Array {
    const out = new Uint8Array(length);
    this.copy(out, 0, length);
    return out;
  }

  /** Cell index of the next reference. */
  nextRef(): number {
    if (this.ref >= this.refEnd) this.slice().loadRef();
    return this.table.refs[this.ref++]!;
  }

  /** Skips a `VarUInteger` whose length field has `bits` bits (4: `Grams`). */
  skipVarUint(bits: number): void {
    this.skip(this.uint(bits) * 8);
  }

  /** Reads a `VarUInteger` whose length field has `bits` bits. */
  varUint(bits: number): bigint {
    const length = this.uint(bits);
    let value = 0n;
    let left = length;
    for (; left > 4; left -= 4) value = (value << 32n) | BigInt(this.uint(32));
    return left === 0 ? value : (value << BigInt(left * 8)) | BigInt(this.uint(left * 8));
  }

  /** `currencies$_ grams:Grams other:ExtraCurrencyCollection = CurrencyCollection;` */
  skipCurrencies(): void {
    this.skipVarUint(4);
    if (this.uint(1) === 1) this.nextRef();
  }

  /** A slice at the same position, for codecs. */
  slice(): Slice {
    const slice = new Slice(this.table.cell(this.index));
    slice.skip(this.at - this.table.dataStart[this.index]! * 8);
    for (let ref = this.index * 4; ref < this.ref; ref++) slice.loadRef();
    return slice;
  }

  #underflow(wanted: number): never {
    const bit = this.at - this.table.dataStart[this.index]! * 8;
    throw cellsErrors['slice-underflow']({ bit, wanted, left: this.end - this.at });
  }
}
