import { Cell, CellType, hashIndex, MAX_DEPTH, popcount3 } from '#formats/cells/cell.js';
import { sha256Into } from '#formats/cells/digests.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { toHex } from '#kernel/bytes.js';

/**
 * All cells of one bag of cells as columns of numbers instead of objects: cheap to build, and
 * hashes are computed only for cells that are asked for, and their descendants.
 */
export class CellTable implements CellColumns {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly dataStart: Uint32Array;
  readonly bitLength: Uint16Array;
  readonly refs: Uint32Array;
  readonly refCount: Uint8Array;
  readonly type: Uint8Array;
  readonly levelMask: Uint8Array;
  readonly withHashes: Uint8Array;
  #hashes: CellHashes | null = null;

  constructor(columns: CellColumns) {
    this.bytes = columns.bytes;
    this.count = columns.count;
    this.dataStart = columns.dataStart;
    this.bitLength = columns.bitLength;
    this.refs = columns.refs;
    this.refCount = columns.refCount;
    this.type = columns.type;
    this.levelMask = columns.levelMask;
    this.withHashes = columns.withHashes;
  }

  /** The cell at `index`. Two calls give two objects; compare cells by hash. */
  cell(index: number): Cell {
    return new TableCell(this, index);
  }

  /** The 32 bytes of a cell's hash at a level (0..3); a view into the table. */
  hash(index: number, level: number): Uint8Array {
    const hashes = this.#computed();
    const at = hashes.slot(index, level) * 32;
    return hashes.bytes.subarray(at, at + 32);
  }

  /** The bytes that {@link hashOffset} points into. */
  get hashBytes(): Uint8Array {
    return this.#computed().bytes;
  }

  /** Offset of a cell's representation hash in {@link hashBytes}. Avoids the view that {@link hash} creates. */
  hashOffset(index: number): number {
    return this.#computed().slot(index, 3) * 32;
  }

  depth(index: number, level: number): number {
    return this.#computed().depth(index, level);
  }

  /** Computes the hashes of all cells. */
  hashAll(): void {
    this.#computed().computeAll();
  }

  #computed(): CellHashes {
    this.#hashes ??= new CellHashes(this);
    return this.#hashes;
  }
}

/** A cell of a {@link CellTable}: the table and an index. */
export class TableCell extends Cell {
  readonly table: CellTable;
  readonly index: number;

  constructor(table: CellTable, index: number) {
    super();
    this.table = table;
    this.index = index;
  }

  get type(): CellType {
    return this.table.type[this.index] as CellType;
  }
  get bits(): number {
    return this.table.bitLength[this.index]!;
  }
  get refCount(): number {
    return this.table.refCount[this.index]!;
  }
  get levelMask(): number {
    return this.table.levelMask[this.index]!;
  }
  get bytes(): Uint8Array {
    return this.table.bytes;
  }
  get dataOffset(): number {
    return this.table.dataStart[this.index]!;
  }

  ref(index: number): Cell {
    return new TableCell(this.table, this.table.refs[this.index * 4 + index]!);
  }
  hash(level = 3): Uint8Array {
    return this.table.hash(this.index, level);
  }
  depth(level = 3): number {
    return this.table.depth(this.index, level);
  }
}

/** The cells of a bag as columns of numbers, filled by the parser. */
export interface CellColumns {
  /** The bytes of the whole bag of cells; cells are views of it, nothing is copied. */
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Byte at which the data of a cell starts. */
  readonly dataStart: Uint32Array;
  readonly bitLength: Uint16Array;
  /** Four slots per cell; a reference is the index of a later cell. */
  readonly refs: Uint32Array;
  readonly refCount: Uint8Array;
  readonly type: Uint8Array;
  readonly levelMask: Uint8Array;
  /** 1: the bag stores this cell's hashes and depths in front of its data. */
  readonly withHashes: Uint8Array;
}

/** d1 d2, up to 128 bytes of data, 4 depths, 4 hashes. */
const scratch = new Uint8Array(2 + 128 + 8 + 128);

/** Hashes and depths of the cells of a bag, as columns. A cell and its descendants are hashed on first use. */
export class CellHashes {
  /** 32 bytes a slot. */
  readonly bytes: Uint8Array;
  readonly #columns: CellColumns;
  /** First slot of each cell; a cell has one slot per distinct hash, lowest level first. */
  readonly #slots: Uint32Array;
  readonly #depths: Uint16Array;
  readonly #hashed: Uint8Array;

  constructor(columns: CellColumns) {
    const { count, levelMask } = columns;
    const slots = new Uint32Array(count);
    let next = 0;
    for (let i = 0; i < count; i++) {
      slots[i] = next;
      next += popcount3(levelMask[i]!) + 1;
    }
    this.#columns = columns;
    this.#slots = slots;
    this.bytes = new Uint8Array(next * 32);
    this.#depths = new Uint16Array(next);
    this.#hashed = new Uint8Array(count);
  }

  /** The slot of a cell's hash at a level (0..3). @throws cells/cell-depth, cells/cell-exotic, cells/stored-hash */
  slot(index: number, level: number): number {
    if (this.#hashed[index] === 0) this.#ensure(index);
    const slot = this.#slots[index]!;
    const mask = this.#columns.levelMask[index]!;
    return mask === 0 ? slot : slot + hashIndex(mask, level);
  }

  depth(index: number, level: number): number {
    return this.#depths[this.slot(index, level)]!;
  }

  /** Computes all hashes bottom-up in one loop, since references point to later cells only. */
  computeAll(): void {
    for (let index = this.#columns.count - 1; index >= 0; index--) if (this.#hashed[index] === 0) this.#compute(index);
  }

  /** Hashes the descendants, then the cell. Recursion is bounded by MAX_DEPTH, which the parser has checked. */
  #ensure(index: number): void {
    const hashed = this.#hashed;
    const end = index * 4 + this.#columns.refCount[index]!;
    for (let r = index * 4; r < end; r++) {
      const child = this.#columns.refs[r]!;
      if (hashed[child] === 0) this.#ensure(child);
    }
    this.#compute(index);
  }

  #compute(index: number): void {
    const mask = this.#columns.levelMask[index]!;
    const type = this.#columns.type[index]!;
    const slot = this.#slots[index]!;
    if (mask === 0 && type !== CellType.merkleProof && type !== CellType.merkleUpdate) {
      this.#computePlain(index, slot, type);
    } else if (type === CellType.prunedBranch) {
      this.#copyPruned(index, mask, slot);
    } else {
      this.#computeLevels(index, mask, type, slot);
    }
    if (type === CellType.merkleProof || type === CellType.merkleUpdate) this.#checkMerkle(index, type);
    if (this.#columns.withHashes[index] !== 0) this.#checkStored(index, mask, slot);
    // Set last: a cell that failed a check fails again on the next call.
    this.#hashed[index] = 1;
  }

  /** The common case: no pruned branches below, one hash. */
  #computePlain(index: number, slot: number, type: number): void {
    const refCount = this.#columns.refCount[index]!;
    const slots = this.#slots;
    const depths = this.#depths;
    const hashes = this.bytes;
    const s = scratch;
    s[0] = type === 0 ? refCount : refCount + 8;
    let at = this.#putData(index);
    const first = index * 4;
    let depth = 0;
    for (let r = first; r < first + refCount; r++) {
      const childDepth = depths[slots[this.#columns.refs[r]!]!]!;
      if (childDepth >= depth) depth = childDepth + 1;
      s[at] = childDepth >> 8;
      s[at + 1] = childDepth;
      at += 2;
    }
    for (let r = first; r < first + refCount; r++) {
      let from = slots[this.#columns.refs[r]!]! * 32;
      for (const to = at + 32; at < to; ) s[at++] = hashes[from++]!;
    }
    if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
    depths[slot] = depth;
    sha256Into(s, at, hashes, slot * 32);
  }

  #computeLevels(index: number, mask: number, type: number, slot: number): void {
    const refCount = this.#columns.refCount[index]!;
    const depths = this.#depths;
    const hashes = this.bytes;
    const s = scratch;
    const deeper = type === CellType.merkleProof || type === CellType.merkleUpdate ? 1 : 0;
    const exotic = type === 0 ? 0 : 8;
    const first = index * 4;
    let made = 0;
    for (let level = 0; level <= 3; level++) {
      if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
      s[0] = refCount + exotic + 32 * (mask & ((1 << level) - 1));
      let at = this.#putData(index);
      if (made > 0) {
        at = 2;
        for (let from = (slot + made - 1) * 32, to = at + 32; at < to; ) s[at++] = hashes[from++]!;
      }
      let depth = 0;
      for (let r = first; r < first + refCount; r++) {
        const childDepth = depths[this.#childSlot(r, level + deeper)]!;
        if (childDepth >= depth) depth = childDepth + 1;
        s[at++] = childDepth >> 8;
        s[at++] = childDepth;
      }
      for (let r = first; r < first + refCount; r++) {
        let from = this.#childSlot(r, level + deeper) * 32;
        for (const to = at + 32; at < to; ) s[at++] = hashes[from++]!;
      }
      if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
      depths[slot + made] = depth;
      sha256Into(s, at, hashes, (slot + made) * 32);
      made++;
    }
  }

  #childSlot(ref: number, level: number): number {
    const child = this.#columns.refs[ref]!;
    return this.#slots[child]! + hashIndex(this.#columns.levelMask[child]!, level);
  }

  /** A pruned branch stores its lower hashes and depths; only the highest is computed from its data. */
  #copyPruned(index: number, mask: number, slot: number): void {
    const lower = popcount3(mask);
    const { bytes } = this.#columns;
    let at = this.#columns.dataStart[index]! + 2;
    this.bytes.set(bytes.subarray(at, at + lower * 32), slot * 32);
    at += lower * 32;
    for (let i = 0; i < lower; i++, at += 2) {
      const depth = (bytes[at]! << 8) | bytes[at + 1]!;
      if (depth > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth });
      this.#depths[slot + i] = depth;
    }
    scratch[0] = 8 + 32 * mask;
    const end = this.#putData(index);
    sha256Into(scratch, end, this.bytes, (slot + lower) * 32);
  }

  /** Writes d2 and the padded data to the scratch buffer from byte 1 on; returns the offset after it. */
  #putData(index: number): number {
    const bits = this.#columns.bitLength[index]!;
    const { bytes } = this.#columns;
    const s = scratch;
    const length = (bits + 7) >> 3;
    s[1] = (bits >> 3) + length;
    let from = this.#columns.dataStart[index]!;
    const end = 2 + length;
    for (let at = 2; at < end; ) s[at++] = bytes[from++]!;
    return end;
  }

  /** A Merkle cell states the hashes and depths of its references. */
  #checkMerkle(index: number, type: number): void {
    const sides = type === CellType.merkleProof ? 1 : 2;
    const start = this.#columns.dataStart[index]! + 1;
    for (let side = 0; side < sides; side++) {
      const child = this.#childSlot(index * 4 + side, 0);
      const at = start + side * 32;
      const depthAt = start + sides * 32 + side * 2;
      const depth = (this.#columns.bytes[depthAt]! << 8) | this.#columns.bytes[depthAt + 1]!;
      if (!this.#sameHash(at, child) || depth !== this.#depths[child]) {
        throw cellsErrors['cell-exotic']({
          problem: `${type === CellType.merkleProof ? 'the Merkle proof' : `the ${side === 0 ? 'old' : 'new'} side of the Merkle update`} states another hash or depth than its content has`,
        });
      }
    }
  }

  #checkStored(index: number, mask: number, slot: number): void {
    const count = popcount3(mask) + 1;
    const at = this.#columns.dataStart[index]! - count * 34;
    for (let i = 0; i < count; i++) {
      const hashAt = at + i * 32;
      const depthAt = at + count * 32 + i * 2;
      const depth = (this.#columns.bytes[depthAt]! << 8) | this.#columns.bytes[depthAt + 1]!;
      if (this.#sameHash(hashAt, slot + i) && depth === this.#depths[slot + i]) continue;
      const own = this.bytes.subarray((slot + i) * 32, (slot + i) * 32 + 32);
      throw cellsErrors['stored-hash']({
        byte: at - 2,
        cell: index,
        stored: `${toHex(this.#columns.bytes.subarray(hashAt, hashAt + 32))}/${depth}`,
        computed: `${toHex(own)}/${this.#depths[slot + i]}`,
      });
    }
  }

  #sameHash(at: number, slot: number): boolean {
    for (let i = 0; i < 32; i++) if (this.#columns.bytes[at + i] !== this.bytes[slot * 32 + i]) return false;
    return true;
  }
}
