import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { DictLabel, readLabel, storeLabel } from '#formats/cells/dict-label.js';
import { openCell } from '#formats/cells/slice.js';
import { bitString, keyOf, textOf } from '#test/support/dictionaries.js';
import { errorCode } from '#test/support/error-code.js';

const write = (bits: string, left: number) => {
  const builder = new Builder();
  storeLabel(builder, keyOf(bits), 0, bits.length, left);
  const cell = builder.endCell();
  return textOf(cell.bytes, cell.bits);
};
const binary = (value: number, width: number) => (width === 0 ? '' : value.toString(2).padStart(width, '0'));
const widthOf = (left: number) => (left === 0 ? 0 : left.toString(2).length);
const forms = {
  short: (bits: string) => `0${'1'.repeat(bits.length)}0${bits}`,
  long: (bits: string, left: number) => `10${binary(bits.length, widthOf(left))}${bits}`,
  same: (bits: string, left: number) => `11${bits[0] ?? '0'}${binary(bits.length, widthOf(left))}`,
};
const isSame = (bits: string) => !(bits.includes('0') && bits.includes('1'));

/** Both readers, on the same bits in front of others. */
const read = (encoded: string, left: number, after = '') => {
  const cell = new Builder().storeBits(bitString(encoded + after)).endCell();
  const slice = openCell(cell);
  const bits = readLabel(slice, left);
  const label = new DictLabel();
  label.read(cell.bytes, 0, cell.bits, left);
  const key = new Uint8Array(bits.bytes.length).fill(0xff);
  label.copyTo(key, 0);
  expect(label.end, encoded).toBe(slice.bitOffset);
  expect(textOf(key, label.length), encoded).toBe(textOf(bits.bytes, bits.length));
  for (let i = 0; i < bits.length; i++) expect(label.bit(i)).toBe(bits.at(i));
  expect(label.matches(bits.bytes, 0)).toBe(bits.length);
  return { bits: textOf(bits.bytes, bits.length), rest: slice.remainingBits };
};

describe('writing a label', () => {
  it('takes the shortest form, and the short one of equals', () => {
    const table: [bits: string, left: number, encoded: string][] = [
      ['', 0, '00'],
      ['', 256, '00'],
      ['1', 1, '0101'],
      ['0', 352, '0100'],
      // Three bits of length: equal to the long form at 3 bits, so short.
      ['010', 7, '01110010'],
      ['010', 8, '01110010'],
      ['0101', 7, '101000101'],
      ['0101', 8, '0111100101'],
      ['0101', 15, '0111100101'],
      // same: 3 + width against 2 + 2·length.
      ['00', 3, '110' + '10'],
      ['00', 4, '011000'],
      ['11', 2, '111' + '10'],
      ['11', 3, '111' + '10'],
      ['11', 7, '011011'],
      ['111', 16, '011101' + '11'],
      ['111', 15, '111' + '0011'],
      ['000', 352, '01110000'],
      ['00000', 352, '011111000000'],
      ['000000', 352, '110' + '000000110'],
      ['1'.repeat(352), 352, '111' + '101100000'],
    ];
    for (const [bits, left, encoded] of table) expect(write(bits, left), `${bits} of ${left}`).toBe(encoded);
  });

  it('is the shortest of the three forms for every length and size of keys', () => {
    for (const left of [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 64, 255, 256, 511, 512, 1000]) {
      for (let length = 0; length <= Math.min(left, 60); length++) {
        for (const bits of [`${'0'.repeat(length)}`, `${'1'.repeat(length)}`, `${'1'.repeat(length)}0`.slice(1)]) {
          const possible = [forms.short(bits), forms.long(bits, left)];
          if (isSame(bits)) possible.push(forms.same(bits, left));
          const least = Math.min(...possible.map((form) => form.length));
          expect(write(bits, left)).toBe(possible.find((form) => form.length === least));
        }
      }
    }
  });
});

describe('reading a label', () => {
  it('takes every form, canonical or not', () => {
    fc.assert(
      fc.property(
        fc.nat(400),
        fc.array(fc.boolean(), { maxLength: 400 }),
        fc.boolean(),
        fc.nat(60),
        (spare, all, same, after) => {
          const bits = all.map((bit) => Number(same ? all[0] : bit)).join('');
          const left = bits.length + spare;
          for (const form of [
            forms.short(bits),
            forms.long(bits, left),
            ...(isSame(bits) ? [forms.same(bits, left)] : []),
          ]) {
            expect(read(form, left, '1'.repeat(after))).toEqual({ bits, rest: after });
          }
        },
      ),
    );
  });

  it('refuses what is no label', () => {
    const table: [encoded: string, left: number, code: string, why: string][] = [
      ['', 8, 'cells/slice-underflow', 'nothing'],
      ['0', 8, 'cells/slice-underflow', 'no end of the length'],
      ['0111', 8, 'cells/slice-underflow', 'no end of the length'],
      ['1', 8, 'cells/slice-underflow', 'half a tag'],
      ['10001', 8, 'cells/slice-underflow', 'short length field'],
      ['1111', 8, 'cells/slice-underflow', 'short length field'],
      ['011100', 8, 'cells/slice-underflow', 'bits missing (short)'],
      ['1000110', 8, 'cells/slice-underflow', 'bits missing (long)'],
      ['0111100000', 3, 'cells/dict-label', 'longer than the key (short)'],
      [`101001${'1'.repeat(9)}`, 8, 'cells/dict-label', 'longer than the key (long)'],
      ['1111001', 8, 'cells/dict-label', 'longer than the key (same)'],
      ['01001', 0, 'cells/dict-label', 'a bit where no key is left'],
    ];
    for (const [encoded, left, code, why] of table) {
      const cell = new Builder().storeBits(bitString(encoded)).endCell();
      expect(
        errorCode(() => readLabel(openCell(cell), left)),
        why,
      ).toBe(code);
      expect(
        errorCode(() => new DictLabel().read(cell.bytes, 0, cell.bits, left)),
        why,
      ).toBe(code);
    }
  });
});
