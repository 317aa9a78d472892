import {
  Cell,
  CellType,
  exoticLevelMask,
  hashIndex,
  MAX_BITS,
  MAX_DEPTH,
  MAX_REFS,
  popcount3,
} from '#formats/cells/cell.js';
import { sha256Into } from '#formats/cells/digests.js';
import { cellsErrors } from '#formats/cells/errors.js';
import type { Slice } from '#formats/cells/slice.js';
import { type BitString, bytesEqual } from '#kernel/bytes.js';

/** Bytes that hold the data of any cell. */
const DATA_BYTES = 128;

/**
 * What the data of builders is cut out of: an array of its own would have memory outside of the heap, as all of more than 64 bytes,
 * and cost four times as much.
 */
let block = new Uint8Array(64 * DATA_BYTES);
let blockUsed = 0;

/** Zeros. */
function newData(): Uint8Array {
  if (blockUsed === block.length) {
    block = new Uint8Array(block.length);
    blockUsed = 0;
  }
  const from = blockUsed;
  blockUsed += DATA_BYTES;
  return block.subarray(from, blockUsed);
}

/** Builds a cell by appending bits and references. All `store…` methods return the builder. */
export class Builder {
  readonly #bytes = newData();
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

  /** Appends everything left in the slice, without moving it. */
  storeSlice(slice: Slice): this {
    const rest = slice.clone();
    this.#reserve(rest.remainingBits, rest.remainingRefs);
    const bits = rest.loadBits(rest.remainingBits);
    this.#append(bits.bytes, bits.length);
    while (rest.remainingRefs > 0) this.#refs.push(rest.loadRef());
    return this;
  }

  /** Appends the contents of another builder. */
  storeBuilder(other: Builder): this {
    this.#reserve(other.#bits, other.#refs.length);
    this.#append(other.#bytes, other.#bits);
    this.#refs.push(...other.#refs);
    return this;
  }

  /** The cell built so far. The builder may be used further; the cell does not change. */
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
    if (bits > 32) this.#putWord(Math.floor(value / 2 ** 32), bits - 32);
    this.#putWord(value, Math.min(bits, 32));
    return this;
  }

  #storeBig(value: bigint, bits: number): this {
    if (value < 0n || BigInt.asUintN(bits, value) !== value) throw outOfRange(value, `uint${bits}`);
    this.#reserve(bits, 0);
    let left = bits;
    if (value < TWO_TO_32 && bits > 32) {
      // The bytes behind the end are zero.
      this.#bits += bits - 32;
      left = 32;
    }
    while (left > 0) {
      const take = Math.min(32, left);
      left -= take;
      this.#putWord(Number(BigInt.asUintN(32, left === 0 ? value : value >> BigInt(left))), take);
    }
    return this;
  }

  /** Writes the lowest `bits` bits of a number, at most 32, for which there is room. */
  #putWord(value: number, bits: number): void {
    const out = this.#bytes;
    const room = 8 - (this.#bits & 7);
    let at = this.#bits >> 3;
    let left = bits;
    this.#bits += bits;
    const low = bits === 32 ? value | 0 : value & ((1 << bits) - 1);
    if (left <= room) {
      if (left > 0) out[at]! |= low << (room - left);
      return;
    }
    left -= room;
    out[at++]! |= low >>> left;
    for (; left >= 8; out[at++] = low >>> left) left -= 8;
    if (left > 0) out[at] = low << (8 - left);
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

const TWO_TO_32 = 1n << 32n;

function outOfRange(value: number | bigint, type: string): Error {
  return cellsErrors['value-range']({ value: String(value), type });
}

const scratch = new Uint8Array(2 + 128 + 8 + 128);

/** A standalone cell, created by a builder or copied from a table. Its references may be cells of any kind. */
export class BuiltCell extends Cell {
  readonly type: CellType;
  readonly bits: number;
  readonly levelMask: number;
  /** The data, padded with a 1 bit and zeros when it does not end at a byte. */
  readonly bytes: Uint8Array;
  readonly #refs: readonly Cell[];
  #hashes: Uint8Array | null = null;
  #depths: readonly number[] = [];
  /** Longest path of built cells below; limiting it here bounds the recursion of {@link hash}. */
  readonly #height: number;

  /**
   * @param bytes the data, exactly ⌈bits/8⌉ bytes, padded (bit `bits` set, then zeros); not copied
   * @throws cells/cell-exotic when the layout does not fit the exotic type, cells/cell-depth
   */
  constructor(bytes: Uint8Array, bits: number, refs: readonly Cell[], exotic: boolean) {
    super();
    this.bytes = bytes;
    this.bits = bits;
    this.#refs = refs;
    let childMask = 0;
    let height = 0;
    for (const ref of refs) {
      childMask |= ref.levelMask;
      const above = ref instanceof BuiltCell ? ref.#height + 1 : 1;
      if (above > height) height = above;
    }
    if (height > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth: height });
    this.#height = height;
    if (!exotic) {
      this.type = CellType.ordinary;
      this.levelMask = childMask;
      return;
    }
    const mask = exoticLevelMask({ tag: bytes[0] ?? 0, bits, refCount: refs.length, second: bytes[1] ?? 0, childMask });
    if (typeof mask === 'string') throw cellsErrors['cell-exotic']({ problem: mask });
    this.type = bytes[0] as CellType;
    this.levelMask = mask;
  }

  /**
   * A copy of a cell whose hash is already known and need not be computed.
   *
   * @param hash the hash of level 0, the only one: there may be no pruned branches below; not copied
   */
  static withHash(
    bytes: Uint8Array,
    bits: number,
    refs: readonly Cell[],
    exotic: boolean,
    hash: Uint8Array,
    depth: number,
  ): BuiltCell {
    const cell = new BuiltCell(bytes, bits, refs, exotic);
    if (cell.levelMask !== 0)
      throw cellsErrors['cell-exotic']({ problem: `a cell of level ${cell.level} has more hashes than the one given` });
    cell.#hashes = hash;
    cell.#depths = [depth];
    return cell;
  }

  get refCount(): number {
    return this.#refs.length;
  }
  get dataOffset(): number {
    return 0;
  }
  ref(index: number): Cell {
    return this.#refs[index] as Cell;
  }

  hash(level = 3): Uint8Array {
    const hashes = this.#hashes ?? this.#compute();
    const at = hashIndex(this.levelMask, level) * 32;
    return hashes.length === 32 ? hashes : hashes.subarray(at, at + 32);
  }

  depth(level = 3): number {
    if (this.#hashes === null) this.#compute();
    return this.#depths[hashIndex(this.levelMask, level)]!;
  }

  #compute(): Uint8Array {
    const count = popcount3(this.levelMask) + 1;
    const hashes = new Uint8Array(count * 32);
    const depths: number[] = [];
    if (this.type === CellType.prunedBranch) this.#fillPruned(hashes, depths, count - 1);
    else this.#fillLevels(hashes, depths);
    this.#depths = depths;
    this.#hashes = hashes;
    return hashes;
  }

  #fillLevels(hashes: Uint8Array, depths: number[]): void {
    const { type, levelMask: mask, bytes, bits } = this;
    const refs = this.#refs;
    const deeper = type === CellType.merkleProof || type === CellType.merkleUpdate ? 1 : 0;
    for (const ref of refs) ref.hash(); // children first: the scratch buffer is shared
    const s = scratch;
    for (let level = 0; level <= 3; level++) {
      if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
      const made = depths.length;
      s[0] = refs.length + (type === 0 ? 0 : 8) + 32 * (mask & ((1 << level) - 1));
      s[1] = (bits >> 3) + bytes.length;
      const data = made === 0 ? bytes : hashes.subarray((made - 1) * 32, made * 32);
      s.set(data, 2);
      let at = 2 + data.length;
      let depth = 0;
      for (const ref of refs) {
        const childDepth = ref.depth(level + deeper);
        if (childDepth >= depth) depth = childDepth + 1;
        s[at++] = childDepth >> 8;
        s[at++] = childDepth;
      }
      if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
      for (const ref of refs) {
        s.set(ref.hash(level + deeper), at);
        at += 32;
      }
      sha256Into(s, at, hashes, made * 32);
      depths.push(depth);
    }
    if (deeper === 1) this.#checkMerkle();
  }

  #fillPruned(hashes: Uint8Array, depths: number[], lower: number): void {
    const { bytes } = this;
    hashes.set(bytes.subarray(2, 2 + lower * 32));
    for (let i = 0, at = 2 + lower * 32; i < lower; i++, at += 2) depths.push((bytes[at]! << 8) | bytes[at + 1]!);
    for (const depth of depths) if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
    const s = scratch;
    s[0] = 8 + 32 * this.levelMask;
    s[1] = (this.bits >> 3) + bytes.length;
    s.set(bytes, 2);
    sha256Into(s, 2 + bytes.length, hashes, lower * 32);
    depths.push(0);
  }

  #checkMerkle(): void {
    const sides = this.#refs.length;
    this.#refs.forEach((ref, side) => {
      const hash = this.bytes.subarray(1 + side * 32, 33 + side * 32);
      const at = 1 + sides * 32 + side * 2;
      if (!bytesEqual(hash, ref.hash(0)) || ((this.bytes[at]! << 8) | this.bytes[at + 1]!) !== ref.depth(0)) {
        throw cellsErrors['cell-exotic']({
          problem: `reference ${side} of a Merkle cell has another hash or depth than the cell states`,
        });
      }
    });
  }
}

/** Everything left in a slice as a cell. The slice does not move. */
export function restAsCell(slice: Slice): Cell {
  const rest = slice.clone();
  const { bytes, length } = rest.loadBits(rest.remainingBits);
  if ((length & 7) !== 0) bytes[bytes.length - 1]! |= 0x80 >> (length & 7);
  const refs: Cell[] = [];
  while (rest.remainingRefs > 0) refs.push(rest.loadRef());
  return new BuiltCell(bytes, length, refs, false);
}

/** A cell without data and references. */
export const EMPTY_CELL: Cell = new Builder().endCell();
