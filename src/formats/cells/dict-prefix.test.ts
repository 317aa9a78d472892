import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import {
  buildPrefixDictionary,
  iteratePrefixEntries,
  lookupExactPrefix,
  lookupPrefix,
} from '#formats/cells/dict-prefix.js';
import type { Slice } from '#formats/cells/slice.js';
import { type BitString, toHex } from '#kernel/bytes.js';
import { bitString, describe, inTable, textOf } from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';

const cell = (bits: string, ...refs: Cell[]) => {
  const builder = new Builder().storeBits(bitString(bits));
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
};
const text = (key: BitString) => textOf(key.bytes, key.length);
const show = (entry: readonly [BitString, Slice] | null) =>
  entry === null ? null : [text(entry[0]), describe(entry[1])];
const build = (maxKeyBits: number, keys: readonly string[]) =>
  buildPrefixDictionary(
    maxKeyBits,
    keys.map((key) => [bitString(key), new Builder().storeBits(bitString(`1${key}`.slice(0, 100)))]),
  );
const valueOfKey = (key: string) => `1${key}`.slice(0, 100);

/** Keys none of which begins another: a random set, the longer of such two left out. */
const prefixCode = fc
  .array(
    fc.array(fc.boolean(), { maxLength: 300 }).map((bits) => bits.map(Number).join('')),
    { maxLength: 30 },
  )
  .map((keys) =>
    keys.filter((key, at) => !keys.some((other, i) => i !== at && key.startsWith(other) && (key !== other || i < at))),
  );

suite('a prefix dictionary', () => {
  it('is made of a label, and a leaf or a fork', () => {
    // PfxHashmap 4 with the keys 0, 10, 111.
    const expected = cell('001', cell('000' + '10'), cell('001', cell('000' + '110'), cell('0101' + '0' + '1111')));
    expect(toHex(build(4, ['111', '0', '10'])!.hash())).toBe(toHex(expected.hash()));
    // One key alone: the label says all of it, counted against the longest possible key.
    expect(toHex(build(8, ['10101'])!.hash())).toBe(toHex(cell('10' + '0101' + '10101' + '0' + '110101').hash()));
  });

  it('gives back what was put in', () => {
    fc.assert(
      fc.property(prefixCode, fc.nat(50), fc.array(fc.boolean(), { maxLength: 40 }), (keys, spare, more) => {
        const maxKeyBits = 300 + spare;
        const built = build(maxKeyBits, keys);
        const root = built === null ? null : inTable(built);
        const sorted = [...keys].sort();
        expect([...iteratePrefixEntries(root, maxKeyBits)].map(show)).toEqual(
          sorted.map((key) => [key, valueOfKey(key)]),
        );
        for (const key of keys) {
          const longer = key + more.map(Number).join('');
          expect(show(lookupPrefix(root, maxKeyBits, bitString(longer)))).toEqual([key, valueOfKey(key)]);
          expect(lookupExactPrefix(root, maxKeyBits, bitString(longer)) === null).toBe(more.length > 0);
          if (key.length > 0) {
            const shorter = key.slice(0, -1);
            expect(show(lookupPrefix(root, maxKeyBits, bitString(shorter)))).toBeNull();
            const turned = shorter + (key.endsWith('1') ? '0' : '1');
            const known = keys.find((other) => turned.startsWith(other));
            expect(show(lookupPrefix(root, maxKeyBits, bitString(turned)))?.[0]).toBe(known);
          }
        }
        expect(
          toHex(buildPrefixDictionary(maxKeyBits, iteratePrefixEntries(root, maxKeyBits))?.hash() ?? new Uint8Array(0)),
        ).toBe(toHex(built?.hash() ?? new Uint8Array(0)));
      }),
    );
  });

  it('refuses keys that cannot stand beside each other', () => {
    expect(errorCode(() => build(4, ['10', '1']))).toBe('cells/dict-key-prefix');
    expect(errorCode(() => build(4, ['', '1']))).toBe('cells/dict-key-prefix');
    expect(errorCode(() => build(4, ['10', '10']))).toBe('cells/dict-duplicate-key');
    expect(errorCode(() => build(4, ['10000']))).toBe('cells/dict-key');
    expect(errorCode(() => build(1024, []))).toBe('cells/dict-key');
  });

  it('refuses what is none', () => {
    const leaf = cell('000');
    const table: [why: string, root: Cell, maxKeyBits: number, code: string][] = [
      ['no bits', cell(''), 4, 'cells/slice-underflow'],
      ['no node', cell('00'), 4, 'cells/slice-underflow'],
      ['a label longer than the key', cell('01110000' + '0'), 2, 'cells/dict-label'],
      ['a fork without references', cell('001'), 4, 'cells/dict-fork'],
      ['a fork with one', cell('001', leaf), 4, 'cells/dict-fork'],
      ['a fork with three', cell('001', leaf, leaf, leaf), 4, 'cells/dict-fork'],
      ['a fork with more bits', cell('0010', leaf, leaf), 4, 'cells/dict-fork'],
      ['a fork where no key is left', cell('001', leaf, leaf), 0, 'cells/dict-fork'],
    ];
    for (const [why, root, maxKeyBits, code] of table) {
      expect(
        errorCode(() => lookupPrefix(root, maxKeyBits, bitString('0000'))),
        why,
      ).toBe(code);
      expect(
        errorCode(() => [...iteratePrefixEntries(inTable(root), maxKeyBits)]),
        why,
      ).toBe(code);
    }
    let shared = leaf;
    for (let i = 0; i < 100; i++) shared = cell('001', shared, shared);
    expect(errorCode(() => [...iteratePrefixEntries(inTable(shared), 100)])).toBe('cells/dict-too-large');
  });
});
