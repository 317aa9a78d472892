import { beginCell } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builder, BuiltCell, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import { expectSameAsModel, expectSameTree, modelCells } from '#test/support/cell-trees.js';
import { errorCode } from '#test/support/error-code.js';
import { ModelCell } from '#test/support/model-cell.js';

describe('hashes and depths of all levels', () => {
  it('are those of the definition and of @ton/core, with pruned branches, libraries and nested Merkle cells', () => {
    let compared = 0;
    fc.assert(
      fc.property(modelCells, (models) => {
        for (const model of models) {
          expectSameAsModel(model.ours, model, 'generated');
          if (model.core !== null) compared++;
        }
      }),
      { numRuns: 200 },
    );
    expect(compared, 'cells compared with @ton/core').toBeGreaterThan(200);
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('are right in Merkle cells around a pruned branch of mask %i', (mask) => {
    const hashes = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill * 16 + mask));
    const pruned = ModelCell.pruned(mask, hashes, [30, 20, 10]);
    const inner = new ModelCell('101', [pruned, ModelCell.library(hashes[0]!)]);
    const first = ModelCell.merkle(inner);
    const middle = new ModelCell('', [first, inner, pruned]);
    const second = ModelCell.merkle(middle, inner);
    const third = ModelCell.merkle(new ModelCell('1', [second]));
    for (const model of [pruned, inner, first, middle, second, third]) {
      expectSameAsModel(model.ours, model, `type ${model.type}`);
    }
    expect(third.ours.level).toBe(mask >= 4 ? 1 : 0);
    expect(toHex(first.ours.hash(0))).not.toBe(toHex(inner.ours.hash(0)));
  });

  it('of an empty cell are the known ones', () => {
    expect(toHex(EMPTY_CELL.hash())).toBe('96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7');
    expect(EMPTY_CELL.depth()).toBe(0);
    expect(EMPTY_CELL.level).toBe(0);
  });

  it('do not depend on what was asked first', () => {
    fc.assert(
      fc.property(modelCells, fc.nat(3), (models, level) => {
        const model = models[models.length - 1]!;
        const copy = new ModelCell(model.bits, model.refs, model.exotic);
        expect(copy.ours.depth(level)).toBe(model.ours.depth(level));
        expect(toHex(copy.ours.hash(level))).toBe(toHex(model.ours.hash(level)));
      }),
      { numRuns: 30 },
    );
  });
});

describe('depth', () => {
  function chain(length: number, start: Cell = EMPTY_CELL): Cell {
    let cell = start;
    for (let i = 0; i < length; i++) cell = new Builder().storeRef(cell).endCell();
    return cell;
  }

  it('is 1024 at most', () => {
    const deepest = chain(1024);
    expect(deepest.depth()).toBe(1024);
    let theirs = beginCell().endCell();
    for (let i = 0; i < 1024; i++) theirs = beginCell().storeRef(theirs).endCell();
    expect(toHex(deepest.hash())).toBe(theirs.hash().toString('hex'));
    expect(errorCode(() => chain(1025))).toBe('cells/cell-depth');
  });

  it('counts what a pruned branch stands for', () => {
    const pruned = new Builder().storeUint(0x0101, 16).storeBytes(new Uint8Array(32)).storeUint(1000, 16).endExotic();
    expect(pruned.depth(0)).toBe(1000);
    expect(pruned.depth()).toBe(0);
    expect(chain(24, pruned).depth(0)).toBe(1024);
    expect(chain(24, pruned).depth()).toBe(24);
    expect(errorCode(() => chain(25, pruned).hash())).toBe('cells/cell-depth');
    const hopeless = new Builder().storeUint(0x0101, 16).storeBytes(new Uint8Array(32)).storeUint(1025, 16).endExotic();
    expect(errorCode(() => hopeless.hash())).toBe('cells/cell-depth');
  });

  it('is bounded when cells are nested without end', () => {
    expect(errorCode(() => chain(200_000))).toBe('cells/cell-depth');
  });
});

describe('malformed exotic cells', () => {
  const child = new Builder().storeUint(1, 8).endCell();
  const proof = () => new Builder().storeUint(3, 8).storeBytes(child.hash(0)).storeUint(0, 16);

  it('are refused when they are made, or at the latest when they are hashed', () => {
    expect(toHex(proof().storeRef(child).endExotic().hash())).toHaveLength(64);
    const rows: readonly [string, () => unknown][] = [
      ['no type byte', () => new Builder().storeUint(0, 7).endExotic()],
      ['no data', () => new Builder().endExotic()],
      ['type 0', () => new Builder().storeUint(0, 8).endExotic()],
      ['type 5', () => new Builder().storeUint(5, 8).endExotic()],
      ['no reference', () => proof().endExotic()],
      ['two references', () => proof().storeRef(child).storeRef(child).endExotic()],
      ['another hash', () => proof().storeRef(EMPTY_CELL).endExotic().hash()],
      [
        'another depth',
        () =>
          new Builder().storeUint(3, 8).storeBytes(child.hash(0)).storeUint(1, 16).storeRef(child).endExotic().hash(),
      ],
    ];
    for (const [name, run] of rows) expect(errorCode(run), name).toBe('cells/cell-exotic');
  });

  it('are refused again when they are asked again', () => {
    const wrong = proof().storeRef(EMPTY_CELL).endExotic();
    const parent = new Builder().storeRef(wrong).endCell();
    for (let i = 0; i < 2; i++) {
      for (const run of [() => wrong.hash(), () => wrong.depth(), () => parent.hash()]) {
        expect(errorCode(run)).toBe('cells/cell-exotic');
      }
    }
  });
});

describe('a cell', () => {
  it('is what its bytes say, whatever the class of its references', () => {
    const inner = new Builder().storeUint(5, 3).endCell();
    const outer = new BuiltCell(Uint8Array.of(0b10110000), 3, [inner], false);
    const theirs = beginCell().storeUint(5, 3).storeRef(beginCell().storeUint(5, 3).endCell()).endCell();
    expectSameTree(outer, theirs, 'by hand');
  });
});
