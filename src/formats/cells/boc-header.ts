import { crc32c } from '#formats/cells/crc32c.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** The three ways in which a bag of cells may begin. */
export const BOC_MAGIC = { generic: 0xb5ee9c72, indexed: 0x68ff65f3, indexedCrc32c: 0xacc3a728 } as const;

/** Most roots that the reference software reads. */
export const MAX_ROOTS = 16384;

/** What stands in front of the cells. */
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
  const length = bytes.length;
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
  // A cell takes two bytes at least: a count beyond that would only make us allocate for nothing.
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
  if (hasCrc32c) checkCrc(bytes, cellsEnd);
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
