import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import {
  combineMerkleProofs,
  createMerkleProof,
  openMerkleProof,
  pruneCell,
  UsageTracker,
  wrapMerkleProof,
} from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { modelCells } from '#test/support/cell-trees.js';
import { errorCode } from '#test/support/error-code.js';
import { ModelCell } from '#test/support/model-cell.js';

const hex = (cell: Cell, level = 3) => toHex(cell.hash(level));

/** What pruning means, on the model: levels, hashes and depths straight from their definitions. */
function pruneModel(model: ModelCell, keep: (model: ModelCell) => boolean, merkleDepth = 0): ModelCell {
  if (model.refs.length === 0) return model;
  if (!keep(model)) {
    if (merkleDepth > 2) return model;
    const mask = model.mask | (2 ** merkleDepth);
    const levels = [0, 1, 2].filter((level) => Math.floor(mask / 2 ** level) % 2 === 1);
    return ModelCell.pruned(
      mask,
      levels.map((level) => model.hash(level)),
      levels.map((level) => model.depth(level)),
    );
  }
  if (merkleDepth > 2) return model;
  const below = model.type === 3 || model.type === 4 ? merkleDepth + 1 : merkleDepth;
  return new ModelCell(
    model.bits,
    model.refs.map((ref) => pruneModel(ref, keep, below)),
    model.exotic,
  );
}

/** Keeps about three quarters of the cells; which ones depends on the seed and their hash. */
const keeps = (seed: number) => (hash: Uint8Array) => ((hash[seed % 32]! + seed) & 3) !== 0;

describe('a Merkle proof', () => {
  it('is what the definition of pruning says, for all cells and kept parts', () => {
    fc.assert(
      fc.property(modelCells, fc.nat(1000), (models, seed) => {
        const keep = keeps(seed);
        const model = models.at(-1)!;
        const proof = createMerkleProof(model.ours, (cell) => keep(cell.hash()));
        const expected = ModelCell.merkle(pruneModel(model, (cell) => keep(cell.hash())));
        expect(hex(proof)).toBe(toHex(expected.hash()));
        expect(proof.levelMask).toBe(expected.mask);
        expect(hex(proof.ref(0), 0)).toBe(hex(model.ours, 0));
        expect(proof.ref(0).depth(0)).toBe(model.ours.depth(0));
        const back = parseBocRoot(serializeBoc(proof));
        expect(hex(back)).toBe(hex(proof));
        if (back.levelMask === 0) expect(hex(openMerkleProof(back), 0)).toBe(hex(model.ours, 0));
      }),
      { numRuns: 400 },
    );
  });

  it('can be made of a proof, and of a proof of a proof', () => {
    fc.assert(
      fc.property(modelCells, fc.nat(1000), (models, seed) => {
        const model = models.filter((cell) => cell.mask === 0).at(-1);
        fc.pre(model !== undefined);
        const keep = (offset: number) => (cell: Cell) => keeps(seed + offset)(cell.hash());
        let proof = createMerkleProof(model!.ours, keep(0));
        for (let nesting = 1; nesting <= 4; nesting++) {
          const outer = createMerkleProof(proof, keep(nesting));
          expect(hex(openMerkleProof(outer), 0)).toBe(hex(proof));
          expect(hex(parseBocRoot(serializeBoc(outer)))).toBe(hex(outer));
          proof = outer;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('made of a pruned tree is the one made of the whole tree', () => {
    fc.assert(
      fc.property(modelCells, fc.nat(1000), (models, seed) => {
        const model = models.filter((cell) => cell.mask === 0).at(-1);
        fc.pre(model !== undefined);
        const wanted = new Set<string>();
        const first = createMerkleProof(model!.ours, (cell) => {
          const keep = keeps(seed)(cell.hash());
          if (keep) wanted.add(hex(cell, 0));
          return keep;
        });
        const second = createMerkleProof(openMerkleProof(first), (cell) => wanted.has(hex(cell, 0)));
        expect(hex(second)).toBe(hex(first));
      }),
    );
  });

  it('holds just what was read through a tracker', () => {
    const leaf = (n: number) => new Builder().storeUint(n, 16).endCell();
    const fork = (n: number) =>
      new Builder()
        .storeUint(n, 16)
        .storeRef(leaf(n * 2))
        .storeRef(leaf(n * 2 + 1))
        .endCell();
    const root = new Builder().storeRef(fork(1)).storeRef(fork(2)).endCell();
    const tracker = new UsageTracker();
    openCell(openCell(tracker.track(root)).loadRef());
    const virtual = openMerkleProof(createMerkleProof(root, tracker));
    expect(virtual.ref(0).type).toBe(CellType.ordinary);
    expect(virtual.ref(1).type).toBe(CellType.prunedBranch);
    expect(hex(virtual.ref(1), 0)).toBe(hex(root.ref(1)));
    expect(virtual.ref(0).ref(1).type).toBe(CellType.ordinary); // no references: kept
    expect(errorCode(() => openCell(virtual.ref(1)))).toBe('cells/pruned-branch');
    expect(hex(createMerkleProof(tracker.track(root), tracker))).toBe(hex(createMerkleProof(root, tracker)));
  });

  it('shares the parts that it keeps', () => {
    const inner = new Builder().storeRef(new Builder().storeUint(1, 1).endCell()).endCell();
    const root = new Builder().storeRef(inner).storeRef(new Builder().storeRef(inner).endCell()).endCell();
    const virtual = openMerkleProof(createMerkleProof(root, (cell) => cell === root || cell === inner));
    expect(virtual.ref(0)).toBe(inner);
    expect(virtual.ref(1).type).toBe(CellType.prunedBranch);
    expect(openMerkleProof(createMerkleProof(root, () => true))).toBe(root);
    expect(openMerkleProof(createMerkleProof(root, () => false)).type).toBe(CellType.prunedBranch);
  });
});

describe('opening a Merkle proof', () => {
  const tree = new Builder().storeRef(new Builder().storeRef(new Builder().endCell()).endCell()).endCell();

  it('refuses other cells', () => {
    expect(errorCode(() => openMerkleProof(tree))).toBe('cells/exotic-not-expected');
    expect(errorCode(() => openMerkleProof(pruneCell(tree, 0)))).toBe('cells/pruned-branch');
  });

  it('refuses one that is pruned itself', () => {
    const inner = createMerkleProof(tree, () => true);
    const outer = createMerkleProof(inner, (cell) => cell.type === CellType.merkleProof);
    expect(errorCode(() => openMerkleProof(openMerkleProof(outer)))).toBe('cells/merkle-level');
  });

  it.each([[1], [32], [34]])('refuses a stated hash or depth that is not that of the content (byte %i)', (byte) => {
    const bytes = createMerkleProof(tree, () => false).bytes.slice();
    bytes[byte]! ^= 1;
    const builder = new Builder().storeBytes(bytes).storeRef(pruneCell(tree, 0));
    expect(errorCode(() => openMerkleProof(builder.endExotic()))).toBe('cells/cell-exotic');
  });
});

describe('a pruned branch', () => {
  it('keeps cells without references, and cannot lie deeper than level 3', () => {
    const leaf = new Builder().storeUint(1, 8).endCell();
    expect(pruneCell(leaf, 0)).toBe(leaf);
    const fork = new Builder().storeRef(leaf).endCell();
    expect([0, 1, 2].map((depth) => pruneCell(fork, depth).levelMask)).toEqual([1, 2, 4]);
    expect(errorCode(() => pruneCell(fork, 3))).toBe('cells/merkle-level');
  });

  it('has a hash for each level of what it stands for', () => {
    const below = pruneCell(new Builder().storeRef(new Builder().endCell()).endCell(), 0);
    const cell = new Builder().storeUint(3, 5).storeRef(below).endCell();
    const pruned = pruneCell(cell, 1);
    expect([pruned.levelMask, pruned.bits]).toEqual([3, 16 + 2 * 272]);
    expect([hex(pruned, 0), hex(pruned, 1)]).toEqual([hex(cell, 0), hex(cell, 1)]);
    expect([pruned.depth(0), pruned.depth(1), pruned.depth(2)]).toEqual([2, 1, 0]);
  });
});

describe('combined proofs', () => {
  it('show what either shows', () => {
    fc.assert(
      fc.property(modelCells, fc.nat(1000), (models, seed) => {
        const model = models.filter((cell) => cell.mask === 0).at(-1);
        fc.pre(model !== undefined);
        const a = new Set<string>();
        const b = new Set<string>();
        const record = (offset: number, shown: Set<string>) => (cell: Cell) => {
          const keep = keeps(seed + offset)(cell.hash(0));
          if (keep) shown.add(hex(cell, 0));
          return keep;
        };
        const first = createMerkleProof(model!.ours, record(0, a));
        const second = createMerkleProof(model!.ours, record(7, b));
        const both = combineMerkleProofs(first, second);
        expect(hex(openMerkleProof(both), 0)).toBe(hex(model!.ours));
        const shown = new Set<string>();
        createMerkleProof(openMerkleProof(both), (cell) => shown.add(hex(cell, 0)) !== undefined);
        for (const cell of [...a, ...b]) expect(shown.has(cell), cell).toBe(true);
        expect(hex(combineMerkleProofs(both, first))).toBe(hex(both));
        expect(hex(combineMerkleProofs(second, both))).toBe(hex(both));
      }),
    );
  });

  it('must be of one tree', () => {
    const a = new Builder().storeUint(1, 8).endCell();
    const b = new Builder().storeUint(2, 8).endCell();
    expect(errorCode(() => combineMerkleProofs(wrapMerkleProof(a), wrapMerkleProof(b)))).toBe(
      'cells/merkle-other-root',
    );
  });
});
