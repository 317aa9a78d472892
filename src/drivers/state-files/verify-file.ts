import type { ByteSource } from '#drivers/state-files/byte-source.js';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { HashStore } from '#drivers/state-files/hash-store.js';
import { FileCell, indexEntry, MAX_CELL_BYTES, type StateFile } from '#drivers/state-files/state-file.js';
import { CellType, exoticLevelMask, hashIndex, MAX_DEPTH, popcount3 } from '#formats/cells/cell.js';
import { crc32c, joinCrc32c, sha256Into } from '#formats/cells/digests.js';
import { toHex } from '#kernel/bytes.js';

export interface VerifyOptions {
  /** Memory for hashes, in bytes; the rest of them is in a scratch file. */
  readonly hashBytes: number;
  /** Folder of the scratch file. */
  readonly folder: string;
  /** Called now and then with the share that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** A file all of whose bytes were checked. */
export interface VerifiedFile {
  /** Representation hash of the root. */
  readonly root_hash: Uint8Array;
  readonly root_depth: number;
  /** Largest size of the scratch file. */
  readonly scratchBytes: number;
}

/** Bytes read at a time. */
const PIECE_BYTES = 4 * 2 ** 20;
/** Cells that contain or are pruned branches or Merkle cells have several hashes, which are held in memory. */
const MAX_LEVELLED = 200_000;

/**
 * Checks all bytes of a state file in one pass from its end to its start, and computes the hash of its root: form of each cell, the
 * index, stored hashes, the checksum, and that every cell is reached. References lead to later cells, so the hashes of the cells that
 * a cell refers to are known when it is read. Nothing but hashes and depths is retained.
 *
 * The caller compares the root hash with one that a block names; only then is the content right.
 *
 * @throws state-files/damaged with the byte; state-files/unreadable, state-files/scratch, state-files/too-large
 */
export function verifyStateFile(file: StateFile, options: VerifyOptions): VerifiedFile {
  return new FileVerification(file, options).run();
}

/** The pieces of a part of a file from the last to the first, with the CRC-32C of the part. */
class BackwardBytes {
  readonly #source: ByteSource;
  readonly #start: number;
  readonly #end: number;
  readonly #carry: number;
  bytes: Uint8Array;
  /** Offset of `bytes[0]` in the file. */
  at: number;
  #crc = 0;
  #crcLength = 0;

  /** @param carry bytes after a piece that stay readable with it */
  constructor(source: ByteSource, start: number, end: number, carry: number) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    this.#carry = carry;
    this.bytes = new Uint8Array(Math.min(PIECE_BYTES, end - start) + carry);
    this.at = end;
  }

  /** Makes an offset readable, with what follows it; offsets are given in descending order. */
  reach(offset: number): void {
    while (offset < this.at) {
      const from = Math.max(this.#start, this.at - PIECE_BYTES);
      const length = this.at - from;
      this.bytes.copyWithin(length, 0, Math.min(this.#carry, this.#end - this.at));
      const piece = this.bytes.subarray(0, length);
      this.#source.read(piece, from);
      this.#crc = joinCrc32c(crc32c(piece), this.#crc, this.#crcLength);
      this.#crcLength += length;
      this.at = from;
    }
  }

  get crc(): number {
    return this.#crc;
  }
}

class FileVerification {
  readonly #file: StateFile;
  readonly #options: VerifyOptions;
  readonly #index: BackwardBytes;
  readonly #cells: BackwardBytes;
  readonly #store: HashStore;
  readonly #cell = new FileCell();
  readonly #reached: Uint8Array;
  /** Hashes and depths of cells with a level mask or of Merkle type: one pair of 34 bytes for each level of the mask. */
  readonly #levelled = new Map<number, { readonly mask: number; readonly slots: Uint8Array }>();
  readonly #scratch = new Uint8Array(2 + 128 + 8 + 128);
  readonly #digest = new Uint8Array(34);

  constructor(file: StateFile, options: VerifyOptions) {
    const { source, header } = file;
    const { indexStart, cellsStart, cellsEnd, cellCount, offsetSize } = header;
    this.#file = file;
    this.#options = options;
    this.#index = new BackwardBytes(source, indexStart, cellsStart, offsetSize);
    this.#cells = new BackwardBytes(source, cellsStart, cellsEnd, MAX_CELL_BYTES);
    this.#store = new HashStore(cellCount, options.hashBytes, options.folder);
    this.#reached = new Uint8Array(Math.ceil(cellCount / 8));
  }

  run(): VerifiedFile {
    try {
      const { header } = this.#file;
      const { cellCount, cellsStart, cellsEnd } = header;
      const step = Math.max(1, Math.floor(cellCount / 1000));
      let end = this.#endOf(cellCount - 1);
      if (end !== cellsEnd - cellsStart) this.#wrongIndex(cellCount - 1, end, cellsEnd - cellsStart);
      for (let index = cellCount - 1; index >= 0; index--) {
        const start = index === 0 ? 0 : this.#endOf(index - 1);
        if (start + 2 > end || start + MAX_CELL_BYTES < end) this.#wrongIndex(index - 1, start, end);
        this.#check(index, cellsStart + start, end - start);
        end = start;
        if (index % step === 0) this.#options.onProgress?.((cellCount - index) / cellCount);
      }
      this.#checkCrc();
      this.#checkReached();
      const at = this.#store.place(0);
      const slot = this.#levelled.get(0)?.slots;
      const root = slot === undefined ? this.#store.bytes.slice(at, at + 34) : slot.slice(slot.length - 34);
      return {
        root_hash: root.slice(0, 32),
        root_depth: (root[32]! << 8) | root[33]!,
        scratchBytes: this.#store.scratchBytes,
      };
    } finally {
      this.#store.close();
    }
  }

  #endOf(index: number): number {
    const { header } = this.#file;
    const offset = header.indexStart + index * header.offsetSize;
    this.#index.reach(offset);
    return indexEntry(this.#index.bytes, offset - this.#index.at, header);
  }

  #check(index: number, offset: number, length: number): void {
    this.#cells.reach(offset);
    const cell = this.#cell;
    const { bytes } = this.#cells;
    const at = offset - this.#cells.at;
    if (!cell.read(bytes, at, index, this.#file.header)) this.#damaged(offset, `cell ${index} ${cell.problem}`);
    if (cell.length !== length) this.#wrongIndex(index, length, cell.length);
    const s = this.#scratch;
    const { refCount, dataLength, dataStart, refs } = cell;
    s[0] = cell.isExotic ? refCount + 8 : refCount;
    s[1] = bytes[at + 1]!;
    for (let from = dataStart, to = 2, last = 2 + dataLength; to < last; ) s[to++] = bytes[from++]!;
    let childMask = 0;
    let to = 2 + dataLength;
    let hashTo = to + 2 * refCount;
    let depth = 0;
    for (let r = 0; r < refCount; r++) {
      const ref = refs[r]!;
      this.#reached[Math.floor(ref / 8)]! |= 1 << (ref & 7);
      let from = this.#store.place(ref);
      const known = this.#store.bytes;
      const childDepth = (known[from + 32]! << 8) | known[from + 33]!;
      if (childDepth >= depth) depth = childDepth + 1;
      s[to++] = childDepth >> 8;
      s[to++] = childDepth;
      for (const last = from + 32; from < last; ) s[hashTo++] = known[from++]!;
      if (this.#levelled.size > 0) childMask |= this.#levelled.get(ref)?.mask ?? 0;
    }
    if (cell.isExotic || childMask !== 0 || cell.levelMask !== 0) {
      this.#checkLevelled(index, offset, childMask);
      return;
    }
    if (depth > MAX_DEPTH) this.#damaged(offset, `cell ${index} is ${depth} deep`);
    const slot = this.#store.placeToFill(index);
    sha256Into(s, hashTo, this.#store.bytes, slot);
    this.#store.bytes[slot + 32] = depth >> 8;
    this.#store.bytes[slot + 33] = depth;
    if (cell.hashesAt >= 0) this.#checkStored(index, offset, this.#store.bytes.subarray(slot, slot + 34));
  }

  /** A cell that is exotic or has pruned branches below: it may have several hashes. */
  #checkLevelled(index: number, offset: number, childMask: number): void {
    const cell = this.#cell;
    const { bytes } = this.#cells;
    const { dataStart, refCount } = cell;
    const type = cell.isExotic ? bytes[dataStart]! : 0;
    let mask = childMask;
    if (cell.isExotic) {
      const shape = { tag: type, bits: cell.bits, refCount, second: bytes[dataStart + 1]!, childMask };
      const found = exoticLevelMask(shape);
      if (typeof found === 'string') this.#damaged(offset, `cell ${index}: ${found}`);
      mask = found as number;
    }
    if (mask !== cell.levelMask) {
      this.#damaged(offset, `cell ${index} has level mask ${cell.levelMask} where ${mask} follows from its content`);
    }
    const isMerkle = type === CellType.merkleProof || type === CellType.merkleUpdate;
    const count = popcount3(mask) + 1;
    const slots = new Uint8Array(count * 34);
    if (type === CellType.prunedBranch) this.#prunedSlots(mask, slots, offset);
    else {
      for (let level = 0, made = 0; level <= 3; level++) {
        if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
        this.#hashAtLevel({ level, made, mask, deeper: isMerkle ? 1 : 0 }, slots, offset);
        made++;
      }
    }
    if (isMerkle) this.#checkMerkle(index, offset, type);
    if (mask !== 0) {
      if (this.#levelled.size === MAX_LEVELLED) {
        const what = 'the number of cells above pruned branches';
        const data = { file: this.#file.source.name, offset, what, size: MAX_LEVELLED + 1, limit: MAX_LEVELLED };
        throw stateFilesErrors['too-large'](data);
      }
      this.#levelled.set(index, { mask, slots });
    }
    const slot = this.#store.placeToFill(index);
    this.#store.bytes.set(slots.subarray(slots.length - 34), slot);
    if (cell.hashesAt >= 0) this.#checkStored(index, offset, slots);
  }

  #hashAtLevel(
    { level, made, mask, deeper }: { level: number; made: number; mask: number; deeper: number },
    slots: Uint8Array,
    offset: number,
  ): void {
    const cell = this.#cell;
    const { bytes } = this.#cells;
    const s = this.#scratch;
    s[0] = cell.refCount + (cell.isExotic ? 8 : 0) + 32 * (mask & ((1 << level) - 1));
    s[1] = bytes[offset - this.#cells.at + 1]!;
    let to = 2;
    if (made === 0) for (let i = 0; i < cell.dataLength; i++) s[to++] = bytes[cell.dataStart + i]!;
    else for (let i = 0; i < 32; i++) s[to++] = slots[(made - 1) * 34 + i]!;
    let hashTo = to + 2 * cell.refCount;
    let depth = 0;
    for (let r = 0; r < cell.refCount; r++) {
      this.#childSlot(cell.refs[r]!, level + deeper);
      const child = this.#digest;
      const childDepth = (child[32]! << 8) | child[33]!;
      if (childDepth >= depth) depth = childDepth + 1;
      s[to++] = childDepth >> 8;
      s[to++] = childDepth;
      for (let i = 0; i < 32; i++) s[hashTo++] = child[i]!;
    }
    if (depth > MAX_DEPTH) this.#damaged(offset, `it is ${depth} deep`);
    sha256Into(s, hashTo, slots, made * 34);
    slots[made * 34 + 32] = depth >> 8;
    slots[made * 34 + 33] = depth;
  }

  /** A pruned branch stores its lower hashes and depths; only the highest is computed from its data. */
  #prunedSlots(mask: number, slots: Uint8Array, offset: number): void {
    const cell = this.#cell;
    const { bytes } = this.#cells;
    const lower = popcount3(mask);
    for (let i = 0; i < lower; i++) {
      const hashAt = cell.dataStart + 2 + i * 32;
      const depthAt = cell.dataStart + 2 + lower * 32 + i * 2;
      slots.set(bytes.subarray(hashAt, hashAt + 32), i * 34);
      slots.set(bytes.subarray(depthAt, depthAt + 2), i * 34 + 32);
    }
    const s = this.#scratch;
    s[0] = 8 + 32 * mask;
    s[1] = bytes[offset - this.#cells.at + 1]!;
    s.set(bytes.subarray(cell.dataStart, cell.dataStart + cell.dataLength), 2);
    sha256Into(s, 2 + cell.dataLength, slots, lower * 34);
  }

  /** Copies hash and depth of a cell at a level into `#digest`. */
  #childSlot(index: number, level: number): void {
    const levelled = this.#levelled.get(index);
    if (levelled === undefined) {
      const at = this.#store.place(index);
      this.#digest.set(this.#store.bytes.subarray(at, at + 34));
      return;
    }
    const at = hashIndex(levelled.mask, level) * 34;
    this.#digest.set(levelled.slots.subarray(at, at + 34));
  }

  /** A Merkle cell states the hashes and depths of its references. */
  #checkMerkle(index: number, offset: number, type: number): void {
    const sides = type === CellType.merkleProof ? 1 : 2;
    const { bytes } = this.#cells;
    for (let side = 0; side < sides; side++) {
      this.#childSlot(this.#cell.refs[side]!, 0);
      const hashAt = this.#cell.dataStart + 1 + side * 32;
      const depthAt = this.#cell.dataStart + 1 + sides * 32 + side * 2;
      for (let i = 0; i < 34; i++) {
        const stated = i < 32 ? bytes[hashAt + i]! : bytes[depthAt + i - 32]!;
        if (stated !== this.#digest[i]) this.#damaged(offset, `cell ${index} states another hash than its content has`);
      }
    }
  }

  /** @param slots all hashes of the cell, each with its depth */
  #checkStored(index: number, offset: number, slots: Uint8Array): void {
    const { bytes } = this.#cells;
    const count = slots.length / 34;
    const from = this.#cell.hashesAt;
    if (count !== popcount3(this.#cell.levelMask) + 1) this.#damaged(offset, `cell ${index} stores too many hashes`);
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < 34; k++) {
        const stored = k < 32 ? bytes[from + i * 32 + k]! : bytes[from + count * 32 + i * 2 + k - 32]!;
        if (stored === slots[i * 34 + k]) continue;
        const [claimed, found] = [
          bytes.subarray(from + i * 32, from + i * 32 + 32),
          slots.subarray(i * 34, i * 34 + 32),
        ];
        this.#damaged(offset, `cell ${index} claims hash ${toHex(claimed)} and its content has ${toHex(found)}`);
      }
    }
  }

  #checkCrc(): void {
    const { source, header } = this.#file;
    const { indexStart, cellsStart, cellsEnd, hasCrc32c } = header;
    if (!hasCrc32c) return;
    const start = new Uint8Array(indexStart);
    source.read(start, 0);
    const end = new Uint8Array(4);
    source.read(end, cellsEnd);
    this.#index.reach(indexStart);
    const beforeCells = joinCrc32c(crc32c(start), this.#index.crc, cellsStart - indexStart);
    const computed = joinCrc32c(beforeCells, this.#cells.crc, cellsEnd - cellsStart);
    const stored = (end[0]! | (end[1]! << 8) | (end[2]! << 16) | (end[3]! << 24)) >>> 0;
    if (stored === computed) return;
    const [a, b] = [stored, computed].map((crc) => crc.toString(16).padStart(8, '0'));
    this.#damaged(cellsEnd, `the checksum is ${a}, and that of the bytes before it is ${b}`);
  }

  #checkReached(): void {
    const { cellCount, indexStart } = this.#file.header;
    for (let index = 1; index < cellCount; index++) {
      if ((index & 7) === 0 && this.#reached[index / 8] === 0xff) {
        index += 7;
        continue;
      }
      if ((this.#reached[Math.floor(index / 8)]! & (1 << (index & 7))) !== 0) continue;
      this.#damaged(indexStart, `no cell refers to cell ${index}`);
    }
  }

  #wrongIndex(index: number, stored: number, actual: number): never {
    const { indexStart, offsetSize } = this.#file.header;
    const offset = indexStart + Math.max(index, 0) * offsetSize;
    this.#damaged(
      offset,
      `the index gives ${stored} for cell ${Math.max(index, 0)}, and ${actual} follows from the cells`,
    );
  }

  #damaged(offset: number, problem: string): never {
    throw stateFilesErrors.damaged({ file: this.#file.source.name, offset, problem });
  }
}
