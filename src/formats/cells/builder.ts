import { BuiltCell } from '#formats/cells/built-cell.js';
import { type Cell, MAX_BITS, MAX_REFS } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { Slice } from '#formats/cells/slice.js';
import type { BitString } from '#kernel/bytes/bit-string.js';

/** Writes a cell: bits and references, each appended at the end. All `store…` methods return the builder. */
export class Builder {
  readonly #bytes = new Uint8Array(128);
  readonly #refs: Cell[] = [];
  #bits = 0;

  get bits(): number {
    return this.#bits;
  }
  get refs(): number {
    return this.#refs.length;
  }
  get remainingBits(): number {
    return MAX_BITS - this.#bits;
  }
  get remainingRefs(): number {
    return MAX_REFS - this.#refs.length;
  }

  storeBit(bit: boolean): this {
    this.#reserve(1, 0);
    if (bit) this.#bytes[this.#bits >> 3]! |= 0x80 >> (this.#bits & 7);
    this.#bits++;
    return this;
  }

  /** An unsigned integer of `bits` bits. @throws cells/value-range when it does not fit */
  storeUint(value: number | bigint, bits: number): this {
    if (typeof value === 'bigint') return this.#storeBig(value, bits);
    if (!Number.isSafeInteger(value) || value < 0 || (bits < 53 && value >= 2 ** bits))
      throw outOfRange(value, `uint${bits}`);
    if (bits > 48) return this.#storeBig(BigInt(value), bits);
    return this.#storeNumber(value, bits);
  }

  /** A two's complement integer of `bits` bits. @throws cells/value-range when it does not fit */
  storeInt(value: number | bigint, bits: number): this {
    const big = typeof value === 'bigint';
    if (!big && !Number.isSafeInteger(value)) throw outOfRange(value, `int${bits}`);
    if (big || bits > 48) {
      const wide = BigInt(value);
      if (BigInt.asIntN(bits, wide) !== wide) throw outOfRange(value, `int${bits}`);
      return this.#storeBig(BigInt.asUintN(bits, wide), bits);
    }
    const half = 2 ** (bits - 1);
    if (value < -half || value >= half) throw outOfRange(value, `int${bits}`);
    return this.#storeNumber(value < 0 ? value + half * 2 : value, bits);
  }

  storeBytes(bytes: Uint8Array): this {
    this.#append(bytes, bytes.length * 8);
    return this;
  }

  storeBits(bits: BitString): this {
    this.#append(bits.bytes, bits.length);
    return this;
  }

  storeRef(cell: Cell): this {
    this.#reserve(0, 1);
    this.#refs.push(cell);
    return this;
  }

  /** All that is left in the slice, which is not moved. */
  storeSlice(slice: Slice): this {
    const rest = slice.clone();
    this.#reserve(rest.remainingBits, rest.remainingRefs);
    const bits = rest.loadBits(rest.remainingBits);
    this.#append(bits.bytes, bits.length);
    while (rest.remainingRefs > 0) this.#refs.push(rest.loadRef());
    return this;
  }

  /** All that another builder holds. */
  storeBuilder(other: Builder): this {
    this.#reserve(other.#bits, other.#refs.length);
    this.#append(other.#bytes, other.#bits);
    this.#refs.push(...other.#refs);
    return this;
  }

  /** The cell. The builder may be used on; the cell does not change. */
  endCell(): Cell {
    return new BuiltCell(this.#padded(), this.#bits, this.#refs.slice(), false);
  }

  /** An exotic cell; its data starts with the type byte. @throws cells/cell-exotic when it is malformed */
  endExotic(): Cell {
    return new BuiltCell(this.#padded(), this.#bits, this.#refs.slice(), true);
  }

  #padded(): Uint8Array {
    const bytes = this.#bytes.slice(0, (this.#bits + 7) >> 3);
    if ((this.#bits & 7) !== 0) bytes[bytes.length - 1]! |= 0x80 >> (this.#bits & 7);
    return bytes;
  }

  #storeNumber(value: number, bits: number): this {
    this.#reserve(bits, 0);
    let left = bits;
    let rest = value;
    while (left > 0) {
      const room = 8 - (this.#bits & 7);
      const take = Math.min(room, left);
      const unit = 2 ** (left - take);
      const part = Math.floor(rest / unit);
      rest -= part * unit;
      this.#bytes[this.#bits >> 3]! |= part << (room - take);
      this.#bits += take;
      left -= take;
    }
    return this;
  }

  #storeBig(value: bigint, bits: number): this {
    if (value < 0n || BigInt.asUintN(bits, value) !== value) throw outOfRange(value, `uint${bits}`);
    this.#reserve(bits, 0);
    for (let left = bits; left > 0; ) {
      const take = Math.min(32, left);
      left -= take;
      this.#storeNumber(Number(BigInt.asUintN(take, value >> BigInt(left))), take);
    }
    return this;
  }

  /** Appends the first `length` bits of `bytes`. */
  #append(bytes: Uint8Array, length: number): void {
    this.#reserve(length, 0);
    const out = this.#bytes;
    const shift = this.#bits & 7;
    let to = this.#bits >> 3;
    const size = (length + 7) >> 3;
    const lastMask = (length & 7) === 0 ? 0xff : 0xff << (8 - (length & 7));
    for (let i = 0; i < size; i++) {
      const byte = i === size - 1 ? bytes[i]! & lastMask : bytes[i]!;
      out[to++]! |= byte >> shift;
      if (shift !== 0 && to < out.length) out[to]! |= byte << (8 - shift);
    }
    this.#bits += length;
  }

  #reserve(bits: number, refs: number): void {
    if (this.#bits + bits > MAX_BITS || this.#refs.length + refs > MAX_REFS) {
      throw cellsErrors['cell-overflow']({ bits: this.#bits + bits, refs: this.#refs.length + refs });
    }
  }
}

/** A cell without data and references. */
export const EMPTY_CELL: Cell = new Builder().endCell();

function outOfRange(value: number | bigint, type: string): Error {
  return cellsErrors['value-range']({ value: String(value), type });
}
