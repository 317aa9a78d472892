import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary, buildDictionary } from '#formats/cells/dict-build.js';
import {
  mergeAugmentedDictionaries,
  mergeDictionaries,
  splitAugmentedDictionary,
  splitDictionary,
} from '#formats/cells/dict-edit.js';
import { toHex } from '#kernel/bytes.js';
import { bitString, builderOf, describe, dictCase, inTable, keyOf, sliceOf } from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';
import { sums } from '#test/support/sum-augmentation.js';

const hash = (cell: Cell | null) => (cell === null ? null : toHex(cell.hash()));
const amounts = fc.array(fc.tuple(fc.nat(255), fc.nat(500)), { maxLength: 30 }).map((list) => new Map(list));
const summed = (entries: Iterable<readonly [number, number]>) =>
  buildAugmentedDictionary(
    8,
    [...entries].map(([key, amount]) => [new Uint8Array([key]), new Builder().storeUint(amount, 16)]),
    sums,
  );

suite('splitting', () => {
  it('gives the dictionary of all keys with a beginning', () => {
    fc.assert(
      fc.property(dictCase, fc.nat(), ({ keyBits, entries, probes }, cut) => {
        const build = (keep: (key: string) => boolean) =>
          buildDictionary(
            keyBits,
            [...entries].filter(([key]) => keep(key)).map(([key, value]) => [keyOf(key), builderOf(value)]),
          );
        const built = build(() => true);
        const root = built !== null && cut % 2 === 0 ? inTable(built) : built;
        for (const probe of probes) {
          const prefix = probe.slice(0, cut % (keyBits + 1));
          const part = splitDictionary(root, keyBits, bitString(prefix));
          expect(hash(part), prefix).toBe(hash(build((key) => key.startsWith(prefix))));
        }
      }),
    );
  });

  it('keeps the extras of augmented ones', () => {
    fc.assert(
      fc.property(amounts, fc.nat(8), fc.nat(255), (entries, length, start) => {
        const prefix = start.toString(2).padStart(8, '0').slice(0, length);
        const part = splitAugmentedDictionary(summed(entries).root, 8, bitString(prefix), sums);
        const expected = summed([...entries].filter(([key]) => key.toString(2).padStart(8, '0').startsWith(prefix)));
        expect(hash(part.root)).toBe(hash(expected.root));
        expect(describe(sliceOf(part.extra))).toBe(describe(sliceOf(expected.extra)));
      }),
    );
  });

  it('refuses a prefix longer than the keys', () => {
    expect(errorCode(() => splitDictionary(null, 8, bitString('000000000')))).toBe('cells/dict-key');
  });
});

suite('merging', () => {
  it('gives the dictionary of the entries of both, however they are mixed', () => {
    fc.assert(
      fc.property(dictCase, fc.infiniteStream(fc.boolean()), ({ keyBits, entries }, sides) => {
        const list = [...entries].map(([key, value]) => ({
          entry: [keyOf(key), builderOf(value)] as const,
          isLeft: sides.next().value,
        }));
        const side = (isLeft: boolean) =>
          buildDictionary(
            keyBits,
            list.filter((item) => item.isLeft === isLeft).map(({ entry }) => entry),
          );
        const whole = buildDictionary(
          keyBits,
          list.map(({ entry }) => entry),
        );
        expect(hash(mergeDictionaries(side(true), side(false), keyBits))).toBe(hash(whole));
        expect(hash(mergeDictionaries(side(false), side(true), keyBits))).toBe(hash(whole));
      }),
    );
  });

  it('undoes a split by the first bit, extras included', () => {
    fc.assert(
      fc.property(amounts, (entries) => {
        const whole = summed(entries);
        const half = (bit: string) => splitAugmentedDictionary(whole.root, 8, bitString(bit), sums).root;
        const merged = mergeAugmentedDictionaries(half('0'), half('1'), 8, sums);
        expect(hash(merged.root)).toBe(hash(whole.root));
        expect(describe(sliceOf(merged.extra))).toBe(describe(sliceOf(whole.extra)));
      }),
    );
  });

  it('refuses a key that both have, and dictionaries that would keep it busy for ever', () => {
    const one = buildDictionary(8, [
      [new Uint8Array([0xa5]), new Builder()],
      [new Uint8Array([0x11]), new Builder()],
    ]);
    const other = buildDictionary(8, [[new Uint8Array([0xa5]), new Builder().storeUint(1, 1)]]);
    expect(errorCode(() => mergeDictionaries(one, other, 8))).toBe('cells/dict-duplicate-key');
    const wide = (bit: number) => {
      // 2^60 keys that all end with the bit.
      let cell = new Builder().storeUint(0b010, 3).storeUint(bit, 1).endCell();
      for (let i = 0; i < 60; i++) cell = new Builder().storeUint(0, 2).storeRef(cell).storeRef(cell).endCell();
      return cell;
    };
    expect(errorCode(() => mergeDictionaries(wide(0), wide(1), 61))).toBe('cells/dict-too-large');
  });
});
