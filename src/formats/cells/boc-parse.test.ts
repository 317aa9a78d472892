import type { Cell as CoreCell } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { assembleBoc, type BocParts, INDEXED, INDEXED_CRC32C, orderCells, writeBoc } from '#test/support/boc-writer.js';
import { expectSameAsModel, modelCells } from '#test/support/cell-trees.js';
import { errorOf } from '#test/support/error-code.js';
import { ModelCell } from '#test/support/model-cell.js';

/** Every way to write a bag of cells. */
const WAYS: readonly Omit<BocParts, 'cells'>[] = [
  {},
  { index: true },
  { crc32c: true },
  { index: true, crc32c: true },
  { index: true, cacheBits: true },
  { index: true, cacheBits: true, crc32c: true },
  { magic: INDEXED },
  { magic: INDEXED_CRC32C },
];

function expectSameTreeAsModel(ours: Cell, model: ModelCell): void {
  const seen = new Set<ModelCell>();
  const visit = (cell: Cell, other: ModelCell): void => {
    if (seen.has(other)) return;
    seen.add(other);
    expectSameAsModel(cell, other, `type ${other.type}`);
    for (let i = 0; i < cell.refCount; i++) visit(cell.ref(i), other.refs[i]!);
  };
  visit(ours, model);
}

const hashes = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));
const library = ModelCell.library(hashes[0]!);
const leaf = new ModelCell('101');
const shared = new ModelCell('1'.repeat(1023), [leaf, library, leaf]);
const proof = ModelCell.merkle(new ModelCell('0'.repeat(1016), [ModelCell.pruned(1, hashes, [7, 8, 9]), shared]));
const update = ModelCell.merkle(new ModelCell('', [ModelCell.pruned(7, hashes, [7, 8, 9])]), proof);
const sample = new ModelCell('01', [shared, proof, update, leaf]);

describe('every way of writing', () => {
  it.each(WAYS)('%j', (way) => {
    for (const refSize of [1, 2, 3, 4]) {
      for (const offsetSize of [2, 3, 5, 8]) {
        for (const withHashes of [false, true]) {
          const bytes = writeBoc([sample], { ...way, refSize, offsetSize, withHashes: () => withHashes });
          expectSameTreeAsModel(parseBocRoot(bytes), sample);
        }
      }
    }
  });

  it('reads generated cells, also inside of a bigger buffer', () => {
    fc.assert(
      fc.property(modelCells, fc.constantFrom(...WAYS), fc.nat(7), fc.boolean(), (models, way, lead, withHashes) => {
        const root = models[models.length - 1]!;
        const bytes = writeBoc([root], { ...way, withHashes: (_cell, i) => withHashes && i % 2 === 0 });
        const buffer = Buffer.concat([Buffer.alloc(lead, 0xff), bytes, Buffer.alloc(3, 0xff)]);
        expectSameTreeAsModel(parseBocRoot(buffer.subarray(lead, lead + bytes.length)), root);
      }),
      { numRuns: 150 },
    );
  });

  it('reads what @ton/core writes', () => {
    const { core } = shared;
    for (const idx of [false, true]) {
      for (const crc32 of [false, true]) {
        const { header, roots } = parseBoc((core as CoreCell).toBoc({ idx, crc32 }));
        expect([header.hasIndex, header.hasCrc32c]).toEqual([idx, crc32]);
        expectSameTreeAsModel(roots[0]!, shared);
      }
    }
  });
});

describe('several roots', () => {
  it('are read in their order, the same one twice, too', () => {
    const models = [leaf, sample, shared, leaf];
    const { roots, table, header } = parseBoc(writeBoc(models));
    expect(roots.map((root) => toHex(root.hash()))).toEqual(models.map((model) => toHex(model.hash())));
    expect(header.roots.length).toBe(4);
    expect(table.count).toBe(orderCells(models).length);
  });

  it('are refused where one is wanted', () => {
    expect(errorOf(() => parseBocRoot(writeBoc([leaf, shared]))).toPlain()).toMatchObject({
      code: 'cells/boc-roots',
      data: { roots: 2, wanted: 1 },
    });
  });
});

/** Cells start at byte 12 of these (one root, references of 1 byte, offsets of 2). */
const raw = (...cells: readonly number[][]) => assembleBoc({ cells: cells.map((cell) => Uint8Array.from(cell)) });
const END = [0, 0];

describe('bad cells', () => {
  const truncated = 'cells/boc-truncated';
  const rows: readonly [string, Uint8Array, string, object][] = [
    [
      'five references',
      raw([5, 0, 1, 1, 1, 1, 1], END),
      'cells/boc-cell',
      { byte: 12, cell: 0, problem: 'has 5 references' },
    ],
    [
      'an absent cell',
      raw([1, 0, 1], [0x17, 0]),
      'cells/boc-cell',
      { byte: 15, cell: 1, problem: 'is an absent cell' },
    ],
    ['no completion bit', raw([0, 1, 0x00]), 'cells/boc-cell', { byte: 12, cell: 0 }],
    ['a completion bit and nothing before it', raw([0, 3, 0xff, 0x80]), 'cells/boc-cell', { byte: 12, cell: 0 }],
    ['data that ends too early', raw([0, 4, 0xff]), truncated, { byte: 12 }],
    ['references that end too early', raw([2, 0, 1]), truncated, { byte: 12, needed: 4, length: 15 }],
    ['stored hashes that end too early', raw([16, 2, 0xff]), truncated, { byte: 12 }],
    ['a descriptor alone', raw([0, 0], [0]), 'cells/boc-header', {}],
    [
      'no second cell',
      assembleBoc({ cells: [Uint8Array.of(0, 4, 1, 2)], cellCount: 2 }),
      truncated,
      { byte: 16, needed: 2 },
    ],
    [
      'bytes after the cells',
      assembleBoc({ cells: [Uint8Array.of(0, 0, 9)], cellCount: 1 }),
      'cells/boc-trailing-bytes',
      { byte: 14, length: 15 },
    ],
    [
      'a reference to itself',
      raw([1, 0, 0], END),
      'cells/boc-reference',
      { byte: 14, cell: 0, reference: 0, cells: 2 },
    ],
    [
      'a reference to an earlier cell',
      raw([1, 0, 1], [1, 0, 0]),
      'cells/boc-reference',
      { byte: 17, cell: 1, reference: 0 },
    ],
    ['a reference beyond the cells', raw([1, 0, 2], END), 'cells/boc-reference', { byte: 14, cell: 0, reference: 2 }],
    [
      'a level without reason',
      raw([0x20, 0]),
      'cells/boc-cell',
      { cell: 0, problem: 'has level mask 1 where 0 follows from its content' },
    ],
    [
      'an exotic cell without type',
      raw([8, 0]),
      'cells/boc-cell',
      { cell: 0, problem: 'an exotic cell needs a type byte' },
    ],
    [
      'an exotic cell with half a type',
      raw([8, 1, 0x18]),
      'cells/boc-cell',
      { cell: 0, problem: 'an exotic cell needs a type byte' },
    ],
    ['an exotic cell of type 0', raw([8, 2, 0]), 'cells/boc-cell', { byte: 14, cell: 0 }],
    ['a short library reference', raw([8, 4, 2, 0]), 'cells/boc-cell', { byte: 14, cell: 0 }],
    [
      'an index that is too low',
      assembleBoc({ index: true, cells: [Uint8Array.of(1, 0, 1), Uint8Array.from(END)], ends: [2, 5] }),
      'cells/boc-index',
      { byte: 12, cell: 0, stored: 2, actual: 3 },
    ],
    [
      'an index that is too high',
      assembleBoc({
        index: true,
        cacheBits: true,
        cells: [Uint8Array.of(1, 0, 1), Uint8Array.from(END)],
        ends: [3, 6],
      }),
      'cells/boc-index',
      { byte: 14, cell: 1, stored: 6, actual: 5 },
    ],
    [
      'an index of 2^63',
      assembleBoc({ index: true, offsetSize: 8, cells: [Uint8Array.from(END)], ends: [2 ** 63] }),
      'cells/boc-index',
      { byte: 18, cell: 0, actual: 2 },
    ],
  ];
  it.each(rows)('%s', (_name, bytes, code, data) => {
    const error = errorOf(() => parseBoc(bytes));
    expect(error.code, error.message).toBe(code);
    expect(error.data, error.message).toMatchObject(data);
  });

  it('nested more than 1024 deep', () => {
    const chain = (length: number) => {
      const cells = Array.from({ length }, (_, i) => Uint8Array.of(1, 0, (i + 1) >> 8, i + 1));
      return assembleBoc({ refSize: 2, offsetSize: 4, cells: [...cells, Uint8Array.from(END)] });
    };
    const { table, roots } = parseBoc(chain(1024));
    expect(roots[0]!.depth()).toBe(1024);
    table.hashAll();
    expect(errorOf(() => parseBoc(chain(1025))).toPlain()).toMatchObject({
      code: 'cells/cell-depth',
      data: { depth: 1025 },
    });
    expect(errorOf(() => parseBoc(chain(20_000))).code).toBe('cells/cell-depth');
  });

  it('with level masks that are not those of their content', () => {
    const order = orderCells([sample]);
    for (const [index, cell] of order.entries()) {
      for (let flip = 1; flip < 8; flip++) {
        const bytes = writeBoc([sample], { refSize: 1, offsetSize: 2 });
        const at = parseBoc(bytes).table.dataStart[index]! - 2;
        bytes[at]! ^= flip << 5;
        const error = errorOf(() => parseBoc(bytes));
        expect([error.code, error.data.cell], `cell ${index} of type ${cell.type}`).toEqual(['cells/boc-cell', index]);
      }
    }
  });
});

describe('damage', () => {
  const bytes = writeBoc([sample], { refSize: 1, offsetSize: 2 });

  it('by cutting off at any byte is refused with its place', () => {
    for (const way of WAYS) {
      const whole = writeBoc([sample], { ...way, refSize: 1, offsetSize: 2 });
      for (let length = 0; length < whole.length; length++) {
        const error = errorOf(() => parseBoc(whole.subarray(0, length)));
        expect(error.code, `${length} bytes`).toBe(length < 4 ? 'cells/boc-magic' : 'cells/boc-truncated');
        expect(error.data.length ?? length).toBe(length);
      }
    }
  });

  it('of any single bit is refused, or the cells differ', () => {
    const before = toHex(sample.hash());
    const codes = new Set<string>();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
      try {
        const { roots } = parseBoc(damaged);
        expect(toHex(roots[0]!.hash()), `bit ${bit}`).not.toBe(before);
      } catch (error) {
        if (!isTernError(error)) throw error;
        codes.add(error.code);
      }
    }
    expect([...codes].sort()).toEqual([
      'cells/boc-absent-cells',
      'cells/boc-cell',
      'cells/boc-header',
      'cells/boc-magic',
      'cells/boc-reference',
      'cells/boc-trailing-bytes',
      'cells/boc-truncated',
      'cells/cell-depth',
      'cells/cell-exotic',
    ]);
  });

  it('of any single bit is refused by the checksum at the latest', () => {
    for (const way of [{ crc32c: true }, { index: true, cacheBits: true, crc32c: true }, { magic: INDEXED_CRC32C }]) {
      const whole = writeBoc([shared], { ...way, refSize: 1, offsetSize: 2 });
      for (let bit = 0; bit < whole.length * 8; bit++) {
        const damaged = whole.slice();
        damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
        // The flag of the checksum itself: then four bytes are left over.
        expect(errorOf(() => parseBoc(damaged)).class, `bit ${bit}`).toBe('caller');
      }
    }
  });

  it('of many bytes at random never gives another exception', () => {
    const edits = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(edits, fc.nat(bytes.length), (changes, cut) => {
        const damaged = bytes.slice(0, cut % 5 === 0 ? cut : undefined);
        for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
        try {
          const { table, roots } = parseBoc(damaged);
          table.hashAll();
          for (const root of roots) root.hash();
        } catch (error) {
          if (!isTernError(error)) throw error;
        }
      }),
      { numRuns: 3000 },
    );
  });
});
