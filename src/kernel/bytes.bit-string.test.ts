import { BitString as CoreBitString } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitString } from '#kernel/bytes.js';
import { bitsToBytes } from '#test/support/model-cell.js';

const of = (bits: string) => new BitString(new Uint8Array(bitsToBytes(bits)), bits.length);

describe('a string of bits', () => {
  const rows: readonly [string, string][] = [
    ['', ''],
    ['0', '4_'],
    ['1', 'C_'],
    ['00', '2_'],
    ['000', '1_'],
    ['0000', '0'],
    ['1111', 'F'],
    ['11111', 'FC_'],
    ['0000000', '01_'],
    ['11000000', 'C0'],
    ['110000001', 'C0C_'],
  ];
  it.each(rows)('%j prints as %j', (bits, text) => {
    expect(of(bits).toString()).toBe(text);
  });

  it('prints as in @ton/core, and gives each bit', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('0', '1'), { maxLength: 1023 }), (all) => {
        const bits = of(all.join(''));
        expect(bits.toString()).toBe(new CoreBitString(Buffer.from(bits.bytes), 0, bits.length).toString());
        expect(all.map((_, i) => String(bits.at(i)))).toEqual(all);
      }),
    );
  });
});
