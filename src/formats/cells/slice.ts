import { type Cell, CellType, cellTypeName } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { BitString, toHex } from '#kernel/bytes.js';

/** Two 32-bit words viewed as one 64-bit integer: the fast way from numbers to a bigint. */
const words = new Uint32Array(2);
const wide = new BigUint64Array(words.buffer);
const wideSigned = new BigInt64Array(words.buffer);
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/**
 * A reading position in a cell: bits and references, each from the front. Reads past the end throw with the bit offset.
 * Reading moves the slice; `clone()` preserves a position. Addresses and other TL-B types are read by `formats/tlb`.
 */
export class Slice {
  /** The cell that is read. */
  readonly cell: Cell;
  readonly #bytes: Uint8Array;
  /** Bit positions within `#bytes`. */
  readonly #start: number;
  #at: number;
  #end: number;
  #ref: number;
  #refEnd: number;

  constructor(cell: Cell) {
    this.cell = cell;
    this.#bytes = cell.bytes;
    this.#start = cell.dataOffset * 8;
    this.#at = this.#start;
    this.#end = this.#start + cell.bits;
    this.#ref = 0;
    this.#refEnd = cell.refCount;
  }

  /** Bits read so far, counted from the first bit of the cell. */
  get bitOffset(): number {
    return this.#at - this.#start;
  }
  /** References read so far. */
  get refOffset(): number {
    return this.#ref;
  }
  get remainingBits(): number {
    return this.#end - this.#at;
  }
  get remainingRefs(): number {
    return this.#refEnd - this.#ref;
  }
  get isEmpty(): boolean {
    return this.#at === this.#end && this.#ref === this.#refEnd;
  }

  clone(): Slice {
    const copy = new Slice(this.cell);
    copy.#at = this.#at;
    copy.#end = this.#end;
    copy.#ref = this.#ref;
    copy.#refEnd = this.#refEnd;
    return copy;
  }

  /** Takes the next `bits` bits and `refs` references as a separate slice. */
  take(bits: number, refs = 0): Slice {
    this.#need(bits);
    if (refs > this.remainingRefs) throw this.#noReference(this.#ref + refs - 1);
    const part = this.clone();
    part.#end = part.#at + bits;
    part.#refEnd = part.#ref + refs;
    this.#at += bits;
    this.#ref += refs;
    return part;
  }

  /** Takes everything that is left as a separate slice. */
  takeRest(): Slice {
    return this.take(this.remainingBits, this.remainingRefs);
  }

  skip(bits: number): this {
    this.#need(bits);
    this.#at += bits;
    return this;
  }

  /** @throws cells/slice-not-empty when bits or references are left */
  end(): void {
    if (this.isEmpty) return;
    throw cellsErrors['slice-not-empty']({
      bit: this.bitOffset,
      bits: this.remainingBits,
      references: this.remainingRefs,
    });
  }

  loadBit(): boolean {
    const at = this.#at;
    if (at >= this.#end) throw this.#underflow(1);
    this.#at = at + 1;
    return ((this.#bytes[at >> 3]! >> (7 - (at & 7))) & 1) === 1;
  }

  /** An unsigned integer of at most 48 bits. */
  loadUint(bits: number): number {
    const value = this.preloadUint(bits);
    this.#at += bits;
    return value;
  }

  /** As {@link loadUint}, without moving. */
  preloadUint(bits: number): number {
    const at = this.#at;
    if (at + bits > this.#end) throw this.#underflow(bits);
    if (bits === 0) return 0;
    const bytes = this.#bytes;
    let byte = at >> 3;
    let got = 8 - (at & 7);
    let value = bytes[byte]! & (0xff >> (at & 7));
    if (got >= bits) return value >> (got - bits);
    if (bits <= 24) {
      while (got < bits) {
        value = (value << 8) | bytes[++byte]!;
        got += 8;
      }
      return value >>> (got - bits);
    }
    // Whole bytes, then the remaining bits: reading one byte too many would exceed the 53 bits of a number.
    while (bits - got >= 8) {
      value = value * 256 + bytes[++byte]!;
      got += 8;
    }
    const left = bits - got;
    return left === 0 ? value : value * (1 << left) + (bytes[++byte]! >> (8 - left));
  }

  /** A two's complement integer of at most 48 bits. */
  loadInt(bits: number): number {
    const value = this.loadUint(bits);
    const half = 2 ** (bits - 1);
    return bits > 0 && value >= half ? value - half * 2 : value;
  }

  /** An unsigned integer of any size (up to 1023 bits). */
  loadUintBig(bits: number): bigint {
    this.#need(bits);
    if (bits <= 32) return BigInt(this.loadUint(bits));
    if (bits <= 64) {
      words[1 - LOW] = this.loadUint(bits - 32);
      words[LOW] = this.loadUint(32);
      return wide[0]!;
    }
    let value = this.loadUintBig(((bits - 1) % 64) + 1);
    for (let left = bits - (((bits - 1) % 64) + 1); left > 0; left -= 64) value = (value << 64n) | this.loadUintBig(64);
    return value;
  }

  /** A two's complement integer of any size. */
  loadIntBig(bits: number): bigint {
    if (bits === 64) {
      this.#need(64);
      words[1 - LOW] = this.loadUint(32);
      words[LOW] = this.loadUint(32);
      return wideSigned[0]!;
    }
    return BigInt.asIntN(bits, this.loadUintBig(bits));
  }

  /** `length` bytes; a copy. */
  loadBytes(length: number): Uint8Array {
    this.#need(length * 8);
    const out = new Uint8Array(length);
    this.#copy(out, length);
    this.#at += length * 8;
    return out;
  }

  loadBits(length: number): BitString {
    this.#need(length);
    const size = (length + 7) >> 3;
    const out = new Uint8Array(size);
    this.#copy(out, size);
    if ((length & 7) !== 0) out[size - 1]! &= 0xff << (8 - (length & 7));
    this.#at += length;
    return new BitString(out, length);
  }

  /** The next reference. */
  loadRef(): Cell {
    if (this.#ref >= this.#refEnd) throw this.#noReference(this.#ref);
    return this.cell.ref(this.#ref++);
  }

  /** As {@link loadRef}, without moving; `ahead` references further. */
  preloadRef(ahead = 0): Cell {
    if (this.#ref + ahead >= this.#refEnd) throw this.#noReference(this.#ref + ahead);
    return this.cell.ref(this.#ref + ahead);
  }

  /** Copies `size` bytes from the position on; the last one may include bits after the end of the slice. */
  #copy(out: Uint8Array, size: number): void {
    const bytes = this.#bytes;
    let from = this.#at >> 3;
    const shift = this.#at & 7;
    if (shift === 0) {
      for (let i = 0; i < size; i++) out[i] = bytes[from++]!;
      return;
    }
    let carry = bytes[from]! << shift;
    for (let i = 0; i < size; i++) {
      const next = bytes[++from] ?? 0;
      out[i] = carry | (next >> (8 - shift));
      carry = next << shift;
    }
  }

  #need(bits: number): void {
    if (this.#at + bits > this.#end) throw this.#underflow(bits);
  }
  #underflow(wanted: number): Error {
    return cellsErrors['slice-underflow']({ bit: this.bitOffset, wanted, left: this.remainingBits });
  }
  #noReference(reference: number): Error {
    return cellsErrors['slice-no-reference']({ bit: this.bitOffset, reference });
  }
}

/**
 * Starts reading an ordinary cell.
 * @throws cells/pruned-branch when the cell is pruned; cells/exotic-not-expected for other exotic cells
 */
export function openCell(cell: Cell): Slice {
  if (cell.type !== CellType.ordinary) throw refuse(cell, CellType.ordinary);
  cell.touch();
  return new Slice(cell);
}

/** Starts reading an exotic cell of a known type; the slice is positioned after the type byte. @throws as {@link openCell} */
export function openExotic(cell: Cell, type: CellType): Slice {
  if (cell.type !== type) throw refuse(cell, type);
  cell.touch();
  return new Slice(cell).skip(8);
}

function refuse(cell: Cell, wanted: CellType): Error {
  const hash = toHex(cell.hash(0));
  if (cell.type === CellType.prunedBranch) return cellsErrors['pruned-branch']({ hash });
  const found = cellTypeName(cell.type);
  return cellsErrors['exotic-not-expected']({ hash, found, wanted: cellTypeName(wanted) });
}
