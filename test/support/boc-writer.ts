import type { ModelCell } from '#test/support/model-cell.js';

/** What stands in a bag of cells, each part free to be wrong: a writer for tests that shares nothing with the reader. */
export interface BocParts {
  readonly magic?: number;
  /** Flags of the generic magic; the legacy magics imply theirs. */
  readonly index?: boolean;
  readonly crc32c?: boolean;
  readonly cacheBits?: boolean;
  /** The byte after the magic, when it shall not be what follows from the above. */
  readonly flags?: number;
  readonly refSize?: number;
  readonly offsetSize?: number;
  readonly cellCount?: number;
  readonly rootCount?: number;
  readonly absentCount?: number;
  readonly cellBytes?: number;
  readonly roots?: readonly number[];
  /** Ends of the cells, in place of the right ones. */
  readonly ends?: readonly number[];
  readonly checksum?: number;
  /** Complete cells with their references, written with `refSize` bytes each. */
  readonly cells: readonly Uint8Array[];
}

export const GENERIC = 0xb5ee9c72;
export const INDEXED = 0x68ff65f3;
export const INDEXED_CRC32C = 0xacc3a728;

/** Puts the parts together. */
export function assembleBoc(parts: BocParts): Uint8Array {
  const { magic = GENERIC, refSize = 1, offsetSize = 2, cells, roots = [0] } = parts;
  const generic = magic === GENERIC;
  const index = parts.index ?? !generic;
  const crc = parts.crc32c ?? magic === INDEXED_CRC32C;
  const flags = (index ? 0x80 : 0) | (crc ? 0x40 : 0) | (parts.cacheBits ? 0x20 : 0) | refSize;
  const content = Buffer.concat(cells);
  const out: Buffer[] = [
    number(magic, 4),
    number(parts.flags ?? (generic ? flags : refSize), 1),
    number(offsetSize, 1),
  ];
  out.push(number(parts.cellCount ?? cells.length, refSize), number(parts.rootCount ?? roots.length, refSize));
  out.push(number(parts.absentCount ?? 0, refSize), number(parts.cellBytes ?? content.length, offsetSize));
  if (generic) for (const root of roots) out.push(number(root, refSize));
  if (index) {
    let end = 0;
    cells.forEach((cell, i) => {
      end += cell.length;
      const entry = parts.ends?.[i] ?? end;
      out.push(number(parts.cacheBits ? entry * 2 + (i % 2) : entry, offsetSize));
    });
  }
  out.push(content);
  const body = Buffer.concat(out);
  if (!crc) return new Uint8Array(body);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(parts.checksum ?? bitwiseCrc32c(body));
  return new Uint8Array(Buffer.concat([body, checksum]));
}

/** One cell as it stands in a bag: descriptor bytes, stored hashes and depths if wanted, data, references. */
export function cellRecord(
  cell: ModelCell,
  references: readonly number[],
  refSize: number,
  withHashes = false,
): Uint8Array {
  const bits = cell.bits.length;
  const d1 = references.length + (cell.exotic ? 8 : 0) + (withHashes ? 16 : 0) + 32 * cell.mask;
  const d2 = Math.floor(bits / 8) + Math.ceil(bits / 8);
  return Buffer.concat([
    Buffer.from([d1, d2]),
    withHashes ? storedHashes(cell) : Buffer.alloc(0),
    cell.data,
    ...references.map((reference) => number(reference, refSize)),
  ]);
}

/** Hashes of all significant levels, then their depths. */
function storedHashes(cell: ModelCell): Buffer {
  const levels = [0, 1, 2, 3].filter((level) => cell.isSignificant(level));
  return Buffer.concat([
    ...levels.map((level) => cell.hash(level)),
    ...levels.map((level) => number(cell.depth(level), 2)),
  ]);
}

/** Each different cell once, parents before children. */
export function orderCells(roots: readonly ModelCell[]): ModelCell[] {
  const seen = new Set<string>();
  const order: ModelCell[] = [];
  const visit = (cell: ModelCell): void => {
    const key = cell.hash().toString('hex');
    if (seen.has(key)) return;
    seen.add(key);
    for (let i = cell.refs.length - 1; i >= 0; i--) visit(cell.refs[i]!);
    order.push(cell);
  };
  for (let i = roots.length - 1; i >= 0; i--) visit(roots[i]!);
  return order.reverse();
}

/** A whole bag of cells. */
export function writeBoc(
  roots: readonly ModelCell[],
  options: Omit<BocParts, 'cells'> & { withHashes?: (cell: ModelCell, index: number) => boolean } = {},
): Uint8Array {
  const { refSize = 2, offsetSize = 4, withHashes } = options;
  const order = orderCells(roots);
  const places = new Map(order.map((cell, index) => [cell.hash().toString('hex'), index]));
  const place = (cell: ModelCell) => places.get(cell.hash().toString('hex')) as number;
  const cells = order.map((cell, i) => cellRecord(cell, cell.refs.map(place), refSize, withHashes?.(cell, i) ?? false));
  return assembleBoc({ ...options, refSize, offsetSize, cells, roots: options.roots ?? roots.map(place) });
}

function number(value: number, size: number): Buffer {
  const out = Buffer.alloc(size);
  let rest = value;
  for (let i = size - 1; i >= 0; i--) {
    out[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return out;
}

/** CRC-32C bit by bit. */
export function bitwiseCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}
