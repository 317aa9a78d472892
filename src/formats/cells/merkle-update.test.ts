import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder, BuiltCell } from '#formats/cells/builder.js';
import { Cell, CellType } from '#formats/cells/cell.js';
import { TableCell } from '#formats/cells/cell-table.js';
import {
  combineMerkleProofs,
  createMerkleProof,
  openMerkleProof,
  pruneCell,
  putHashAndDepth,
} from '#formats/cells/merkle-proof.js';
import { applyMerkleUpdate, createMerkleUpdate, readMerkleUpdate } from '#formats/cells/merkle-update.js';
import { toHex } from '#kernel/bytes.js';
import { modelCells } from '#test/support/cell-trees.js';
import { errorCode } from '#test/support/error-code.js';

const hex = (cell: Cell, level = 3) => toHex(cell.hash(level));
const leaf = (n: number) => new Builder().storeUint(n, 32).endCell();
const node = (n: number, ...refs: Cell[]) => {
  const builder = new Builder().storeUint(n, 32);
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
};
/** A full binary tree with 2^levels leaves. */
const tree = (levels: number, n = 1): Cell =>
  levels === 0 ? leaf(n) : node(n, tree(levels - 1, n * 2), tree(levels - 1, n * 2 + 1));

function updateOf(oldSide: Cell, newSide: Cell): Cell {
  const bytes = new Uint8Array(69);
  bytes[0] = CellType.merkleUpdate;
  putHashAndDepth(bytes, 1, 65, oldSide);
  putHashAndDepth(bytes, 33, 67, newSide);
  return new BuiltCell(bytes, 552, [oldSide, newSide], true);
}

function cellsBelow(root: Cell): Cell[] {
  const seen = new Map<string, Cell>();
  const visit = (cell: Cell) => {
    if (seen.has(hex(cell))) return;
    seen.set(hex(cell), cell);
    for (let r = 0; r < cell.refCount; r++) visit(cell.ref(r));
  };
  visit(root);
  return [...seen.values()];
}

/** Two trees that have parts in common, all sorts of cells in them. */
const statePairs = fc.tuple(modelCells, fc.nat(30)).map(([models, pick]) => {
  const whole = models.filter((model) => model.mask === 0);
  return whole.length === 0 ? null : ([whole[pick % whole.length]!.ours, whole.at(-1)!.ours] as const);
});

describe('a Merkle update', () => {
  it('leads from any tree to any other', () => {
    fc.assert(
      fc.property(statePairs, (pair) => {
        fc.pre(pair !== null);
        for (const [before, after] of [pair, [pair[1], pair[0]] as const]) {
          const update = parseBocRoot(serializeBoc(createMerkleUpdate(before, after)));
          expect(update.levelMask).toBe(0);
          const read = readMerkleUpdate(update);
          expect([toHex(read.oldHash), toHex(read.newHash)]).toEqual([hex(before), hex(after)]);
          expect([read.oldDepth, read.newDepth]).toEqual([before.depth(), after.depth()]);
          const result = applyMerkleUpdate(before, update);
          // The hashes of the result are not all computed: write and read it, which computes them again.
          expect(hex(parseBocRoot(serializeBoc(result)))).toBe(hex(after));
          for (const cell of cellsBelow(result)) expect(cell, hex(cell)).not.toBeInstanceOf(TableCell);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('can be applied to a state that is pruned itself, when it keeps to what is there', () => {
    const before = tree(6);
    const after = node(1, before.ref(0), node(3, leaf(99), before.ref(1).ref(1)));
    const update = createMerkleUpdate(before, after);
    const shown = new Set([hex(before), hex(before.ref(1))]);
    const pruned = openMerkleProof(createMerkleProof(before, (cell) => shown.has(hex(cell))));
    const result = applyMerkleUpdate(pruned, update);
    expect(hex(result, 0)).toBe(hex(after));
    expect(result.ref(0).type).toBe(CellType.prunedBranch);
  });

  it('shares what does not change, and copies what is new', () => {
    const before = tree(8);
    const after = node(1, before.ref(0), node(77, leaf(5), before.ref(1).ref(0)));
    const update = parseBocRoot(serializeBoc(createMerkleUpdate(before, after)));
    const result = applyMerkleUpdate(before, update);
    expect(result.ref(0)).toBe(before.ref(0));
    expect(result.ref(1).ref(1)).toBe(before.ref(1).ref(0));
    expect(result.ref(1).ref(0)).toBeInstanceOf(BuiltCell);
  });

  it('leaves nothing of the updates behind in a long chain of them', () => {
    const zerostate = serializeBoc(tree(5));
    let state = parseBocRoot(zerostate);
    const tables = new Set<unknown>([(state as TableCell).table]);
    for (let step = 0; step < 300; step++) {
      const path = (step * 7) % 32;
      const change = (cell: Cell, level: number): Cell => {
        if (level === 0) return leaf(1000 + step);
        const bit = (path >> (level - 1)) & 1;
        const refs = [cell.ref(0), cell.ref(1)];
        refs[bit] = change(refs[bit]!, level - 1);
        return node(step, ...refs);
      };
      const after = change(state, 5);
      const update = parseBocRoot(serializeBoc(createMerkleUpdate(state, after)));
      state = applyMerkleUpdate(state, update);
      expect(hex(state), `step ${step}`).toBe(hex(after));
    }
    const all = cellsBelow(state);
    expect(all.length).toBe(63);
    for (const cell of all) if (cell instanceof TableCell) expect(tables.has(cell.table)).toBe(true);
    // Every leaf was replaced, so nothing needs the first state any more.
    expect(all.some((cell) => cell instanceof TableCell)).toBe(false);
  });

  it('takes a tree that unfolds without end for what it is: a few cells', () => {
    const doubled = (end: Cell): Cell => {
      let cell = end;
      for (let level = 0; level < 200; level++) cell = node(level, cell, cell);
      return cell;
    };
    const kept = node(5, leaf(1));
    const before = doubled(kept);
    const after = doubled(node(2, leaf(1), leaf(3)));
    const update = parseBocRoot(serializeBoc(createMerkleUpdate(before, after)));
    expect(hex(applyMerkleUpdate(before, update))).toBe(hex(after));
    // The old side shows everything, and what is kept lies at its very end.
    const whole = updateOf(doubled(pruneCell(kept, 0)), pruneCell(kept, 0));
    expect(hex(applyMerkleUpdate(before, whole))).toBe(hex(kept));
    const first = createMerkleProof(before, (cell) => hex(cell) === hex(before));
    const all = createMerkleProof(before, () => true);
    expect(openMerkleProof(all)).toBe(before);
    const most = createMerkleProof(before, (cell) => hex(cell) !== hex(kept));
    expect(hex(combineMerkleProofs(first, most))).toBe(hex(most));
    expect(hex(combineMerkleProofs(most, all))).toBe(hex(all));
  });

  it('may change nothing', () => {
    const state = tree(3);
    const update = createMerkleUpdate(state, tree(3));
    expect(readMerkleUpdate(update).old.type).toBe(CellType.prunedBranch);
    expect(applyMerkleUpdate(state, update)).toBe(state);
  });
});

describe('a created update', () => {
  it('is small, and found without a walk over the states, also when kept parts move up or down', () => {
    const before = tree(14);
    before.hash();
    const deep = (cell: Cell, levels: number): Cell =>
      levels === 0 ? leaf(424242) : node(1, deep(cell.ref(0), levels - 1), cell.ref(1));
    const changes: Record<string, Cell> = {
      'a leaf changed': deep(before, 14),
      'one level more above': node(5, before, leaf(9)),
      'two levels more inside': node(1, before.ref(0), node(6, leaf(8), node(7, before.ref(1), leaf(9)))),
      'a level less above': node(1, before.ref(0).ref(0), before.ref(0).ref(1)),
      'a level less inside': node(1, node(3, before.ref(0).ref(1), before.ref(1).ref(0)), leaf(1)),
      'sides swapped': node(1, before.ref(1), before.ref(0)),
      'three levels less': before.ref(0).ref(1).ref(0),
    };
    for (const [name, after] of Object.entries(changes)) {
      after.hash();
      const visits = { count: 0 };
      const update = createMerkleUpdate(new CountingCell(before, visits), new CountingCell(after, visits));
      expect(visits.count, name).toBeLessThan(400);
      expect(cellsBelow(update).length, name).toBeLessThan(65);
      visits.count = 0;
      expect(hex(applyMerkleUpdate(new CountingCell(before, visits), update)), name).toBe(hex(after));
      expect(visits.count, name).toBeLessThan(65);
    }
  });

  it('needs whole states', () => {
    const before = tree(3);
    const pruned = openMerkleProof(createMerkleProof(before, (cell) => hex(cell) === hex(before)));
    expect(errorCode(() => createMerkleUpdate(pruned, before))).toBe('cells/merkle-level');
    expect(errorCode(() => createMerkleUpdate(before, pruned))).toBe('cells/merkle-level');
  });
});

describe('applying an update refuses', () => {
  const before = tree(4);
  const after = node(1, before.ref(0), tree(3, 100));
  const update = createMerkleUpdate(before, after);

  it('another state', () => {
    expect(errorCode(() => applyMerkleUpdate(after, update))).toBe('cells/update-old-state');
    expect(errorCode(() => applyMerkleUpdate(before.ref(0), update))).toBe('cells/update-old-state');
  });

  it('another cell', () => {
    expect(errorCode(() => applyMerkleUpdate(before, before))).toBe('cells/exotic-not-expected');
    expect(errorCode(() => readMerkleUpdate(pruneCell(before, 0)))).toBe('cells/pruned-branch');
  });

  it('stated hashes or depths that are not those of the sides', () => {
    for (const byte of [1, 33, 66, 68]) {
      const bytes = update.bytes.slice();
      bytes[byte]! ^= 1;
      const forged = new BuiltCell(bytes, 552, [update.ref(0), update.ref(1)], true);
      expect(
        errorCode(() => applyMerkleUpdate(before, forged)),
        `byte ${byte}`,
      ).toBe('cells/cell-exotic');
    }
  });

  it('a kept cell that the old side does not show', () => {
    const hidden = before.ref(1).ref(0);
    const forged = updateOf(pruneCell(before, 0), node(2, pruneCell(hidden, 0)));
    expect(errorCode(() => applyMerkleUpdate(before, forged))).toBe('cells/update-missing-cell');
  });

  it('a kept cell with another depth than it has', () => {
    const bytes = pruneCell(before, 0).bytes.slice();
    bytes[35]! += 1;
    const lying = new BuiltCell(bytes, 288, [], true);
    const forged = updateOf(pruneCell(before, 0), node(2, lying));
    expect(errorCode(() => applyMerkleUpdate(before, forged))).toBe('cells/update-missing-cell');
  });

  it('a kept cell inside of a Merkle proof that claims another hash at a lower level', () => {
    // At level 2 the branch is the cell in the old state, at level 1 it claims to be something else.
    const proof = createMerkleProof(before, () => true);
    const kept = before.ref(0);
    const bytes = pruneCell(kept, 1).bytes;
    const lying = new Uint8Array(2 + 2 * 34);
    lying[0] = 1;
    lying[1] = 3;
    lying.fill(0xee, 2, 34);
    lying.set(bytes.subarray(2, 34), 34);
    lying.set(bytes.subarray(34, 36), 66);
    lying.set(bytes.subarray(34, 36), 68);
    const branch = new BuiltCell(lying, lying.length * 8, [], true);
    const oldSide = new BuiltCell(proof.bytes, 280, [node(1, pruneCell(kept, 1), pruneCell(before.ref(1), 1))], true);
    const inner = node(9, branch);
    const stated = new Uint8Array(35);
    stated[0] = CellType.merkleProof;
    putHashAndDepth(stated, 1, 33, inner);
    const newSide = new BuiltCell(stated, 280, [inner], true);
    expect(errorCode(() => applyMerkleUpdate(proof, updateOf(oldSide, newSide)))).toMatch(
      /^cells\/(cell-exotic|update-new-state)$/,
    );
  });

  it('one that is pruned by a proof around it', () => {
    const root = new Builder().storeRef(update).endCell();
    const shown = new Set([hex(root), hex(update), hex(update.ref(0))]);
    const virtual = openMerkleProof(createMerkleProof(root, (cell) => shown.has(hex(cell))));
    const pruned = virtual.ref(0);
    expect(pruned.levelMask).not.toBe(0);
    expect(toHex(readMerkleUpdate(pruned).newHash)).toBe(hex(after)); // but it can be read
    expect(errorCode(() => applyMerkleUpdate(before, pruned))).toBe('cells/merkle-level');
  });
});

/** Counts how many references are followed. */
class CountingCell extends Cell {
  readonly #cell: Cell;
  readonly #visits: { count: number };
  constructor(cell: Cell, visits: { count: number }) {
    super();
    this.#cell = cell;
    this.#visits = visits;
  }
  get type() {
    return this.#cell.type;
  }
  get bits() {
    return this.#cell.bits;
  }
  get refCount() {
    return this.#cell.refCount;
  }
  get levelMask() {
    return this.#cell.levelMask;
  }
  get bytes() {
    return this.#cell.bytes;
  }
  get dataOffset() {
    return this.#cell.dataOffset;
  }
  ref(index: number): Cell {
    this.#visits.count++;
    return new CountingCell(this.#cell.ref(index), this.#visits);
  }
  hash(level?: number) {
    return this.#cell.hash(level);
  }
  depth(level?: number) {
    return this.#cell.depth(level);
  }
}
