import { describe, expect, it } from 'vitest';
import { loadTransaction, sharedCodes, TransactionWriter } from '#drivers/store/stored-transaction.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { toHex } from '#kernel/bytes.js';
import { errorCode } from '#test/support/error-code.js';

const leaf = (fill: number, bytes = 100) => new Builder().storeBytes(new Uint8Array(bytes).fill(fill)).endCell();
const cellOf = (bits: number, ...refs: Cell[]) =>
  refs.reduce((builder, ref) => builder.storeRef(ref), new Builder().storeUint(bits, 16)).endCell();
const code = cellOf(1, leaf(1), leaf(2));
const small = cellOf(2, leaf(3, 20));

/** The same cells as lines of a table, and the line of a cell in it. */
function table(root: Cell): { readonly root: TableCell; readonly line: (cell: Cell) => number } {
  const parsed = parseBocRoot(serializeBoc(root)) as TableCell;
  const lines = Array.from({ length: parsed.table.count }, (_, at) => at);
  return {
    root: parsed,
    line: (cell) => lines.find((at) => toHex(parsed.table.hash(at, 3)) === toHex(cell.hash()))!,
  };
}

function store(root: Cell, codes: readonly Cell[], writer = new TransactionWriter()): Uint8Array {
  const { root: parsed, line } = table(root);
  return writer.write(parsed.table, parsed.index, codes.map(line));
}

const none = () => null;

describe('a stored transaction', () => {
  it('without codes is a count of 0 and a bag of cells', () => {
    const root = cellOf(7, leaf(8), cellOf(9, leaf(8)));
    const bytes = store(root, []);
    expect(bytes[0]).toBe(0);
    expect(toHex(parseBocRoot(bytes.subarray(1)).hash())).toBe(toHex(root.hash()));
    expect(toHex(serializeBoc(loadTransaction(bytes, none)))).toBe(toHex(serializeBoc(root)));
    expect(sharedCodes(bytes)).toEqual([]);
  });

  it('leaves out a code wherever it stands, and gives it back', () => {
    const writer = new TransactionWriter();
    const root = cellOf(7, cellOf(8, code), cellOf(9, cellOf(10, code), leaf(1)));
    const bytes = store(root, [code, code], writer);
    expect(bytes.length).toBeLessThan(serializeBoc(root).length);
    expect(sharedCodes(bytes).map(toHex)).toEqual([toHex(code.hash())]);
    expect(writer.codes.map(({ code_hash, boc }) => [toHex(code_hash), toHex(boc)])).toEqual([
      [toHex(code.hash()), toHex(serializeBoc(code))],
    ]);
    const bare = loadTransaction(bytes, none);
    expect(toHex(bare.hash(0))).toBe(toHex(root.hash()));
    expect(bare.level).toBe(1);
    const whole = loadTransaction(bytes, (hash) => (toHex(hash) === toHex(code.hash()) ? code : null));
    expect(toHex(whole.hash())).toBe(toHex(root.hash()));
    expect(toHex(serializeBoc(whole))).toBe(toHex(serializeBoc(root)));
  });

  it('gives back several codes, one in the other too, and stays bare where one is not known', () => {
    const outer = cellOf(3, code, leaf(4));
    const root = cellOf(7, cellOf(8, outer), cellOf(9, code));
    const bytes = store(root, [outer, code]);
    const known = new Map([outer, code].map((cell) => [toHex(cell.hash()), cell]));
    expect(sharedCodes(bytes).length).toBe(2);
    expect(toHex(loadTransaction(bytes, (hash) => known.get(toHex(hash))!).hash())).toBe(toHex(root.hash()));
    const half = loadTransaction(bytes, (hash) => (toHex(hash) === toHex(code.hash()) ? code : null));
    expect([half.level, toHex(half.hash(0))]).toEqual([1, toHex(root.hash())]);
  });

  it('keeps a code that is small', () => {
    const writer = new TransactionWriter();
    const bytes = store(cellOf(7, small), [small], writer);
    expect(bytes[0]).toBe(0);
    expect(writer.codes).toEqual([]);
  });

  it('keeps a code where a Merkle proof is among the cells: branches pruned there mean something else', () => {
    const pruned = new Builder().storeUint(0x0101, 16).storeBytes(leaf(5).hash()).storeUint(0, 16).endExotic();
    const inner = cellOf(11, pruned, code);
    const proof = new Builder().storeUint(3, 8).storeBytes(inner.hash(0)).storeUint(inner.depth(0), 16).storeRef(inner);
    const root = cellOf(7, proof.endExotic(), code);
    const bytes = store(root, [code]);
    expect(bytes[0]).toBe(0);
    expect(toHex(loadTransaction(bytes, none).hash())).toBe(toHex(root.hash()));
  });

  it('takes as many cells as there are', () => {
    const cells = Array.from({ length: 300 }, (_, at) => cellOf(at));
    let root = cells[0]!;
    for (const cell of cells.slice(1)) root = cellOf(1, root, cell);
    const bytes = store(root, []);
    expect(toHex(loadTransaction(bytes, none).hash())).toBe(toHex(root.hash()));
  });

  it('is refused when it is torn, or names cells that are not left out', () => {
    const bytes = store(cellOf(7, cellOf(8, code), leaf(2)), [code]);
    for (let end = 0; end < bytes.length; end++) {
      expect(
        errorCode(() => loadTransaction(bytes.subarray(0, end), none)),
        `${end} bytes`,
      ).toMatch(/^(store|cells)\//);
    }
    const other = bytes.slice();
    other[2] = 0;
    expect(errorCode(() => sharedCodes(other))).toBe('store/stored-value');
    other[2] = 200;
    expect(errorCode(() => loadTransaction(other, none))).toBe('store/stored-value');
  });
});
