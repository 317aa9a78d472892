import { expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

/** A cell, or a bag of cells in hexadecimal or base64. */
type CellSource = Cell | string;

/** Decodes to `value` (when given), and encodes to the same cell, whose hash is `hash` (when given). */
export interface ValidRow<T> {
  readonly id: string;
  readonly cell: CellSource;
  readonly value?: T;
  readonly hash?: string;
}

/** Is refused. */
export interface InvalidRow {
  readonly id: string;
  readonly cell: CellSource;
  readonly code: string;
  readonly path: string;
}

function cellOf(source: CellSource): Cell {
  if (typeof source !== 'string') return source;
  return parseBocRoot(new Uint8Array(Buffer.from(source, /^[0-9a-fA-F]*$/.test(source) ? 'hex' : 'base64')));
}

/** Decodes the cell and checks that the value encodes to a cell of the same hash. */
export function roundTrip<T>(codec: Codec<T>, cell: Cell): T {
  const value = decodeCell(codec, cell);
  expect(toHex(encodeCell(codec, value).hash())).toBe(toHex(cell.hash()));
  return value;
}

/** One test for each row. */
export function itReads<T>(codec: Codec<T>, rows: readonly ValidRow<T>[]): void {
  it.each(rows)(`${codec.type} $id`, ({ cell, value, hash }) => {
    const source = cellOf(cell);
    const decoded = roundTrip(codec, source);
    if (value !== undefined) expect(decoded).toEqual(value);
    if (hash !== undefined) expect(toHex(source.hash())).toBe(hash);
  });
}

/** One test for each row. */
export function itRefuses(codec: Codec<unknown>, rows: readonly InvalidRow[]): void {
  it.each(rows)(`${codec.type} refuses $id`, ({ cell, code, path }) => {
    const error = errorOf(() => decodeCell(codec, cellOf(cell)));
    expect([error.code, error.path]).toEqual([code, path]);
  });
}
