import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { bigInt, bigUint, bits, bytes, constrained, grams, int, uint, varUint } from '#formats/tlb/codec/primitives.js';
import { BitString } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isTernError(error)) return error.code;
    throw error;
  }
  return 'none';
};

describe('integers', () => {
  it('come back as they went in, at every width', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 256 }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (width, seed) => {
        const unsigned = BigInt.asUintN(width, seed);
        const signed = BigInt.asIntN(width, seed);
        expect(decodeCell(bigUint(width), encodeCell(bigUint(width), unsigned))).toBe(unsigned);
        expect(decodeCell(bigInt(width), encodeCell(bigInt(width), signed))).toBe(signed);
        if (width <= 48) {
          expect(decodeCell(uint(width), encodeCell(uint(width), Number(unsigned)))).toBe(Number(unsigned));
          expect(decodeCell(int(width), encodeCell(int(width), Number(signed)))).toBe(Number(signed));
        }
      }),
    );
  });

  it.each([
    { codec: uint(8), value: 256 },
    { codec: uint(8), value: -1 },
    { codec: uint(8), value: 1.5 },
    { codec: uint(8), value: Number.NaN },
    { codec: int(8), value: 128 },
    { codec: int(8), value: -129 },
  ])('refuses $value as $codec.type', ({ codec, value }) => {
    expect(codeOf(() => encodeCell(codec, value))).toBe('cells/value-range');
  });
});

describe('VarUInteger', () => {
  it('comes back as it went in', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 120n - 1n }), (value) => {
        expect(decodeCell(grams, encodeCell(grams, value))).toBe(value);
      }),
    );
  });

  it('is written in its shortest form', () => {
    expect(encodeCell(grams, 0n).bits).toBe(4);
    expect(encodeCell(grams, 255n).bits).toBe(12);
    expect(encodeCell(grams, 256n).bits).toBe(20);
    expect(encodeCell(varUint(32), 1n).bits).toBe(13);
    expect(encodeCell(varUint(7), 1n).bits).toBe(11);
    expect(encodeCell(varUint(3), 1n).bits).toBe(10);
  });

  it.each([
    {
      name: 'a leading zero byte',
      codec: grams,
      cell: new Builder().storeUint(2, 4).storeUint(1, 16).endCell(),
      code: 'tlb/constraint',
    },
    {
      name: 'a length that is not below n',
      codec: varUint(7),
      cell: new Builder().storeUint(7, 3).storeUint(1, 56).endCell(),
      code: 'tlb/constraint',
    },
    {
      name: 'too few bits',
      codec: grams,
      cell: new Builder().storeUint(15, 4).storeUint(1, 8).endCell(),
      code: 'cells/slice-underflow',
    },
  ])('refuses $name', ({ codec, cell, code }) => {
    expect(codeOf(() => decodeCell(codec, cell))).toBe(code);
  });

  it('refuses to write what is too large or negative', () => {
    expect(codeOf(() => encodeCell(grams, 2n ** 120n))).toBe('tlb/constraint');
    expect(codeOf(() => encodeCell(grams, -1n))).toBe('tlb/constraint');
  });
});

describe('bit fields', () => {
  it('must have their length', () => {
    expect(codeOf(() => encodeCell(bytes(32), new Uint8Array(31)))).toBe('tlb/constraint');
    expect(codeOf(() => encodeCell(bits(5), new BitString(new Uint8Array([0xf0]), 4)))).toBe('tlb/constraint');
  });

  it('check their rule both ways', () => {
    const small = constrained(uint(5), 'depth <= 30', (depth) => depth <= 30);
    expect(decodeCell(small, encodeCell(small, 30))).toBe(30);
    expect(codeOf(() => encodeCell(small, 31))).toBe('tlb/constraint');
    expect(codeOf(() => decodeCell(small, new Builder().storeUint(31, 5).endCell()))).toBe('tlb/constraint');
  });
});
