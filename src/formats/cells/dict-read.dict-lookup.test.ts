import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { lookup, lookupNearest, maxEntry, minEntry } from '#formats/cells/dict-read.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
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

const show = (value: Slice | null) => (value === null ? null : describe(value));

suite('looking up', () => {
  it('finds what @ton/core has stored, and nothing else, in a table, in built and in tracked cells', () => {
    fc.assert(
      fc.property(dictCase, ({ keyBits, entries, probes }) => {
        const theirs = coreDictionary(keyBits, entries);
        const table = theirs === null ? null : fromCore(theirs);
        const built = buildDictionary(
          keyBits,
          [...entries].map(([key, value]) => [keyOf(key), builderOf(value)]),
        );
        const tracked = table === null ? null : new UsageTracker().track(table);
        for (const probe of [...probes, ...entries.keys()]) {
          const value = entries.get(probe);
          const expected = value === undefined ? null : describeValue(value);
          for (const root of [table, built, tracked]) {
            expect(show(lookup(root, keyBits, keyOf(probe))), probe).toBe(expected);
          }
        }
      }),
    );
  });

  it('finds neighbours as a sorted list does', () => {
    fc.assert(
      fc.property(dictCase, fc.boolean(), fc.boolean(), ({ keyBits, entries, probes }, inclusive, inTables) => {
        const sorted = [...entries.keys()].sort();
        const built = buildDictionary(
          keyBits,
          sorted.map((key) => [keyOf(key), builderOf(entries.get(key)!)]),
        );
        const root = inTables && built !== null ? inTable(built) : built;
        const entry = (found: { key: Uint8Array; value: Slice } | null) =>
          found === null ? undefined : [textOf(found.key, keyBits), describe(found.value)];
        const expected = (key: string | undefined) =>
          key === undefined ? undefined : [key, describeValue(entries.get(key)!)];
        for (const probe of probes) {
          const nearest = (direction: 'next' | 'previous') =>
            entry(lookupNearest(root, keyBits, keyOf(probe), { direction, inclusive }));
          const next = sorted.find((key) => key > probe || (inclusive && key === probe));
          const previous = sorted.findLast((key) => key < probe || (inclusive && key === probe));
          expect(nearest('next'), probe).toEqual(expected(next));
          expect(nearest('previous'), probe).toEqual(expected(previous));
        }
        expect(entry(minEntry(root, keyBits))).toEqual(expected(sorted[0]));
        expect(entry(maxEntry(root, keyBits))).toEqual(expected(sorted.at(-1)));
      }),
    );
  });
});

suite('looking up in a proof', () => {
  const keys = ['0000', '0001', '0110', '1000', '1011', '1111'];
  const full = inTable(
    buildDictionary(
      4,
      keys.map((key) => [keyOf(key), new Builder().storeBits(bitString(key)).storeRef(EMPTY_CELL)]),
    )!,
  );
  const tracker = new UsageTracker();
  const tracked = tracker.track(full);
  lookup(tracked, 4, keyOf('1011'));
  const proof = inTable(createMerkleProof(full, tracker));
  const pruned = proof.ref(0);

  it('touches the cells of one path only', () => {
    expect(tracker.size).toBe(4);
  });

  it('answers where the proof has the cells, and refuses where it has not', () => {
    expect(lookup(pruned, 4, keyOf('1011'))?.loadUint(4)).toBe(0b1011);
    // Absent keys that the cells of the path show to be absent.
    expect(lookup(pruned, 4, keyOf('1010'))).toBeNull();
    for (const key of ['0000', '0001', '0010', '1000', '1111']) {
      expect(
        errorCode(() => lookup(pruned, 4, keyOf(key))),
        key,
      ).toBe('cells/pruned-branch');
    }
    expect(errorCode(() => lookupNearest(pruned, 4, keyOf('1011'), { direction: 'next', inclusive: false }))).toBe(
      'cells/pruned-branch',
    );
    expect(errorCode(() => minEntry(pruned, 4))).toBe('cells/pruned-branch');
  });

  it('does not take the proof itself for a dictionary', () => {
    expect(errorCode(() => lookup(proof, 4, keyOf('0000')))).toBe('cells/exotic-not-expected');
    expect(errorCode(() => minEntry(proof, 4))).toBe('cells/exotic-not-expected');
  });
});

suite('what is no dictionary', () => {
  const leaf = new Builder().storeUint(0, 2).endCell();
  const of = (bits: string, refs: number) => {
    const builder = new Builder().storeBits(bitString(bits));
    for (let i = 0; i < refs; i++) builder.storeRef(leaf);
    return builder.endCell();
  };
  const table: [why: string, root: ReturnType<typeof of>, keyBits: number, key: string, code: string][] = [
    ['a key of another size', of('00', 2), 1, '00000000' + '0', 'cells/dict-key'],
    ['no bits at all', of('', 0), 4, '0000', 'cells/slice-underflow'],
    ['a label that ends too early', of('1010', 0), 4, '0000', 'cells/slice-underflow'],
    ['a label longer than the key', of('10101' + '00000', 0), 4, '0000', 'cells/dict-label'],
    ['a fork without references', of('00', 0), 4, '0000', 'cells/dict-fork'],
    ['a fork with one reference', of('00', 1), 4, '0000', 'cells/dict-fork'],
  ];

  it('is refused with a typed error, by look-up, nearest and in every kind of cell', () => {
    for (const [why, root, keyBits, key, code] of table) {
      for (const cell of [root, inTable(root), new UsageTracker().track(root)]) {
        expect(
          errorCode(() => lookup(cell, keyBits, keyOf(key))),
          why,
        ).toBe(code);
        expect(
          errorCode(() => lookupNearest(cell, keyBits, keyOf(key), { direction: 'next', inclusive: true })),
          why,
        ).toBe(code);
      }
    }
  });

  it('a leaf may hold anything, even nothing', () => {
    const root = inTable(of('00', 2));
    expect(lookup(root, 1, keyOf('1'))?.isEmpty).toBe(true);
    expect(openCell(root).remainingRefs).toBe(2);
  });
});
