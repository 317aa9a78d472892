import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import { CellSources, completeCell } from '#services/indexer/rows/batch-accounts.js';

const cellOf = (bits: number, ...refs: Cell[]) =>
  refs.reduce((builder, ref) => builder.storeRef(ref), new Builder().storeUint(bits, 16)).endCell();
const pruned = (cell: Cell, mask = 1) =>
  new Builder().storeUint(1, 8).storeUint(mask, 8).storeBytes(cell.hash(0)).storeUint(cell.depth(0), 16).endExotic();

const [a, b, c] = [1, 2, 3].map((bits) => cellOf(bits)) as [Cell, Cell, Cell];
const left = cellOf(4, a, b);
const whole = cellOf(5, left, cellOf(6, c, left));

function sourcesOf(...trees: (Cell | null)[]): CellSources {
  const sources = new CellSources();
  for (const tree of trees) sources.add(() => tree);
  return sources;
}

describe('a cell with pruned branches', () => {
  const partial = cellOf(5, pruned(left), cellOf(6, pruned(c), pruned(left)));

  it('is completed from trees that hold the parts, themselves in parts', () => {
    const found = completeCell(partial, sourcesOf(null, cellOf(4, pruned(a), b), cellOf(9, a, c)));
    expect(found?.levelMask).toBe(0);
    expect(toHex(found!.hash())).toBe(toHex(whole.hash()));
  });

  it('takes a part that one tree leaves out of another that shows it', () => {
    const trees = [cellOf(4, pruned(a), b), cellOf(4, a, pruned(b)), c];
    expect(toHex(completeCell(partial, sourcesOf(...trees))!.hash())).toBe(toHex(whole.hash()));
  });

  it('stays without a part that is nowhere', () => {
    expect(completeCell(partial, sourcesOf(left))).toBeNull();
    expect(completeCell(partial, sourcesOf(pruned(left), pruned(c)))).toBeNull();
  });

  it('keeps the branches that belong to a Merkle proof in it', () => {
    const shown = cellOf(7, pruned(a), b);
    const proof = new Builder().storeUint(3, 8).storeBytes(shown.hash(0)).storeUint(shown.depth(0), 16);
    const holder = cellOf(8, proof.storeRef(shown).endExotic(), left);
    const found = completeCell(cellOf(8, holder.ref(0), pruned(left)), sourcesOf(left));
    expect(toHex(found!.hash())).toBe(toHex(holder.hash()));
  });

  it('that is shared a thousandfold is walked once', () => {
    let deep: Cell = cellOf(10, pruned(a));
    for (let i = 0; i < 60; i++) deep = cellOf(11, deep, deep);
    const found = completeCell(deep, sourcesOf(deep, a));
    expect([found?.levelMask, toHex(found!.hash())]).toEqual([0, toHex(deep.hash(0))]);
  });
});
