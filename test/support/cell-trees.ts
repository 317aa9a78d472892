import type { Cell as CoreCell } from '@ton/core';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { ModelCell } from '#test/support/model-cell.js';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const someBits = fc
  .oneof(fc.nat(1023), fc.constantFrom(0, 1, 7, 8, 9, 255, 256, 1015, 1016, 1017, 1022, 1023))
  .chain((length) =>
    fc.uint8Array({ minLength: 128, maxLength: 128 }).map((data) => ModelCell.bytes(data).slice(0, length)),
  );

/** Makes a cell out of those made before it. */
type Step = (made: readonly ModelCell[]) => ModelCell;

const pick = (made: readonly ModelCell[], back: number) => made[Math.max(0, made.length - 1 - back)];
const picks = (made: readonly ModelCell[], backs: readonly number[]) =>
  backs.map((back) => pick(made, back)).filter((cell) => cell !== undefined);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(someBits, fc.array(fc.nat(5), { maxLength: 4 })).map(
      ([bits, backs]): Step =>
        (made) =>
          new ModelCell(bits, picks(made, backs)),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 1, max: 7 }),
        fc.tuple(hash, hash, hash),
        fc.array(fc.nat(900), { minLength: 3, maxLength: 3 }),
      )
      .map(
        ([mask, hashes, depths]): Step =>
          () =>
            ModelCell.pruned(mask, hashes, depths),
      ),
  },
  {
    weight: 1,
    arbitrary: hash.map(
      (of): Step =>
        () =>
          ModelCell.library(of),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }).map(
      (backs): Step =>
        (made) =>
          made.length === 0 ? new ModelCell('1') : ModelCell.merkle(...picks(made, backs)),
    ),
  },
);

/** Generated cells, each made of earlier ones: pruned branches of all masks, libraries, nested Merkle cells among them. */
export const modelCells: fc.Arbitrary<ModelCell[]> = fc.array(step, { minLength: 1, maxLength: 24 }).map((steps) => {
  const made: ModelCell[] = [];
  for (const next of steps) made.push(next(made));
  return made;
});

interface Facts {
  readonly type: number;
  readonly mask: number;
  readonly refs: number;
  readonly data: string;
  readonly hashes: readonly string[];
  readonly depths: readonly number[];
}
const LEVELS = [0, 1, 2, 3];

function factsOf(cell: Cell): Facts {
  return {
    type: cell.type,
    mask: cell.levelMask,
    refs: cell.refCount,
    data: new Slice(cell).loadBits(cell.bits).toString(),
    hashes: [...LEVELS.map((level) => toHex(cell.hash(level))), toHex(cell.hash())],
    depths: [...LEVELS.map((level) => cell.depth(level)), cell.depth()],
  };
}

function factsOfCore(cell: CoreCell): Facts {
  return {
    type: Math.max(0, cell.type),
    mask: cell.mask.value,
    refs: cell.refs.length,
    data: cell.bits.toString(),
    hashes: [...LEVELS.map((level) => cell.hash(level).toString('hex')), cell.hash().toString('hex')],
    depths: [...LEVELS.map((level) => cell.depth(level)), cell.depth()],
  };
}

/** Fails unless both are the same cell: kind, data, references, level mask, and hash and depth of every level. */
function expectSameAsCore(ours: Cell, theirs: CoreCell, name: string): void {
  const [mine, other] = [factsOf(ours), factsOfCore(theirs)];
  // One text each: a deep comparison of hundreds of thousands of cells would take minutes.
  if (JSON.stringify(mine) !== JSON.stringify(other)) expect(mine, name).toEqual(other);
}

/** As {@link expectSameAsCore}, against the model; and against @ton/core too, where it knows such cells. */
export function expectSameAsModel(ours: Cell, model: ModelCell, name: string): void {
  expect({ ...factsOf(ours), data: null }, name).toEqual({
    type: model.type,
    mask: model.mask,
    refs: model.refs.length,
    data: null,
    hashes: [...LEVELS, 3].map((level) => toHex(model.hash(level))),
    depths: [...LEVELS, 3].map((level) => model.depth(level)),
  });
  const slice = new Slice(ours);
  let bits = '';
  while (slice.remainingBits > 0) bits += slice.loadBit() ? '1' : '0';
  expect(bits, name).toBe(model.bits);
  if (model.core !== null) expectSameAsCore(ours, model.core, name);
}

/** As {@link expectSameAsCore}, for all cells below, too, but those seen before. Returns how many cells were new. */
export function expectSameTree(ours: Cell, theirs: CoreCell, name: string, seen = new Set<string>()): number {
  const before = seen.size;
  const visit = (mine: Cell, other: CoreCell): void => {
    const key = toHex(mine.hash());
    if (seen.has(key)) return;
    seen.add(key);
    expectSameAsCore(mine, other, name);
    for (let i = 0; i < mine.refCount; i++) visit(mine.ref(i), other.refs[i]!);
  };
  visit(ours, theirs);
  return seen.size - before;
}
