import fc from 'fast-check';
import { expect, it, describe as suite } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildVariableDictionary, iterateVariableEntries, lookupVariable } from '#formats/cells/dict-variable.js';
import type { Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { bitString, describe, inTable, textOf } from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';

const cell = (bits: string, ...refs: Cell[]) => {
  const builder = new Builder().storeBits(bitString(bits));
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
};
const show = (value: Slice | null) => (value === null ? null : describe(value));
const valueOfKey = (key: string) => `1${key}`.slice(0, 100);
const build = (maxKeyBits: number, keys: readonly string[]) =>
  buildVariableDictionary(
    maxKeyBits,
    keys.map((key) => [bitString(key), new Builder().storeBits(bitString(valueOfKey(key)))]),
  );
/** Keys of many lengths that often begin one another. */
const keySet = fc
  .tuple(
    fc.array(fc.boolean(), { minLength: 200, maxLength: 200 }),
    fc.array(fc.tuple(fc.nat(200), fc.array(fc.boolean(), { maxLength: 5 })), { maxLength: 30 }),
  )
  .map(([base, cuts]) => [
    ...new Set(cuts.map(([cut, more]) => [...base.slice(0, cut), ...more].map(Number).join(''))),
  ]);

suite('a dictionary with keys of any length', () => {
  it('is made of a label, and a leaf, a fork or a node on the way', () => {
    // VarHashmap 4 with the keys (empty), 0, 01, 1: a fork with a value; on its left a node on the way.
    const expected = cell(
      '00' + '01' + '1' + '1',
      cell('00' + '1' + '1' + '10', cell('00' + '00' + '101')),
      cell('00' + '00' + '11'),
    );
    expect(toHex(build(4, ['01', '', '1', '0'])!.hash())).toBe(toHex(expected.hash()));
    // A fork without a value of its own.
    expect(toHex(build(4, ['0', '1'])!.hash())).toBe(
      toHex(cell('00' + '01' + '0', cell('0000' + '10'), cell('0000' + '11')).hash()),
    );
  });

  it('gives back what was put in', () => {
    fc.assert(
      fc.property(keySet, fc.nat(50), (keys, spare) => {
        const maxKeyBits = 205 + spare;
        const built = build(maxKeyBits, keys);
        const root = built === null ? null : inTable(built);
        const entries = [...iterateVariableEntries(root, maxKeyBits)];
        expect(entries.map(([key, value]) => [textOf(key.bytes, key.length), describe(value)])).toEqual(
          [...keys].sort().map((key) => [key, valueOfKey(key)]),
        );
        const known = new Set(keys);
        for (const key of keys) {
          for (const probe of [key, `${key}0`, `${key}1`, key.slice(0, -1), key.slice(0, -3)]) {
            const value = lookupVariable(root, maxKeyBits, bitString(probe));
            expect(show(value), probe).toBe(known.has(probe) ? valueOfKey(probe) : null);
          }
        }
        expect(toHex(buildVariableDictionary(maxKeyBits, entries.reverse())?.hash() ?? new Uint8Array(0))).toBe(
          toHex(built?.hash() ?? new Uint8Array(0)),
        );
      }),
    );
  });

  it('refuses wrong keys', () => {
    expect(errorCode(() => build(4, ['10', '10']))).toBe('cells/dict-duplicate-key');
    expect(errorCode(() => build(4, ['10000']))).toBe('cells/dict-key');
  });

  it('refuses what is none', () => {
    const leaf = cell('0000');
    const table: [why: string, root: Cell, maxKeyBits: number, code: string][] = [
      ['no bits', cell(''), 4, 'cells/slice-underflow'],
      ['half a tag', cell('000'), 4, 'cells/slice-underflow'],
      ['a label longer than the key', cell('01110000' + '00'), 2, 'cells/dict-label'],
      ['a fork without references', cell('0001' + '0'), 4, 'cells/dict-fork'],
      ['a fork with one', cell('0001' + '0', leaf), 4, 'cells/dict-fork'],
      ['a fork without the bit of its value', cell('0001', leaf, leaf), 4, 'cells/slice-underflow'],
      ['a fork with more than no value', cell('0001' + '0' + '1', leaf, leaf), 4, 'cells/dict-fork'],
      ['a fork where no key is left', cell('0001' + '0', leaf, leaf), 0, 'cells/dict-fork'],
      ['a node on the way to nothing', cell('0010'), 4, 'cells/dict-fork'],
    ];
    for (const [why, root, maxKeyBits, code] of table) {
      expect(
        errorCode(() => lookupVariable(root, maxKeyBits, bitString('0000'))),
        why,
      ).toBe(code);
      expect(
        errorCode(() => [...iterateVariableEntries(inTable(root), maxKeyBits)]),
        why,
      ).toBe(code);
    }
    let shared = leaf;
    for (let i = 0; i < 100; i++) shared = cell('00010', shared, shared);
    expect(errorCode(() => [...iterateVariableEntries(inTable(shared), 100)])).toBe('cells/dict-too-large');
  });
});
