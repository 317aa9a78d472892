import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountLine, decimalsOf, integerOf, parseAmount } from './amount.js';

describe('an amount', () => {
  it.each([
    [0n, 9, '0'],
    [1n, 9, '0.000000001'],
    [1_500_000_000n, 9, '1.5'],
    [-1n, 9, '−0.000000001'],
    [123_456_789_012_345_678n, 9, '123,456,789.012345678'],
    [10n, 0, '10'],
    [2n ** 256n - 1n, 0, (2n ** 256n - 1n).toLocaleString('en-GB')],
    [5n, 255, `0.${'0'.repeat(254)}5`],
    // No token can have them: the units themselves.
    [1_000n, 256, '1,000'],
    [1_000n, -1, '1,000'],
    [1_000n, 1.5, '1,000'],
  ])('%s with %s decimals is %s', (units, decimals, text) => {
    expect(amountLine(units, decimals, 'en-GB')).toBe(text);
  });

  it('is written in the notation of the locale, in digits that stand beside addresses', () => {
    expect(amountLine(1_234_500_000_000n, 9, 'de-DE')).toBe('1.234,5');
    expect(amountLine(1_234_500_000_000n, 9, 'ar-EG')).toMatch(/^1.234.5$/);
  });

  it('is never rounded: reading what is shown gives the same units, up to 2^256', () => {
    const units = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 255 }), (value, decimals) => {
        const shown = amountLine(value, decimals, 'en-GB').replaceAll(',', '');
        const isNegative = shown.startsWith('−');
        const read = parseAmount(isNegative ? shown.slice(1) : shown, decimals);
        expect(read === null ? null : isNegative ? -read : read).toBe(value);
      }),
      { seed: 22, numRuns: 2_000 },
    );
  });

  it('agrees with division by a power of ten', () => {
    const units = fc.bigInt({ min: 0n, max: 2n ** 256n });
    fc.assert(
      fc.property(units, fc.integer({ min: 1, max: 80 }), (value, decimals) => {
        const scale = 10n ** BigInt(decimals);
        const [whole = '', fraction = ''] = amountLine(value, decimals, 'en-GB').replaceAll(',', '').split('.');
        expect(BigInt(whole)).toBe(value / scale);
        expect(BigInt(fraction.padEnd(decimals, '0'))).toBe(value % scale);
        expect(fraction.endsWith('0')).toBe(false);
      }),
      { seed: 23, numRuns: 1_000 },
    );
  });
});

describe('a typed amount', () => {
  it.each([
    ['1', 1_000_000_000n],
    ['1.5', 1_500_000_000n],
    ['1,5', 1_500_000_000n],
    [' 1 000.000000001 ', 1_000_000_000_001n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['', null],
    ['.', null],
    ['1.0000000001', null],
    ['-1', null],
    ['1e9', null],
    ['0x10', null],
    ['1.2.3', null],
    ['9'.repeat(81), null],
  ])('"%s" is %s', (text, units) => {
    expect(parseAmount(text, 9)).toBe(units);
  });
});

it('decimals of metadata are numbers or their texts; anything else counts as 9', () => {
  expect(['6', 6, '0', 0, undefined, null, '', 'x', '-1', 1.5, 256, '1000', {}].map(decimalsOf)).toEqual([
    ...[6, 6, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9],
  ]);
});

it('integers of answers are decimal texts or whole numbers', () => {
  expect(['12', 12, '-3', 1.5, '1.5', '', 'x', null, undefined, '1'.repeat(101)].map(integerOf)).toEqual([
    ...[12n, 12n, -3n, null, null, null, null, null, null, null],
  ]);
});
