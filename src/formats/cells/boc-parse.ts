import { type BocHeader, readBocHeader } from '#formats/cells/boc-header.js';
import { type Cell, type CellType, MAX_BITS, MAX_DEPTH, MAX_REFS, popcount3 } from '#formats/cells/cell.js';
import type { CellColumns } from '#formats/cells/cell-columns.js';
import { CellTable } from '#formats/cells/cell-table.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { exoticLevelMask } from '#formats/cells/exotic-cell.js';

/** A bag of cells, read. */
export interface Boc {
  readonly header: BocHeader;
  readonly table: CellTable;
  readonly roots: readonly Cell[];
}

/**
 * Reads a bag of cells: every magic and flag combination, any number of roots. The cells point into `bytes`, which
 * must not change afterwards. No hash is computed yet; hashes that the bag itself claims are checked when they are.
 *
 * Schema: `serialized_boc#b5ee9c72`, `serialized_boc_idx#68ff65f3`, `serialized_boc_idx_crc32c#acc3a728` (boc.tlb).
 *
 * @throws cells/boc-* with the byte offset of what is wrong
 */
export function parseBoc(bytes: Uint8Array): Boc {
  const header = readBocHeader(bytes);
  const table = readCells(bytes, header);
  return { header, table, roots: header.roots.map((index) => table.cell(index)) };
}

/** Reads a bag of cells that has exactly one root. @throws cells/boc-roots, and as {@link parseBoc} */
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

/** From the last cell to the first: kinds of exotic cells, level masks against what they must be, nesting. */
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
