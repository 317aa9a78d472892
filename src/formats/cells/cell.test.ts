import { describe, expect, it } from 'vitest';
import { type ExoticShape, exoticLevelMask, hashIndex, popcount3 } from '#formats/cells/cell.js';

const shape = (tag: number, bits: number, refCount: number, more: Partial<ExoticShape> = {}): ExoticShape => ({
  tag,
  bits,
  refCount,
  second: 0,
  childMask: 0,
  ...more,
});

describe('level masks of exotic cells', () => {
  const rows: readonly [string, ExoticShape, number][] = [
    ...[1, 2, 3, 4, 5, 6, 7].map((mask): [string, ExoticShape, number] => {
      const stored = mask.toString(2).replace(/0/g, '').length;
      return [`pruned branch ${mask}`, shape(1, 16 + 272 * stored, 0, { second: mask }), mask];
    }),
    ['library reference', shape(2, 264, 0, { second: 7 }), 0],
    ['Merkle proof of plain cells', shape(3, 280, 1), 0],
    ...[1, 2, 3, 4, 5, 6, 7].map((mask): [string, ExoticShape, number] => [
      `Merkle proof over mask ${mask}`,
      shape(3, 280, 1, { childMask: mask }),
      Math.floor(mask / 2),
    ]),
    ['Merkle update', shape(4, 552, 2, { childMask: 5 }), 2],
  ];
  it.each(rows)('%s', (_name, cell, mask) => {
    expect(exoticLevelMask(cell)).toBe(mask);
  });
});

describe('malformed exotic cells', () => {
  const rows: readonly [string, ExoticShape, RegExp][] = [
    ['no data', shape(0, 0, 0), /type byte/],
    ['half a type byte', shape(1, 7, 0), /type byte/],
    ['type 0', shape(0, 8, 0), /type byte 0/],
    ['type 5', shape(5, 8, 0), /type byte 5/],
    ['type 255', shape(255, 8, 0), /type byte 255/],
    ['pruned branch with a reference', shape(1, 288, 1, { second: 1 }), /no references/],
    ['pruned branch without a mask', shape(1, 15, 0, { second: 1 }), /level mask/],
    ['pruned branch of level 0', shape(1, 16, 0, { second: 0 }), /1 to 7, not 0/],
    ['pruned branch of level 4', shape(1, 288, 0, { second: 8 }), /1 to 7, not 8/],
    ['pruned branch, a bit short', shape(1, 287, 0, { second: 1 }), /288 bits, not 287/],
    ['pruned branch, a hash short', shape(1, 288, 0, { second: 3 }), /560 bits, not 288/],
    ['pruned branch, a bit long', shape(1, 833, 0, { second: 7 }), /832 bits, not 833/],
    ['library reference, short', shape(2, 263, 0), /264 bits/],
    ['library reference, long', shape(2, 272, 0), /264 bits/],
    ['library reference with a reference', shape(2, 264, 1), /no reference/],
    ['Merkle proof, short', shape(3, 279, 1), /280 bits/],
    ['Merkle proof of nothing', shape(3, 280, 0), /1 reference/],
    ['Merkle proof of two', shape(3, 280, 2), /1 reference/],
    ['Merkle update, long', shape(4, 553, 2), /552 bits/],
    ['Merkle update of one', shape(4, 552, 1), /2 references/],
    ['Merkle update of three', shape(4, 552, 3), /2 references/],
  ];
  it.each(rows)('%s', (_name, cell, problem) => {
    expect(exoticLevelMask(cell)).toMatch(problem);
  });
});

describe('counting in level masks', () => {
  it('is counting bits', () => {
    for (let mask = 0; mask < 8; mask++) {
      const bits = [1, 2, 4].map((bit) => ((mask & bit) === 0 ? 0 : 1));
      expect(popcount3(mask), `mask ${mask}`).toBe(bits[0]! + bits[1]! + bits[2]!);
      for (let level = 0; level <= 4; level++) {
        const below = bits.slice(0, level).reduce<number>((sum, bit) => sum + bit, 0);
        expect(hashIndex(mask, level), `mask ${mask}, level ${level}`).toBe(below);
      }
    }
  });
});
