import { Cell as CoreCell } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc, parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, type BocOptions, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { toHex } from '#kernel/bytes.js';
import { modelCells } from '#test/support/cell-trees.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { errorCode } from '#test/support/error-code.js';

const ALL_OPTIONS: BocOptions[] = [];
for (const index of [false, true]) {
  for (const cacheBits of index ? [false, true] : [false]) {
    for (const crc32c of [false, true]) {
      for (const storeHashes of [false, true]) ALL_OPTIONS.push({ index, cacheBits, crc32c, storeHashes });
    }
  }
}

/** A tree in which every inner cell has four references and every cell is different. */
function wideTree(levels: number, salt = 0): Cell {
  const builder = new Builder().storeUint(salt, 48);
  if (levels > 0) for (let i = 0; i < 4; i++) builder.storeRef(wideTree(levels - 1, salt * 4 + i + 1));
  return builder.endCell();
}

function distinctCells(roots: readonly Cell[]): number {
  const seen = new Set<string>();
  const visit = (cell: Cell) => {
    const key = toHex(cell.hash());
    if (seen.has(key)) return;
    seen.add(key);
    for (let r = 0; r < cell.refCount; r++) visit(cell.ref(r));
  };
  roots.forEach(visit);
  return seen.size;
}

describe('a written bag of cells', () => {
  it('does not depend on what was written before it, nor on a failure', () => {
    const twice = wideTree(1);
    const roots = [
      wideTree(0),
      wideTree(3),
      new Builder().storeRef(twice).storeRef(twice).endCell(),
      wideTree(5),
      wideTree(2),
    ];
    const write = (root: Cell) =>
      toHex(serializeBoc(root, { crc32c: true, storeHashes: true, index: true, cacheBits: true }));
    const alone = roots.map((root) => write(root));
    expect(errorCode(() => serializeBoc(roots[1]!, { cacheBits: true }))).toBe('cells/boc-options');
    expect(roots.toReversed().map(write).toReversed()).toEqual(alone);
    for (const [i, root] of roots.entries())
      expect(toHex(parseBocRoot(Buffer.from(alone[i]!, 'hex')).hash())).toBe(toHex(root.hash()));
  });

  it('holds the same cells with all options, each once', () => {
    fc.assert(
      fc.property(modelCells, fc.integer({ min: 1, max: 3 }), (models, rootCount) => {
        const roots = models.slice(-rootCount).map((model) => model.ours);
        for (const options of ALL_OPTIONS) {
          const bytes = serializeBoc(roots, options);
          const { roots: back, table, header } = parseBoc(bytes);
          table.hashAll(); // compares stored hashes, too
          expect(back.map((root) => toHex(root.hash()))).toEqual(roots.map((root) => toHex(root.hash())));
          expect(table.count).toBe(distinctCells(roots));
          expect([header.hasIndex, header.hasCrc32c, header.hasCacheBits]).toEqual([
            options.index,
            options.crc32c,
            options.cacheBits,
          ]);
          expect(toHex(serializeBoc(back, options))).toBe(toHex(bytes));
        }
      }),
    );
  });

  it('is read by @ton/core', () => {
    fc.assert(
      fc.property(modelCells, (models) => {
        const model = models.at(-1)!;
        fc.pre(model.core !== null);
        for (const options of ALL_OPTIONS) {
          const [root] = CoreCell.fromBoc(Buffer.from(serializeBoc(model.ours, options)));
          expect(root!.hash().toString('hex')).toBe(toHex(model.ours.hash()));
        }
      }),
    );
  });

  it('of a single empty cell is the well-known one', () => {
    const empty = new Builder().endCell();
    expect(toHex(serializeBoc(empty))).toBe('b5ee9c72010101010002000000');
    expect(toHex(serializeBoc([empty, empty]))).toBe('b5ee9c7201010102000200000000');
  });

  it.each([
    [3, 1, 85],
    [4, 2, 341],
    [8, 3, 87381],
  ])('of a tree with %i levels has references of %i bytes', (levels, refSize, count) => {
    const root = wideTree(levels);
    for (const options of [{}, BLOCK_FILE]) {
      const bytes = serializeBoc(root, options);
      const { header, table, roots } = parseBoc(bytes);
      expect([header.refSize, header.cellCount]).toEqual([refSize, count]);
      table.hashAll();
      expect(toHex(roots[0]!.hash())).toBe(toHex(root.hash()));
    }
  });

  it('stores hashes only in some cells, and marks shared ones in the index', () => {
    const shared = new Builder().storeUint(7, 8).endCell();
    const root = new Builder().storeRef(shared).storeRef(new Builder().storeRef(shared).endCell()).endCell();
    const { header } = parseBoc(serializeBoc(root, { index: true, cacheBits: true }));
    const bytes = serializeBoc(root, { index: true, cacheBits: true });
    const flags = Array.from(bytes.subarray(header.indexStart, header.cellsStart), (entry) => entry & 1);
    expect(flags).toEqual([0, 0, 1]);
    const big = wideTree(4);
    const { table } = parseBoc(serializeBoc(big, { storeHashes: true }));
    const stored = table.withHashes.reduce((sum, one) => sum + one, 0);
    expect(stored).toBeGreaterThan(1);
    expect(stored).toBeLessThan(table.count / 4);
  });

  it('holds a chain as deep as allowed', () => {
    let cell = new Builder().endCell();
    for (let i = 0; i < 1024; i++) cell = new Builder().storeRef(cell).endCell();
    expect(toHex(parseBocRoot(serializeBoc(cell, BLOCK_FILE)).hash())).toBe(toHex(cell.hash()));
    expect(errorCode(() => serializeBoc(new Builder().storeRef(cell).endCell()))).toBe('cells/cell-depth');
  });

  it('cannot be without roots, with too many, or with cache bits but no index', () => {
    const cell = new Builder().endCell();
    expect(errorCode(() => serializeBoc([]))).toBe('cells/boc-options');
    expect(errorCode(() => serializeBoc(new Array(16385).fill(cell)))).toBe('cells/boc-options');
    expect(parseBoc(serializeBoc(new Array(16384).fill(cell))).roots.length).toBe(16384);
    expect(errorCode(() => serializeBoc(cell, { cacheBits: true }))).toBe('cells/boc-options');
  });
});

describe('a small part of a large bag', () => {
  it('is written with no more effort than it is worth', () => {
    const entries = Array.from({ length: 50_000 }, (_, i) => {
      const key = Uint8Array.of(0, i >> 16, i >> 8, i);
      return [key, new Builder().storeRef(new Builder().storeUint(i, 32).endCell())] as const;
    });
    const root = parseBocRoot(serializeBoc(buildDictionary(32, entries)!));
    root.hash();
    const start = cpuMs();
    let bytes = 0;
    let left = 1000;
    for (const [, value] of iterateEntries(root, 32)) {
      if (left-- === 0) break;
      bytes += serializeBoc(value.loadRef()).length;
    }
    expect(bytes).toBe(1000 * 17);
    expect(cpuMs() - start).toBeLessThan(2000);
  });
});
