import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary, buildDictionary, checkDictionary } from '#formats/cells/dict-build.js';
import { countEntries, iterateEntries, lookup } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { builderOf, coreDictionary, dictCase, keyOf, sliceOf } from '#test/support/dictionaries.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { sums } from '#test/support/sum-augmentation.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

describe('building a dictionary', () => {
  it('gives the cells that @ton/core gives, whatever the order of the entries', () => {
    fc.assert(
      fc.property(dictCase, fc.boolean(), ({ keyBits, entries }, backwards) => {
        const input = [...entries].map(([key, value]) => [keyOf(key), builderOf(value)] as const);
        if (backwards) input.reverse();
        const ours = buildDictionary(keyBits, input);
        const theirs = coreDictionary(keyBits, entries);
        expect(ours === null ? null : toHex(ours.hash())).toBe(theirs?.hash().toString('hex') ?? null);
        if (ours !== null) checkDictionary(ours, keyBits);
      }),
      { numRuns: 300 },
    );
  });

  it('takes slices as values and leaves them where they stand', () => {
    const value = openCell(new Builder().storeUint(0xabcd, 16).storeRef(new Builder().endCell()).endCell());
    value.skip(8);
    const root = buildDictionary(8, [[keyOf('00000001'), value]])!;
    expect(value.remainingBits).toBe(8);
    const found = lookup(root, 8, keyOf('00000001'))!;
    expect([found.loadUint(8), found.remainingRefs, found.remainingBits]).toEqual([0xcd, 1, 0]);
  });

  it('knows the one dictionary whose keys have no bits', () => {
    const root = buildDictionary(0, [[new Uint8Array(0), new Builder().storeUint(5, 8)]])!;
    expect(lookup(root, 0, new Uint8Array(0))?.loadUint(8)).toBe(5);
    expect(countEntries(root, 0)).toBe(1);
    checkDictionary(root, 0);
  });

  it('refuses wrong keys, a key given twice and values that do not fit', () => {
    const one = new Builder().storeUint(1, 8);
    const table: [keyBits: number, keys: Uint8Array[], value: Builder, code: string][] = [
      [8, [new Uint8Array(2)], one, 'cells/dict-key'],
      [8, [new Uint8Array(0)], one, 'cells/dict-key'],
      [7, [new Uint8Array([1])], one, 'cells/dict-key'],
      [1024, [new Uint8Array(128)], one, 'cells/dict-key'],
      [-1, [], one, 'cells/dict-key'],
      [1.5, [], one, 'cells/dict-key'],
      [8, [keyOf('00000001'), keyOf('00000000'), keyOf('00000001')], one, 'cells/dict-duplicate-key'],
      [8, [keyOf('00000001'), keyOf('00000001')], one, 'cells/dict-duplicate-key'],
      [
        256,
        [keyOf('01'.repeat(128))],
        new Builder().storeBytes(new Uint8Array(95)).storeUint(0, 8),
        'cells/cell-overflow',
      ],
    ];
    for (const [keyBits, keys, value, code] of table) {
      expect(
        errorCode(() =>
          buildDictionary(
            keyBits,
            keys.map((key) => [key, value] as const),
          ),
        ),
        code,
      ).toBe(code);
    }
    expect(
      errorOf(() =>
        buildDictionary(8, [
          [keyOf('1'.repeat(8)), one],
          [keyOf('1'.repeat(8)), one],
        ]),
      ).message,
    ).toContain('ff');
  });
});

describe('building an augmented dictionary', () => {
  it('keeps at each node the extra over what is below', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.array(fc.tuple(fc.nat(), fc.nat(1000)), { maxLength: 30 }),
        (keyBits, list) => {
          const entries = new Map(
            list.map(([key, amount]) => [
              (key % 2 ** Math.min(keyBits, 31)).toString(2).padStart(keyBits, '0'),
              amount,
            ]),
          );
          const built = buildAugmentedDictionary(
            keyBits,
            [...entries].map(([key, amount]) => [keyOf(key), new Builder().storeUint(amount, 16)]),
            sums,
          );
          let total = 0;
          for (const amount of entries.values()) total += amount;
          expect(sliceOf(built.extra).loadUint(32)).toBe(total);
          expect(built.extra.refs).toBe(1);
          checkDictionary(built.root, keyBits, { augmentation: sums, rootExtra: sliceOf(built.extra) });
          for (const [key, amount] of entries) {
            const leaf = lookup(built.root, keyBits, keyOf(key))!;
            expect([leaf.loadUint(32), leaf.loadRef().bits, leaf.loadUint(16)]).toEqual([amount, 0, amount]);
            leaf.end();
          }
          expect(countEntries(built.root, keyBits)).toBe(entries.size);
        },
      ),
    );
  });
});

describe('real dictionaries', () => {
  /** The same dictionary from its entries. */
  const rebuilt = (root: Cell, keyBits: number) => {
    const entries = [...iterateEntries(root, keyBits, { plain: true })];
    return { count: entries.length, hash: toHex(buildDictionary(keyBits, entries.reverse())!.hash()) };
  };

  it('the config in the zerostate of mainnet, and the validators in it', () => {
    const state = parseBocRoot(readBytes(vectorPath('examples/zerostate.boc')));
    // The fourth reference is `custom:^McStateExtra`; in it, `config:ConfigParams` has its dictionary in the first.
    const config = state.ref(3).ref(0);
    checkDictionary(config, 32);
    expect(rebuilt(config, 32)).toEqual({ count: 21, hash: toHex(config.hash()) });
    const { list, total } = validators(config);
    checkDictionary(list, 16);
    expect(rebuilt(list, 16)).toEqual({ count: total, hash: toHex(list.hash()) });
  });

  it('a config whose labels another tool has written in longer forms: readable, but not what the network accepts', () => {
    const config = parseBocRoot(readBytes(vectorPath('examples/config.boc')));
    expect(errorCode(() => checkDictionary(config, 32))).toBe('cells/dict-label-form');
    const { count, hash } = rebuilt(config, 32);
    expect(count).toBe(30);
    expect(hash).not.toBe(toHex(config.hash()));
    checkDictionary(buildDictionary(32, iterateEntries(config, 32)), 32);
    const { list, total } = validators(config);
    checkDictionary(list, 16);
    expect(rebuilt(list, 16)).toEqual({ count: total, hash: toHex(list.hash()) });
  });
});

/**
 * Config parameter 34: `validators#11 utime_since:uint32 utime_until:uint32 total:(## 16) main:(## 16)
 * list:(Hashmap 16 ValidatorDescr)` or `validators_ext#12 … total_weight:uint64 list:(HashmapE 16 ValidatorDescr)`.
 */
function validators(config: Cell): { list: Cell; total: number } {
  const set = openCell(lookup(config, 32, new Uint8Array([0, 0, 0, 34]))!.loadRef());
  const tag = set.loadUint(8);
  const total = set.skip(64).loadUint(16);
  set.skip(16);
  if (tag === 0x12) return { list: set.skip(64 + 1).loadRef(), total };
  return { list: new Builder().storeSlice(set).endCell(), total };
}
