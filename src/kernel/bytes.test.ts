import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesEqual,
  compareBytes,
  concatBytes,
  fromBase64,
  fromHex,
  int32At,
  toBase64,
  toBase64Url,
  toHex,
  toLatin1,
  uint64At,
} from '#kernel/bytes.js';

const bytes = (...values: number[]) => Uint8Array.from(values);

describe('hex', () => {
  it('goes both ways', () => {
    fc.assert(fc.property(fc.uint8Array(), (value) => bytesEqual(fromHex(toHex(value)) as Uint8Array, value)));
    expect(fromHex('00fFA0')).toEqual(bytes(0, 255, 160));
  });

  it('refuses what is not hex', () => {
    for (const text of ['0', '0g', 'zz', ' 00', '0x00']) expect(fromHex(text), text).toBeNull();
  });
});

describe('text and numbers of a view', () => {
  const view = fc
    .tuple(fc.uint8Array({ minLength: 8, maxLength: 200 }), fc.nat(50))
    .map(([value, before]) => [value, Uint8Array.from([...Array(before).keys(), ...value]).subarray(before)] as const);

  it('are those of its bytes', () => {
    fc.assert(
      fc.property(view, ([value, part]) => {
        const copy = Buffer.from(value);
        expect(toHex(part)).toBe(copy.toString('hex'));
        expect(toBase64(part)).toBe(copy.toString('base64'));
        expect(toBase64Url(part)).toBe(copy.toString('base64url'));
        expect(toLatin1(part)).toBe(copy.toString('latin1'));
        expect(toLatin1(part, 3)).toBe(copy.toString('latin1', 0, 3));
        const at = value.length - 8;
        expect(uint64At(part, at)).toBe(copy.readBigUInt64BE(at));
        expect(int32At(part, at)).toBe(copy.readInt32BE(at));
      }),
    );
  });
});

describe('base64', () => {
  it('goes both ways in both alphabets, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (value) => {
        const padded = toBase64(value);
        for (const text of [padded, padded.replace(/=+$/, ''), toBase64Url(value)]) {
          if (!bytesEqual(fromBase64(text) as Uint8Array, value)) return false;
        }
        return true;
      }),
    );
  });

  it('refuses mixed alphabets, stray bits, wrong padding and foreign characters', () => {
    for (const text of ['+_AA', 'A', 'AB', 'AAA==', 'AA=', 'A A=', 'AAAA=']) expect(fromBase64(text), text).toBeNull();
  });
});

describe('order and joining', () => {
  it('compares as unsigned bytes, a prefix first', () => {
    expect(compareBytes(bytes(1), bytes(255))).toBeLessThan(0);
    expect(compareBytes(bytes(2), bytes(1, 9))).toBeGreaterThan(0);
    expect(compareBytes(bytes(1), bytes(1, 0))).toBeLessThan(0);
    expect(compareBytes(bytes(1, 2), bytes(1, 2))).toBe(0);
  });

  it('distinguishes equal from different', () => {
    expect(bytesEqual(bytes(1, 2), bytes(1, 2))).toBe(true);
    expect(bytesEqual(bytes(1, 2), bytes(1, 3))).toBe(false);
    expect(bytesEqual(bytes(1), bytes(1, 0))).toBe(false);
  });

  it('joins parts in order', () => {
    expect(concatBytes(bytes(1), bytes(), bytes(2, 3))).toEqual(bytes(1, 2, 3));
    expect(concatBytes()).toEqual(bytes());
  });
});
