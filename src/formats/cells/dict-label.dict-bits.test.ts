import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitAt, commonBits, copyBits, fillBits, putBit, readBits, runLength } from '#formats/cells/dict-label.js';
import { textOf } from '#test/support/dictionaries.js';

const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
const at = fc.nat(80);
const length = fc.nat(80);
const text = (array: Uint8Array, start: number, size: number) => textOf(array, 160).slice(start, start + size);

describe('bits of byte arrays, against texts of 0 and 1', () => {
  it('copies over what is there, and nothing beside it', () => {
    fc.assert(
      fc.property(bytes, bytes, at, at, length, (to, from, toAt, fromAt, size) => {
        const expected = text(to, 0, toAt) + text(from, fromAt, size) + text(to, toAt + size, 160);
        copyBits(to, toAt, from, fromAt, size);
        expect(text(to, 0, 160)).toBe(expected);
      }),
    );
  });

  it('fills and sets', () => {
    fc.assert(
      fc.property(bytes, at, length, fc.constantFrom(0, 1), (to, start, size, bit) => {
        const expected = text(to, 0, start) + String(bit).repeat(size) + text(to, start + size, 160);
        fillBits(to, start, bit, size);
        putBit(to, 159, bit);
        expect(text(to, 0, 160)).toBe(expected.slice(0, 159) + bit);
        expect(bitAt(to, 159)).toBe(bit);
      }),
    );
  });

  it('reads up to 16 bits', () => {
    fc.assert(
      fc.property(bytes, fc.nat(144), fc.nat(16), (from, start, size) => {
        expect(readBits(from, start, size)).toBe(Number.parseInt(text(from, start, size) || '0', 2));
      }),
    );
  });

  it('counts equal bits', () => {
    fc.assert(
      fc.property(bytes, at, at, length, fc.nat(200), fc.constantFrom(0, 1), (a, i, j, size, flip, bit) => {
        const b = new Uint8Array(20);
        copyBits(b, j, a, i, size);
        if (flip < 160) putBit(b, flip, 1 - bitAt(b, flip));
        let equal = 0;
        while (equal < size && bitAt(a, i + equal) === bitAt(b, j + equal)) equal++;
        expect(commonBits(a, i, b, j, size)).toBe(equal);
        fillBits(b, j, bit, size);
        if (flip < 160) putBit(b, flip, 1 - bitAt(b, flip));
        let run = 0;
        while (run < size && bitAt(b, j + run) === bit) run++;
        expect(runLength(b, j, bit, size)).toBe(run);
      }),
    );
  });
});
