import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';
import { assembleBoc, cellRecord, orderCells, writeBoc } from '#test/support/boc-writer.js';
import { modelCells } from '#test/support/cell-trees.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { ModelCell } from '#test/support/model-cell.js';

const fill = (byte: number) => new Uint8Array(32).fill(byte);
const pruned = ModelCell.pruned(3, [fill(1), fill(2)], [5, 4]);
const leaf = new ModelCell('1011');
const inner = new ModelCell('00', [pruned, leaf]);
const proof = ModelCell.merkle(inner);
const root = new ModelCell('1', [proof, leaf]);

describe('hashing', () => {
  it('gives the same in whatever order it is done', () => {
    fc.assert(
      fc.property(modelCells, fc.array(fc.tuple(fc.nat(99), fc.nat(3)), { maxLength: 5 }), (models, first) => {
        const order = orderCells([models[models.length - 1]!]);
        const { table } = parseBoc(writeBoc([order[0]!]));
        for (const [at, level] of first) table.hash(at % table.count, level);
        table.hashAll();
        for (const [index, model] of order.entries()) {
          for (const level of [0, 1, 2, 3]) {
            expect(toHex(table.hash(index, level))).toBe(toHex(model.hash(level)));
            expect(table.depth(index, level)).toBe(model.depth(level));
            expect(toHex(table.cell(index).hash(level))).toBe(toHex(model.hash(level)));
          }
          expect(toHex(table.hashBytes.subarray(table.hashOffset(index)).subarray(0, 32))).toBe(toHex(model.hash()));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('may start with a depth', () => {
    const { table } = parseBoc(writeBoc([root]));
    expect([table.depth(0, 0), table.depth(0, 3)]).toEqual([root.depth(0), root.depth(3)]);
  });

  it('of one cell computes only what lies below it', () => {
    // The second root is a Merkle proof with another hash than its content: asking the first does not notice it.
    const cells = [
      cellRecord(leaf, [], 1),
      cellRecord(new ModelCell(proof.bits.replace(/.$/, '1'), [inner], true), [2], 1),
      cellRecord(inner, [3, 4], 1),
      cellRecord(pruned, [], 1),
      cellRecord(leaf, [], 1),
    ];
    const { roots, table } = parseBoc(assembleBoc({ cells, roots: [0, 1] }));
    expect(toHex(roots[0]!.hash())).toBe(toHex(leaf.hash()));
    expect(errorCode(() => roots[1]!.hash())).toBe('cells/cell-exotic');
    expect(errorCode(() => table.hashAll())).toBe('cells/cell-exotic');
  });
});

describe('hashes that the bag states', () => {
  const order = orderCells([root]);
  const write = () => writeBoc([root], { refSize: 1, offsetSize: 2, withHashes: () => true });
  /** Where the stored hashes of a cell start, and how many bytes they have. */
  const stored = (bytes: Uint8Array, index: number) => {
    const count = [0, 1, 2, 3].filter((level) => order[index]!.isSignificant(level)).length;
    return { start: parseBoc(bytes).table.dataStart[index]! - count * 34, length: count * 34 };
  };

  it('are accepted when they are right', () => {
    expect(toHex(parseBocRoot(write()).hash())).toBe(toHex(root.hash()));
  });

  it('are refused when any byte of any of them is wrong, and refused again', () => {
    for (const index of order.keys()) {
      const bytes = write();
      const { start, length } = stored(bytes, index);
      for (let at = start; at < start + length; at++) {
        bytes[at]! ^= 1;
        const { table } = parseBoc(bytes);
        for (let ask = 0; ask < 2; ask++) {
          const error = errorOf(() => table.hash(0, 3));
          expect([error.code, error.data.cell, error.data.byte], `byte ${at}`).toEqual([
            'cells/stored-hash',
            index,
            start - 2,
          ]);
        }
        bytes[at]! ^= 1;
      }
    }
  });
});

describe('Merkle cells', () => {
  it('that state another hash or depth are refused, and refused again', () => {
    const update = ModelCell.merkle(inner, leaf);
    for (const merkle of [proof, update]) {
      for (let bit = 8; bit < merkle.bits.length; bit++) {
        const flipped = merkle.bits[bit] === '1' ? '0' : '1';
        const wrong = new ModelCell(
          merkle.bits.slice(0, bit) + flipped + merkle.bits.slice(bit + 1),
          merkle.refs,
          true,
        );
        const { table, roots } = parseBoc(writeBoc([new ModelCell('1', [wrong])]));
        expect(
          errorCode(() => roots[0]!.hash()),
          `bit ${bit}`,
        ).toBe('cells/cell-exotic');
        expect(
          errorCode(() => table.hash(0, 0)),
          `bit ${bit}`,
        ).toBe('cells/cell-exotic');
      }
    }
  });

  it('over a pruned branch hash what it stands for', () => {
    const cell = parseBocRoot(writeBoc([root]));
    const content = cell.ref(0).ref(0);
    expect(content.level).toBe(2);
    expect(cell.level).toBe(1);
    expect(toHex(content.ref(0).hash(0))).toBe('01'.repeat(32));
    expect(toHex(content.ref(0).hash(1))).toBe('02'.repeat(32));
    expect([content.ref(0).depth(0), content.ref(0).depth(1), content.ref(0).depth()]).toEqual([5, 4, 0]);
    expect([content.depth(0), content.depth(1), content.depth()]).toEqual([6, 5, 1]);
  });
});

describe('depth', () => {
  it('that a pruned branch states counts towards the limit', () => {
    const deep = (depth: number) => writeBoc([new ModelCell('', [ModelCell.pruned(1, [fill(1)], [depth])])]);
    expect(parseBocRoot(deep(1023)).depth(0)).toBe(1024);
    expect(errorCode(() => parseBocRoot(deep(1024)).hash())).toBe('cells/cell-depth');
    expect(errorCode(() => parseBocRoot(deep(65535)).hash())).toBe('cells/cell-depth');
  });
});
