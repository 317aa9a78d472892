import {
  type Cell,
  type CellType,
  exoticLevelMask,
  MAX_BITS,
  MAX_DEPTH,
  MAX_REFS,
  popcount3,
} from '#formats/cells/cell.js';
import { type CellColumns, CellTable } from '#formats/cells/cell-table.js';
import { crc32c } from '#formats/cells/digests.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { toHex } from '#kernel/bytes.js';

/** A parsed bag of cells. */
export interface Boc {
  readonly header: BocHeader;
  readonly table: CellTable;
  readonly roots: readonly Cell[];
}

/**
 * Parses a bag of cells: every magic and flag combination, any number of roots. The cells are views of `bytes`, which
 * must not change afterwards. Hashes are computed on demand; hashes stored in the bag are checked at that moment.
 *
 * Schema: `serialized_boc#b5ee9c72`, `serialized_boc_idx#68ff65f3`, `serialized_boc_idx_crc32c#acc3a728` (boc.tlb).
 *
 * @throws cells/boc-* with the byte offset of the error
 */
export function parseBoc(bytes: Uint8Array): Boc {
  return parsedAhead.get(bytes) ?? readBoc(bytes);
}

const parsedAhead = new WeakMap<Uint8Array, Boc>();

/**
 * Parses a bag of cells for which {@link parseBoc} will be called later, which then returns this bag, with the hashes that are
 * computed until then: so that hashing a large bag can be divided.
 *
 * @throws as {@link parseBoc}
 */
export function parseBocAhead(bytes: Uint8Array): Boc {
  const boc = parseBoc(bytes);
  parsedAhead.set(bytes, boc);
  return boc;
}

function readBoc(bytes: Uint8Array): Boc {
  const header = readBocHeader(bytes);
  const table = readCells(bytes, header);
  return { header, table, roots: header.roots.map((index) => table.cell(index)) };
}

/** Parses a bag of cells with exactly one root. @throws cells/boc-roots, and as {@link parseBoc} */
export function parseBocRoot(bytes: Uint8Array): Cell {
  const { roots } = parseBoc(bytes);
  if (roots.length !== 1) throw cellsErrors['boc-roots']({ byte: 0, roots: roots.length, wanted: 1 });
  return roots[0]!;
}

function readCells(bytes: Uint8Array, header: BocHeader): CellTable {
  const { cellCount: count, refSize, cellsStart, cellsEnd } = header;
  const dataStart = new Uint32Array(count);
  const bitLength = new Uint16Array(count);
  const refs = new Uint32Array(count * 4);
  const refCount = new Uint8Array(count);
  const type = new Uint8Array(count);
  const levelMask = new Uint8Array(count);
  const withHashes = new Uint8Array(count);

  let at = cellsStart;
  for (let cell = 0; cell < count; cell++) {
    const start = at;
    if (at + 2 > cellsEnd) throw cellsErrors['boc-truncated']({ byte: at, needed: 2, length: cellsEnd });
    const d1 = bytes[at]!;
    const d2 = bytes[at + 1]!;
    at += 2;
    const references = d1 & 7;
    const mask = d1 >> 5;
    if (references > MAX_REFS) {
      const problem = d1 === 0x17 || references === 7 ? 'is an absent cell' : `has ${references} references`;
      throw cellsErrors['boc-cell']({ byte: start, cell, problem });
    }
    if ((d1 & 16) !== 0) {
      withHashes[cell] = 1;
      at += (popcount3(mask) + 1) * 34;
    }
    const length = (d2 + 1) >> 1;
    const end = at + length + references * refSize;
    if (end > cellsEnd) throw cellsErrors['boc-truncated']({ byte: start, needed: end - start, length: cellsEnd });
    let bits = length * 8;
    if ((d2 & 1) !== 0) {
      const last = bytes[at + length - 1]!;
      if ((last & 0x7f) === 0)
        throw cellsErrors['boc-cell']({
          byte: start,
          cell,
          problem: 'its last data byte is not a few bits and a completion bit',
        });
      bits -= 1 + 31 - Math.clz32(last & -last);
    }
    if (bits > MAX_BITS) throw cellsErrors['boc-cell']({ byte: start, cell, problem: `has ${bits} bits` });
    dataStart[cell] = at;
    bitLength[cell] = bits;
    refCount[cell] = references;
    levelMask[cell] = mask;
    type[cell] = (d1 & 8) === 0 ? 0 : 255;
    at += length;
    for (let r = 0; r < references; r++) {
      let reference = bytes[at++]!;
      for (let k = 1; k < refSize; k++) reference = reference * 256 + bytes[at++]!;
      if (reference <= cell || reference >= count) {
        throw cellsErrors['boc-reference']({ byte: at - refSize, cell, reference, cells: count });
      }
      refs[cell * 4 + r] = reference;
    }
    if (header.hasIndex) checkIndex(bytes, header, cell, at - cellsStart);
  }
  if (at !== cellsEnd) throw cellsErrors['boc-trailing-bytes']({ byte: at, length: cellsEnd });
  checkLevels({ bytes, header, dataStart, bitLength, refs, refCount, type, levelMask });
  return new CellTable({ bytes, count, dataStart, bitLength, refs, refCount, type, levelMask, withHashes });
}

function checkIndex(bytes: Uint8Array, header: BocHeader, cell: number, end: number): void {
  const { offsetSize, indexStart, hasCacheBits } = header;
  const byte = indexStart + cell * offsetSize;
  let entry = 0;
  for (let k = 0; k < offsetSize; k++) entry = entry * 256 + bytes[byte + k]!;
  const stored = hasCacheBits ? Math.floor(entry / 2) : entry;
  if (stored !== end) throw cellsErrors['boc-index']({ byte, cell, stored, actual: end });
}

interface LevelColumns extends Omit<CellColumns, 'count' | 'withHashes'> {
  readonly header: BocHeader;
}

/** From the last cell to the first: checks types of exotic cells, level masks and depth. */
function checkLevels(columns: LevelColumns): void {
  const { bytes, header, dataStart, bitLength, refs, refCount, type, levelMask } = columns;
  const height = new Uint16Array(header.cellCount);
  for (let cell = header.cellCount - 1; cell >= 0; cell--) {
    let childMask = 0;
    let above = 0;
    const first = cell * 4;
    const last = first + refCount[cell]!;
    for (let r = first; r < last; r++) {
      const child = refs[r]!;
      childMask |= levelMask[child]!;
      if (height[child]! >= above) above = height[child]! + 1;
    }
    if (above > MAX_DEPTH) throw cellsErrors['cell-depth']({ depth: above });
    height[cell] = above;
    let mask: number | string = childMask;
    if (type[cell] !== 0) {
      const at = dataStart[cell]!;
      const tag = bytes[at]!;
      mask = exoticLevelMask({
        tag,
        bits: bitLength[cell]!,
        refCount: refCount[cell]!,
        second: bytes[at + 1]!,
        childMask,
      });
      if (typeof mask === 'string') throw cellsErrors['boc-cell']({ byte: at, cell, problem: mask });
      type[cell] = tag as CellType;
    }
    if (mask !== levelMask[cell]) {
      throw cellsErrors['boc-cell']({
        byte: dataStart[cell]!,
        cell,
        problem: `has level mask ${levelMask[cell]} where ${mask} follows from its content`,
      });
    }
  }
}

/** The three magic numbers of a bag of cells. */
export const BOC_MAGIC = { generic: 0xb5ee9c72, indexed: 0x68ff65f3, indexedCrc32c: 0xacc3a728 } as const;

/** Maximum number of roots that the reference implementation accepts. */
export const MAX_ROOTS = 16384;

/** The header of a bag of cells. */
export interface BocHeader {
  readonly magic: number;
  readonly hasIndex: boolean;
  readonly hasCrc32c: boolean;
  readonly hasCacheBits: boolean;
  /** Bytes of a reference (1..4) and of an offset (1..8). */
  readonly refSize: number;
  readonly offsetSize: number;
  readonly cellCount: number;
  /** Indexes of the roots. */
  readonly roots: readonly number[];
  readonly indexStart: number;
  readonly cellsStart: number;
  readonly cellsEnd: number;
}

/** Reads and checks the header, the checksum and the total length of a bag of cells. @throws cells/boc-* */
export function readBocHeader(bytes: Uint8Array): BocHeader {
  const header = readBocHeaderOf(bytes, bytes.length);
  if (header.hasCrc32c) checkCrc(bytes, header.cellsEnd);
  return header;
}

/**
 * Reads and checks the header and the total length of a bag of cells of which only the start is at hand; the checksum is not checked.
 *
 * @param bytes its start, with the list of roots
 * @param length of the whole bag, in bytes
 * @throws cells/boc-*
 */
export function readBocHeaderOf(bytes: Uint8Array, length: number): BocHeader {
  const magic = length < 4 ? 0 : ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
  const generic = magic === BOC_MAGIC.generic;
  if (!generic && magic !== BOC_MAGIC.indexed && magic !== BOC_MAGIC.indexedCrc32c) {
    throw cellsErrors['boc-magic']({ byte: 0, found: toHex(bytes.subarray(0, 4)) });
  }
  need(bytes, 4, 2);
  const flags = bytes[4]!;
  const refSize = generic ? flags & 7 : flags;
  const hasIndex = !generic || (flags & 0x80) !== 0;
  const hasCrc32c = generic ? (flags & 0x40) !== 0 : magic === BOC_MAGIC.indexedCrc32c;
  const hasCacheBits = generic && (flags & 0x20) !== 0;
  if (refSize < 1 || refSize > 4) throw bad(4, 'reference size', refSize, '1 to 4');
  if (generic && (flags & 0x18) !== 0) throw bad(4, 'flags', flags, 'one with bits 3 and 4 clear');
  if (hasCacheBits && !hasIndex) throw bad(4, 'flags', flags, 'one with an index where there are cache bits');
  const offsetSize = bytes[5]!;
  if (offsetSize < 1 || offsetSize > 8) throw bad(5, 'offset size', offsetSize, '1 to 8');

  let at = 6;
  const read = (size: number): number => {
    need(bytes, at, size);
    let value = 0;
    for (const end = at + size; at < end; ) value = value * 256 + bytes[at++]!;
    return value;
  };
  const cellCount = read(refSize);
  const rootCount = read(refSize);
  const absent = read(refSize);
  const cellBytes = read(offsetSize);
  if (cellCount < 1) throw bad(6, 'number of cells', cellCount, 'at least 1');
  if (rootCount < 1 || rootCount > MAX_ROOTS || (!generic && rootCount !== 1)) {
    throw bad(6 + refSize, 'number of roots', rootCount, generic ? `1 to ${MAX_ROOTS}` : '1');
  }
  if (absent !== 0) throw cellsErrors['boc-absent-cells']({ byte: 6 + 2 * refSize, absent });
  // A cell takes at least two bytes: a larger count is refused before anything is allocated for it.
  if (cellCount * 2 > cellBytes) {
    throw bad(6 + 3 * refSize, 'total size of the cells', cellBytes, `${cellCount * 2} or more for ${cellCount} cells`);
  }

  const roots: number[] = [];
  if (generic) {
    need(bytes, at, rootCount * refSize);
    for (let i = 0; i < rootCount; i++) {
      const root = read(refSize);
      if (root >= cellCount) throw bad(at - refSize, 'root', root, `0 to ${cellCount - 1}`);
      roots.push(root);
    }
  } else {
    roots.push(0);
  }
  const indexStart = at;
  const cellsStart = indexStart + (hasIndex ? cellCount * offsetSize : 0);
  const cellsEnd = cellsStart + cellBytes;
  const end = cellsEnd + (hasCrc32c ? 4 : 0);
  if (end > length) throw cellsErrors['boc-truncated']({ byte: indexStart, needed: end - indexStart, length });
  if (end < length) throw cellsErrors['boc-trailing-bytes']({ byte: end, length });
  return {
    magic,
    hasIndex,
    hasCrc32c,
    hasCacheBits,
    refSize,
    offsetSize,
    cellCount,
    roots,
    indexStart,
    cellsStart,
    cellsEnd,
  };
}

function checkCrc(bytes: Uint8Array, at: number): void {
  const stored = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  const computed = crc32c(bytes.subarray(0, at));
  if (stored !== computed) throw cellsErrors['boc-crc']({ byte: at, stored: hex(stored), computed: hex(computed) });
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

function need(bytes: Uint8Array, at: number, size: number): void {
  if (at + size > bytes.length) throw cellsErrors['boc-truncated']({ byte: at, needed: size, length: bytes.length });
}

function bad(byte: number, field: string, value: number, allowed: string): Error {
  return cellsErrors['boc-header']({ byte, field, value, allowed });
}

/**
 * The only root of a bag of cells, fully checked: its hash is computed, no part of it is pruned, and every cell is well-formed.
 *
 * @throws cells/merkle-level when parts are pruned; cells/boc-roots and the rest as {@link parseBocRoot}; cells/cell-depth
 */
export function wholeCell(boc: Uint8Array): Cell {
  const root = parseBocRoot(boc);
  const { level } = root;
  if (level > 0) throw cellsErrors['merkle-level']({ subject: 'cell', level });
  root.hash();
  return root;
}
