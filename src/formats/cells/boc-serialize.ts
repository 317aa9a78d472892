import { CellList } from '#formats/cells/boc-cell-list.js';
import { BOC_MAGIC, MAX_ROOTS } from '#formats/cells/boc-header.js';
import { type BocOrder, orderCells } from '#formats/cells/boc-order.js';
import { Cell, CellType, popcount3 } from '#formats/cells/cell.js';
import { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { crc32c } from '#formats/cells/crc32c.js';
import { cellsErrors } from '#formats/cells/errors.js';

/** What a bag of cells holds besides the cells; nothing of it by default. */
export interface BocOptions {
  /** Where each cell ends (mode bit 1). */
  readonly index?: boolean;
  /** A checksum at the end (mode bit 2). */
  readonly crc32c?: boolean;
  /** Hashes and depths in front of some inner cells, which spares a reader from computing them (mode bit 8). */
  readonly storeHashes?: boolean;
  /** In the index: whether several references lead to a cell (mode bit 16); needs `index`. */
  readonly cacheBits?: boolean;
}

/** How nodes write blocks and states, whose file hash is that of these bytes (mode 31). Proofs are written without options. */
export const BLOCK_FILE: BocOptions = { index: true, crc32c: true, cacheBits: true, storeHashes: true };

/**
 * Writes cells as a bag of cells, byte for byte as the reference software does; equal cells are written once.
 *
 * Schema: `serialized_boc#b5ee9c72` (boc.tlb).
 *
 * @throws cells/boc-options for options or a number of roots that no bag can have
 */
export function serializeBoc(roots: Cell | readonly Cell[], options: BocOptions = {}): Uint8Array {
  const all = roots instanceof Cell ? [roots] : roots;
  if (all.length < 1 || all.length > MAX_ROOTS)
    throw cellsErrors['boc-options']({ problem: `${all.length} roots; 1 to ${MAX_ROOTS} are possible` });
  if (options.cacheBits === true && options.index !== true)
    throw cellsErrors['boc-options']({ problem: 'cache bits stand in the index, which is switched off' });
  const first = all[0]!;
  if (all.length === 1 && first.refCount === 0 && first.type === CellType.ordinary && isPlain(options)) {
    return oneCell(first, options.crc32c === true);
  }
  // A whole bag has as many cells as its table; how many a part of it has, is not known before.
  const expected = first instanceof TableCell && first.index === 0 ? first.table.count : 0;
  const list = takeList(expected);
  const entries = all.map((root) => {
    root.hash(); // all hashes below, and with them the check of the nesting
    return list.add(root);
  });
  const bytes = write(list, entries, orderCells(list, entries), options);
  giveBack(list);
  return bytes;
}

function isPlain({ index, storeHashes }: BocOptions): boolean {
  return index !== true && storeHashes !== true;
}

/** What {@link write} writes for an ordinary cell without references, which the bodies of most messages are. */
function oneCell(cell: Cell, withCrc: boolean): Uint8Array {
  const length = (cell.bits + 7) >> 3;
  const end = 13 + length;
  const out = new Uint8Array(withCrc ? end + 4 : end);
  putNumber(out, 0, BOC_MAGIC.generic, 4);
  // Sizes of numbers in bytes, one cell, one root, none absent, bytes of all cells, place of the root; references of the cell.
  out[4] = withCrc ? 0x41 : 0x01;
  out[5] = 1;
  out[6] = 1;
  out[7] = 1;
  out[9] = 2 + length;
  out[12] = (cell.bits >> 3) + length;
  const { bytes, dataOffset } = cell;
  for (let at = 0; at < length; at++) out[13 + at] = bytes[dataOffset + at]!;
  if (withCrc) putCrc(out, end);
  return out;
}

/** Larger lists are not worth keeping: writing their cells takes longer than making them. */
const KEPT_CAPACITY = 512;

/** The list of the last small bag: most bags are small, and a new list costs more than what is done with it. */
let kept: CellList | null = null;

/** @param expected how many cells; 0 when that is not known */
function takeList(expected: number): CellList {
  const list = kept;
  if (list === null || expected > list.capacity) return new CellList(expected);
  kept = null;
  return list;
}

/** A list that was not given back, because the cells could not be written, is made anew. */
function giveBack(list: CellList): void {
  if (list.capacity > KEPT_CAPACITY) return;
  list.clear();
  kept = list;
}

function write(list: CellList, roots: readonly number[], order: BocOrder, options: BocOptions): Uint8Array {
  const { count, bits, descriptor, refs, shared } = list;
  const withHashes = options.storeHashes === true;
  const { partRoots, places } = order;
  // The number of roots has as many bytes as a reference; it is the larger one only when roots are repeated.
  const refSize = bytesFor(Math.max(count, roots.length));
  const ends = options.index === true ? new Float64Array(count) : null;
  let cellBytes = 0;
  for (let place = 0; place < count; place++) {
    const entry = order.entries[place]!;
    const d1 = descriptor[entry]!;
    cellBytes += 2 + ((bits[entry]! + 7) >> 3) + (d1 & 7) * refSize;
    if (withHashes && partRoots[entry] !== 0) cellBytes += (popcount3(d1 >> 5) + 1) * 34;
    if (ends !== null) ends[place] = options.cacheBits === true ? cellBytes * 2 + shared[entry]! : cellBytes;
  }
  const offsetSize = bytesFor(options.cacheBits === true ? cellBytes * 2 : cellBytes);
  const indexBytes = ends === null ? 0 : count * offsetSize;
  const head = 6 + refSize * (3 + roots.length) + offsetSize;
  const withCrc = options.crc32c === true;
  const out = new Uint8Array(head + indexBytes + cellBytes + (withCrc ? 4 : 0));

  let at = putNumber(out, 0, BOC_MAGIC.generic, 4);
  out[at++] = (ends === null ? 0 : 0x80) | (withCrc ? 0x40 : 0) | (options.cacheBits === true ? 0x20 : 0) | refSize;
  out[at++] = offsetSize;
  at = putNumber(out, at, count, refSize);
  at = putNumber(out, at, roots.length, refSize);
  at = putNumber(out, at, 0, refSize);
  at = putNumber(out, at, cellBytes, offsetSize);
  for (const root of roots) at = putNumber(out, at, places[root]!, refSize);
  if (ends !== null) for (const end of ends) at = putNumber(out, at, end, offsetSize);

  for (let place = 0; place < count; place++) {
    const entry = order.entries[place]!;
    const d1 = descriptor[entry]!;
    const hashes = withHashes && partRoots[entry] !== 0;
    const length = (bits[entry]! + 7) >> 3;
    out[at++] = hashes ? d1 | 16 : d1;
    out[at++] = (bits[entry]! >> 3) + length;
    const source = list.sources[entry]!;
    if (hashes) at = putHashes(out, at, source, list.position[entry]!, d1 >> 5);
    let from = source instanceof CellTable ? source.dataStart[list.position[entry]!]! : source.dataOffset;
    const { bytes } = source;
    for (const end = at + length; at < end; ) out[at++] = bytes[from++]!;
    for (let r = entry * 4, end = r + (d1 & 7); r < end; r++) at = putNumber(out, at, places[refs[r]!]!, refSize);
  }
  if (withCrc) putCrc(out, at);
  return out;
}

/** The checksum of all before it. */
function putCrc(out: Uint8Array, start: number): void {
  const crc = crc32c(out.subarray(0, start));
  for (let i = 0; i < 4; i++) out[start + i] = crc >>> (8 * i);
}

/** All hashes of a cell, the one of the lowest level first, then all depths. */
function putHashes(out: Uint8Array, start: number, source: CellTable | Cell, position: number, mask: number): number {
  let at = start;
  for (let level = 0; level <= 3; level++) {
    if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
    out.set(source instanceof CellTable ? source.hash(position, level) : source.hash(level), at);
    at += 32;
  }
  for (let level = 0; level <= 3; level++) {
    if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
    at = putNumber(out, at, source instanceof CellTable ? source.depth(position, level) : source.depth(level), 2);
  }
  return at;
}

/** Least number of bytes whose largest value is above `value`. */
function bytesFor(value: number): number {
  let size = 0;
  while (value >= 256 ** size) size++;
  return size;
}

function putNumber(out: Uint8Array, at: number, value: number, size: number): number {
  let rest = value;
  let i = at + size;
  while (rest > 0x7fffffff) {
    out[--i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  while (i > at) {
    out[--i] = rest;
    rest >>= 8;
  }
  return at + size;
}
