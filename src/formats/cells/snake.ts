import { Builder } from '#formats/cells/builder.js';
import { type Cell, MAX_DEPTH } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { cellsErrors } from '#formats/cells/errors.js';
import { openCell, type Slice } from '#formats/cells/slice.js';

/** Limits for reading snake and chunked data. */
export interface SnakeOptions {
  /** Maximum bytes; the default is 2^17 for snake data (more than a chain of 1024 cells holds) and 2^20 for chunked data. */
  readonly limit?: number;
}

const SNAKE_LIMIT = 2 ** 17;
const CHUNKED_LIMIT = 2 ** 20;
/** Whole bytes of a cell. */
const CELL_BYTES = 127;

/**
 * Reads the rest of the slice and continues through its reference, cell by cell; the slice is consumed.
 *
 * ```
 * tail#_ {bn:#} b:(bits bn) = SnakeData ~0;
 * cons#_ {bn:#} {n:#} b:(bits bn) next:^(SnakeData ~n) = SnakeData ~(n + 1);
 * ```
 *
 * (TEP-64; also used for comments and other long texts.)
 *
 * @throws cells/snake-shape for cells with partial bytes or several references, cells/snake-too-long, cells/pruned-branch
 */
export function loadSnakeBytes(slice: Slice, { limit = SNAKE_LIMIT }: SnakeOptions = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  readChain(slice, { left: limit, limit }, parts);
  return join(parts);
}

/** The remaining budget. An empty cell counts as one byte, which bounds the work for chains of shared empty cells. */
interface Allowance {
  left: number;
  readonly limit: number;
}

function readChain(slice: Slice, allowance: Allowance, parts: Uint8Array[]): void {
  let position = slice;
  for (let cell = 0; ; cell++) {
    const { remainingBits, remainingRefs } = position;
    if ((remainingBits & 7) !== 0 || remainingRefs > 1) {
      throw cellsErrors['snake-shape']({ cell, bits: remainingBits, references: remainingRefs });
    }
    const length = remainingBits >> 3;
    if (length > allowance.left) throw cellsErrors['snake-too-long']({ limit: allowance.limit });
    if (length > 0) parts.push(position.loadBytes(length));
    if (remainingRefs === 0) {
      allowance.left -= length;
      return;
    }
    allowance.left -= Math.max(length, 1);
    position = openCell(position.loadRef());
  }
}

/** As {@link loadSnakeBytes}, as text. @throws cells/snake-text when the bytes are not UTF-8 */
export function loadSnakeText(slice: Slice, options: SnakeOptions = {}): string {
  return decodeText(loadSnakeBytes(slice, options));
}

/**
 * Appends bytes to the builder as snake data: as many as fit there, then 127 in each further cell.
 * @returns the builder
 * @throws cells/snake-too-long when it takes more than 1024 further cells; cells/cell-overflow when the builder has no
 *   reference left for them
 */
export function storeSnakeBytes(bytes: Uint8Array, builder: Builder = new Builder()): Builder {
  const head = Math.min(bytes.length, builder.remainingBits >> 3);
  const tails = Math.ceil((bytes.length - head) / CELL_BYTES);
  if (tails > MAX_DEPTH) throw cellsErrors['snake-too-long']({ limit: head + MAX_DEPTH * CELL_BYTES });
  let next: Cell | null = null;
  for (let tail = tails - 1; tail >= 0; tail--) {
    const start = head + tail * CELL_BYTES;
    const cell: Builder = new Builder().storeBytes(bytes.subarray(start, start + CELL_BYTES));
    if (next !== null) cell.storeRef(next);
    next = cell.endCell();
  }
  builder.storeBytes(bytes.subarray(0, head));
  return next === null ? builder : builder.storeRef(next);
}

/** As {@link storeSnakeBytes}, of text in UTF-8. */
export function storeSnakeText(text: string, builder: Builder = new Builder()): Builder {
  return storeSnakeBytes(new TextEncoder().encode(text), builder);
}

/**
 * Reads chunked data, the chunks joined in the order of their keys: `chunked_data#_ data:(HashmapE 32 ^(SnakeData ~0))
 * = ChunkedData` (TEP-64). A chunk may continue through references, as some contracts store it.
 * @throws as {@link loadSnakeBytes}, and what iterating a dictionary throws
 */
export function loadChunkedBytes(slice: Slice, { limit = CHUNKED_LIMIT }: SnakeOptions = {}): Uint8Array {
  if (!slice.loadBit()) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  const allowance = { left: limit, limit };
  for (const [, value] of iterateEntries(slice.loadRef(), 32, { plain: true })) {
    const chunk = openCell(value.loadRef());
    value.end();
    readChain(chunk, allowance, parts);
  }
  return join(parts);
}

/** Appends bytes as chunked data, 127 bytes per chunk, with keys from 0; returns the builder. */
export function storeChunkedBytes(bytes: Uint8Array, builder: Builder = new Builder()): Builder {
  const chunks: [Uint8Array, Builder][] = [];
  for (let start = 0; start < bytes.length; start += CELL_BYTES) {
    const key = new Uint8Array(4);
    new DataView(key.buffer).setUint32(0, chunks.length);
    const chunk = new Builder().storeBytes(bytes.subarray(start, start + CELL_BYTES)).endCell();
    chunks.push([key, new Builder().storeRef(chunk)]);
  }
  const root = buildDictionary(32, chunks);
  return root === null ? builder.storeBit(false) : builder.storeBit(true).storeRef(root);
}

/**
 * Reads token content data: `snake#00 data:(SnakeData ~n) = ContentData; chunks#01 data:ChunkedData = ContentData`
 * (TEP-64).
 * @throws cells/content-tag, and as {@link loadSnakeBytes} and {@link loadChunkedBytes}
 */
export function loadContentBytes(slice: Slice, options: SnakeOptions = {}): Uint8Array {
  const bit = slice.bitOffset;
  const tag = slice.loadUint(8);
  if (tag === 0) return loadSnakeBytes(slice, options);
  if (tag === 1) return loadChunkedBytes(slice, options);
  throw cellsErrors['content-tag']({ bit, found: tag });
}

/** Joins any number of parts. */
function join(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw cellsErrors['snake-text']({ bytes: bytes.length }, error);
  }
}
