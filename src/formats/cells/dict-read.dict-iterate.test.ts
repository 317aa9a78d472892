import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary, buildDictionary } from '#formats/cells/dict-build.js';
import { storeLabel } from '#formats/cells/dict-label.js';
import { countEntries, forEachEntry, type IterateOptions, iterateEntries } from '#formats/cells/dict-read.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import type { Slice } from '#formats/cells/slice.js';
import {
  bitString,
  builderOf,
  coreDictionary,
  describe,
  describeValue,
  dictCase,
  fromCore,
  inTable,
  keyOf,
  textOf,
} from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';
import { sums } from '#test/support/sum-augmentation.js';

const all = (root: Cell | null, keyBits: number, options?: IterateOptions) => {
  const list: [string, string][] = [];
  forEachEntry(root, keyBits, (key, value) => void list.push([textOf(key, keyBits), describe(value)]), options);
  return list;
};

suite('iterating', () => {
  it('gives all entries in the order of their keys, in tables, built and tracked cells', () => {
    fc.assert(
      fc.property(dictCase, fc.boolean(), ({ keyBits, entries, probes }, inclusive) => {
        const expected = [...entries].map(([key, value]) => [key, describeValue(value)] as const);
        expected.sort(([a], [b]) => (a < b ? -1 : 1));
        const theirs = coreDictionary(keyBits, entries);
        const table = theirs === null ? null : fromCore(theirs);
        const built = buildDictionary(
          keyBits,
          [...entries].map(([key, value]) => [keyOf(key), builderOf(value)]),
        );
        for (const root of [table, built, table === null ? null : new UsageTracker().track(table)]) {
          expect(all(root, keyBits, { plain: true })).toEqual(expected);
          expect(all(root, keyBits, { reverse: true })).toEqual([...expected].reverse());
          const listed = [...iterateEntries(root, keyBits)].map(([key, value]) => [
            textOf(key, keyBits),
            describe(value),
          ]);
          expect(listed).toEqual(expected);
          expect(countEntries(root, keyBits)).toBe(entries.size);
          for (const probe of probes.slice(0, 3)) {
            const from = { key: keyOf(probe), inclusive };
            const after = expected.filter(([key]) => key > probe || (inclusive && key === probe));
            const before = expected.filter(([key]) => key < probe || (inclusive && key === probe));
            expect(all(root, keyBits, { from })).toEqual(after);
            expect(all(root, keyBits, { from, reverse: true })).toEqual(before.reverse());
          }
        }
      }),
    );
  });

  it('stops when the visitor says so, and reads nothing further', () => {
    const root = inTable(
      buildDictionary(
        8,
        Array.from({ length: 256 }, (_, i) => [new Uint8Array([i]), new Builder().storeUint(i, 8)]),
      )!,
    );
    const tracker = new UsageTracker();
    const seen: number[] = [];
    forEachEntry(tracker.track(root), 8, (key) => {
      seen.push(key[0]!);
      return seen.length < 3;
    });
    expect(seen).toEqual([0, 1, 2]);
    expect(tracker.size).toBe(1 + 7 + 1 + 1 + 1 + 1);
  });

  it('gives keys that stay as they are', () => {
    const root = buildDictionary(8, [
      [new Uint8Array([1]), new Builder()],
      [new Uint8Array([2]), new Builder()],
    ]);
    const keys = [...iterateEntries(root, 8)].map(([key]) => key);
    expect(keys.map((key) => key[0])).toEqual([1, 2]);
    keys[0]![0] = 9;
    expect(keys[1]![0]).toBe(2);
  });
});

suite('forks', () => {
  const augmented = buildAugmentedDictionary(
    8,
    [3, 5, 130].map((n) => [new Uint8Array([n]), new Builder().storeUint(n, 16)]),
    sums,
  ).root!;

  it('hand out their extras in the order of the walk', () => {
    for (const root of [augmented, inTable(augmented)]) {
      const totals: number[] = [];
      const fork = (extra: Slice) => {
        totals.push(extra.loadUint(32));
        extra.loadRef();
        extra.end();
      };
      expect(countEntries(root, 8, { fork })).toBe(3);
      expect(totals).toEqual([138, 8]);
    }
  });

  it('that hold more than a plain one are refused on request', () => {
    expect(errorCode(() => countEntries(augmented, 8, { plain: true }))).toBe('cells/dict-fork');
    const third = new Builder().storeUint(0, 2).storeRef(leafOf(7)).storeRef(leafOf(7)).storeRef(EMPTY_CELL).endCell();
    expect(countEntries(third, 8)).toBe(2);
    expect(errorCode(() => countEntries(third, 8, { plain: true }))).toBe('cells/dict-fork');
    expect(errorCode(() => countEntries(inTable(third), 8, { plain: true }))).toBe('cells/dict-fork');
  });
});

suite('pruned parts', () => {
  const keys = ['0000', '0001', '0110', '1000', '1011', '1111'];
  const full = buildDictionary(
    4,
    keys.map((key) => [keyOf(key), new Builder().storeBits(bitString(key)).storeRef(EMPTY_CELL)]),
  )!;
  const tracker = new UsageTracker();
  forEachEntry(tracker.track(full), 4, (key) => textOf(key, 4) !== '0110');
  const proof = inTable(createMerkleProof(full, tracker)).ref(0);

  it('are an error, or passed over', () => {
    const seen: string[] = [];
    expect(errorCode(() => forEachEntry(proof, 4, (key) => void seen.push(textOf(key, 4))))).toBe(
      'cells/pruned-branch',
    );
    expect(seen).toEqual(['0000', '0001', '0110']);
    for (const root of [proof, new UsageTracker().track(proof)]) {
      expect(all(root, 4, { pruned: 'skip' }).map(([key]) => key)).toEqual(['0000', '0001', '0110']);
    }
  });
});

/** A dictionary of 2^depth entries in depth + 1 cells. */
function shared(depth: number, bottom: Cell): Cell {
  let cell = bottom;
  for (let i = 0; i < depth; i++) cell = new Builder().storeUint(0, 2).storeRef(cell).storeRef(cell).endCell();
  return cell;
}

function leafOf(keyBits: number): Cell {
  const builder = new Builder();
  storeLabel(builder, new Uint8Array(128), 0, keyBits, keyBits);
  return builder.endCell();
}

suite('a few cells that stand for many entries', () => {
  it('are walked when they are not too many', () => {
    expect(countEntries(inTable(shared(15, leafOf(3))), 18)).toBe(2 ** 15);
    expect(countEntries(shared(16, leafOf(3)), 19)).toBe(2 ** 16);
  });

  it('end at the limit: of a table 65536 visits more than it has cells', () => {
    const root = inTable(shared(200, leafOf(1)));
    let seen = 0;
    expect(errorCode(() => forEachEntry(root, 201, () => void seen++))).toBe('cells/dict-too-large');
    // 202 + 65536 cells, half of them leaves; the first leaf is 200 forks deep.
    expect(seen).toBeGreaterThan(32_500);
    expect(seen).toBeLessThan(33_000);
    expect(errorCode(() => countEntries(root, 201, { limit: 1000 }))).toBe('cells/dict-too-large');
  });

  it('end there, too, when there are no entries but only pruned branches', () => {
    const full = shared(100, new Builder().storeUint(0, 2).storeRef(leafOf(0)).storeRef(leafOf(0)).endCell());
    const tracker = new UsageTracker();
    let cell = tracker.track(full);
    for (let i = 0; i < 100; i++) {
      cell.touch();
      cell = cell.ref(0);
    }
    const proof = inTable(createMerkleProof(full, tracker)).ref(0);
    expect(errorCode(() => countEntries(proof, 101, { pruned: 'skip' }))).toBe('cells/dict-too-large');
  });

  it('use up one budget together', () => {
    const root = shared(3, leafOf(0));
    const budget = { left: 31 };
    expect(countEntries(root, 3, { limit: budget })).toBe(8);
    expect(countEntries(root, 3, { limit: budget })).toBe(8);
    expect(budget.left).toBe(1);
    expect(errorCode(() => countEntries(root, 3, { limit: budget }))).toBe('cells/dict-too-large');
    expect(errorCode(() => countEntries(root, 3, { limit: budget }))).toBe('cells/dict-too-large');
    expect(budget.left).toBe(0);
  });
});
