import { createHash } from 'node:crypto';
import { BitString, Cell as CoreCell } from '@ton/core';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';

/**
 * A cell as the whitepaper defines it, written for being obviously right and nothing else: bits are a text of `0` and
 * `1`, and hash and depth of each level are taken from their definitions. The cells under test are held against it.
 */
export class ModelCell {
  readonly bits: string;
  readonly refs: readonly ModelCell[];
  readonly exotic: boolean;
  readonly #hashes = new Map<number, Buffer>();
  #ours: Cell | null = null;
  #core: CoreCell | null | undefined;

  constructor(bits: string, refs: readonly ModelCell[] = [], exotic = false) {
    this.bits = bits;
    this.refs = refs;
    this.exotic = exotic;
  }

  /** 0 for an ordinary cell. */
  get type(): number {
    return this.exotic ? Number.parseInt(this.bits.slice(0, 8), 2) : 0;
  }

  get mask(): number {
    if (this.type === 1) return Number.parseInt(this.bits.slice(8, 16), 2);
    const below = this.refs.reduce((mask, ref) => mask | ref.mask, 0);
    return this.#isMerkle ? below >> 1 : below;
  }

  get #isMerkle(): boolean {
    return this.type === 3 || this.type === 4;
  }

  hash(level = 3): Buffer {
    const known = this.#hashes.get(level);
    if (known !== undefined) return known;
    const hash = this.#makeHash(level);
    this.#hashes.set(level, hash);
    return hash;
  }

  #makeHash(level: number): Buffer {
    const stored = this.#storedIndex(level);
    if (stored !== null) return this.#bytes().subarray(2 + stored * 32, 34 + stored * 32);
    // Levels at which the mask has no bit repeat the hash of the level below.
    if (level > 0 && !this.isSignificant(level) && this.type !== 1) return this.hash(level - 1);
    const top = this.type === 1 || level === 0;
    const own = top ? this.#bytes() : this.hash(level - 1);
    const mask = this.type === 1 ? this.mask : this.mask % 2 ** level;
    const below = this.#isMerkle ? level + 1 : level;
    const bits = this.bits.length;
    const parts = [
      Buffer.from([this.refs.length + (this.exotic ? 8 : 0) + mask * 32, Math.floor(bits / 8) + Math.ceil(bits / 8)]),
      own,
      ...this.refs.map((ref) => Buffer.from([ref.depth(below) >> 8, ref.depth(below) & 255])),
      ...this.refs.map((ref) => ref.hash(below)),
    ];
    return createHash('sha256').update(Buffer.concat(parts)).digest();
  }

  depth(level = 3): number {
    const stored = this.#storedIndex(level);
    if (stored !== null) return this.#bytes().readUInt16BE(2 + this.storedCount * 32 + stored * 2);
    const below = this.#isMerkle ? level + 1 : level;
    return this.refs.length === 0 ? 0 : 1 + Math.max(...this.refs.map((ref) => ref.depth(below)));
  }

  isSignificant(level: number): boolean {
    return level === 0 || Math.floor(this.mask / 2 ** (level - 1)) % 2 === 1;
  }

  /** How many hashes a pruned branch with this mask stores. */
  get storedCount(): number {
    return [1, 2, 3].filter((level) => this.isSignificant(level)).length;
  }

  /** Which of its stored hashes a pruned branch has at a level; null: its own. */
  #storedIndex(level: number): number | null {
    if (this.type !== 1) return null;
    const below = [1, 2, 3].filter((other) => other <= level && this.isSignificant(other)).length;
    return below < this.storedCount ? below : null;
  }

  /** The data with its completion bit. */
  #bytes(): Buffer {
    return bitsToBytes(this.bits.length % 8 === 0 ? this.bits : `${this.bits}1`);
  }
  get data(): Buffer {
    return this.#bytes();
  }

  /** The same cell, made with the builder under test. */
  get ours(): Cell {
    if (this.#ours === null) {
      const builder = new Builder();
      for (const bit of this.bits) builder.storeBit(bit === '1');
      for (const ref of this.refs) builder.storeRef(ref.ours);
      this.#ours = this.exotic ? builder.endExotic() : builder.endCell();
    }
    return this.#ours;
  }

  /** The same cell in @ton/core; null where that library refuses a good one (pruned branches of masks 2, 4, 5 and 6). */
  get core(): CoreCell | null {
    if (this.#core === undefined) this.#core = this.#makeCore();
    return this.#core;
  }

  #makeCore(): CoreCell | null {
    if (this.type === 1 && ![1, 3, 7].includes(this.mask)) return null;
    const refs: CoreCell[] = [];
    for (const ref of this.refs) {
      if (ref.core === null) return null;
      refs.push(ref.core);
    }
    return new CoreCell({
      bits: new BitString(bitsToBytes(this.bits), 0, this.bits.length),
      refs,
      exotic: this.exotic,
    });
  }

  static uint(value: number, bits: number): string {
    return bits === 0 ? '' : value.toString(2).padStart(bits, '0');
  }

  static bytes(bytes: Uint8Array): string {
    return [...bytes].map((byte) => ModelCell.uint(byte, 8)).join('');
  }

  /** A pruned branch with as many of the hashes and depths as the mask wants. */
  static pruned(mask: number, hashes: readonly Uint8Array[], depths: readonly number[]): ModelCell {
    const count = [...ModelCell.uint(mask, 3)].filter((bit) => bit === '1').length;
    const stored = [
      ...hashes.slice(0, count).map(ModelCell.bytes),
      ...depths.slice(0, count).map((d) => ModelCell.uint(d, 16)),
    ];
    return new ModelCell(ModelCell.uint(1, 8) + ModelCell.uint(mask, 8) + stored.join(''), [], true);
  }

  static library(hash: Uint8Array): ModelCell {
    return new ModelCell(ModelCell.uint(2, 8) + ModelCell.bytes(hash), [], true);
  }

  /** A Merkle proof of one cell, or a Merkle update of two. */
  static merkle(...sides: readonly ModelCell[]): ModelCell {
    const hashes = sides.map((side) => ModelCell.bytes(side.hash(0))).join('');
    const depths = sides.map((side) => ModelCell.uint(side.depth(0), 16)).join('');
    return new ModelCell(ModelCell.uint(2 + sides.length, 8) + hashes + depths, sides, true);
  }

  static fromCore(cell: CoreCell): ModelCell {
    let bits = '';
    for (let i = 0; i < cell.bits.length; i++) bits += cell.bits.at(i) ? '1' : '0';
    return new ModelCell(bits, cell.refs.map(ModelCell.fromCore), cell.isExotic);
  }
}

/** Bits after the last are 0. */
export function bitsToBytes(bits: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (let i = 0; i < bits.length; i++) if (bits[i] === '1') bytes[i >> 3]! |= 0x80 >> (i & 7);
  return bytes;
}
