import { expect, it } from 'vitest';
import { findLibraries } from '#drivers/tvm/request-fields.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import { libraryCell } from '#test/support/tvm-contract.js';

const hashOf = (n: number): Uint8Array => new Uint8Array(32).fill(n);
const over = (...refs: Cell[]): Cell => refs.reduce((builder, ref) => builder.storeRef(ref), new Builder()).endCell();
const nest = (cell: Cell, times: number): Cell => (times === 0 ? cell : nest(over(cell), times - 1));
const found = (code: Cell): string[] => findLibraries(code).map((hash) => toHex(hash).slice(0, 2));

it('finds libraries that code is or names, the shallowest first, each once', () => {
  expect(found(libraryCell(hashOf(1)))).toEqual(['01']);
  const code = over(over(libraryCell(hashOf(2)), libraryCell(hashOf(1))), libraryCell(hashOf(1)), over());
  expect(found(code)).toEqual(['01', '02']);
  expect(found(over(over()))).toEqual([]);
});

it('looks down to depth 24, and for 32 at most', () => {
  expect(found(nest(libraryCell(hashOf(1)), 24))).toEqual(['01']);
  expect(found(nest(libraryCell(hashOf(1)), 25))).toEqual([]);
  const many = Array.from({ length: 40 }, (_, i) => libraryCell(hashOf(i + 1)));
  const groups = Array.from({ length: 10 }, (_, i) => over(...many.slice(i * 4, i * 4 + 4)));
  const code = over(over(...groups.slice(0, 4)), over(...groups.slice(4, 8)), over(...groups.slice(8)));
  expect(found(code)).toHaveLength(32);
});

it('is not led astray by cells that stand for very many', () => {
  let code = over(libraryCell(hashOf(9)));
  for (let i = 0; i < 20; i++) code = over(code, code, code, code);
  expect(found(code)).toEqual(['09']);
});
