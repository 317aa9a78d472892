import { expect, it } from 'vitest';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { errorCode } from '#test/support/error-code.js';

it('a whole cell is one root without pruned parts', () => {
  const cell = new Builder().storeUint(5, 3).storeRef(EMPTY_CELL).endCell();
  expect(wholeCell(serializeBoc(cell)).hash()).toEqual(cell.hash());
  expect(errorCode(() => wholeCell(serializeBoc([cell, EMPTY_CELL])))).toBe('cells/boc-roots');
  expect(errorCode(() => wholeCell(new Uint8Array(9)))).toBe('cells/boc-magic');
  const pruned = new Builder()
    .storeUint(0x0101, 16)
    .storeUint(0, 256 + 16)
    .endExotic();
  const around = new Builder().storeRef(pruned).endCell();
  expect(errorCode(() => wholeCell(serializeBoc(around)))).toBe('cells/merkle-level');
});
