import { beginCell, type Builder as CoreBuilder } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { Slice } from '#formats/cells/slice.js';
import { BitString } from '#kernel/bytes.js';
import { expectSameTree } from '#test/support/cell-trees.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { bitsToBytes } from '#test/support/model-cell.js';

/** One thing to store, as both libraries are told, and how to see that a slice gives it back. */
interface Step {
  readonly bits: number;
  readonly refs: number;
  ours(builder: Builder): unknown;
  theirs(builder: CoreBuilder): unknown;
  check(slice: Slice): void;
}

const uints = fc.integer({ min: 0, max: 256 }).chain((bits) =>
  fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(
    (value): Step => ({
      bits,
      refs: 0,
      ours: (b) => b.storeUint(bits <= 48 && value % 2n === 0n ? Number(value) : value, bits),
      theirs: (b) => b.storeUint(value, bits),
      check: (s) => expect(bits <= 48 ? BigInt(s.loadUint(bits)) : s.loadUintBig(bits)).toBe(value),
    }),
  ),
);
const ints = fc.integer({ min: 1, max: 257 }).chain((bits) =>
  fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }).map(
    (value): Step => ({
      bits,
      refs: 0,
      ours: (b) => b.storeInt(bits <= 48 && value % 2n === 0n ? Number(value) : value, bits),
      theirs: (b) => b.storeInt(value, bits),
      check: (s) => expect(bits <= 48 ? BigInt(s.loadInt(bits)) : s.loadIntBig(bits)).toBe(value),
    }),
  ),
);
const buffers = fc.uint8Array({ maxLength: 40 }).map(
  (bytes): Step => ({
    bits: bytes.length * 8,
    refs: 0,
    ours: (b) => b.storeBytes(bytes),
    theirs: (b) => b.storeBuffer(Buffer.from(bytes)),
    check: (s) => expect(s.loadBytes(bytes.length)).toEqual(bytes),
  }),
);
const bitStrings = fc.array(fc.constantFrom('0', '1'), { maxLength: 70 }).map((all): Step => {
  const bits = all.join('');
  const ours = new BitString(new Uint8Array(bitsToBytes(bits)), bits.length);
  const theirs = beginCell();
  for (const bit of bits) theirs.storeBit(bit === '1');
  return {
    bits: bits.length,
    refs: 0,
    ours: (b) => b.storeBits(ours),
    theirs: (b) => b.storeBuilder(theirs),
    check: (s) => expect(s.loadBits(bits.length).toString()).toBe(ours.toString()),
  };
});
const singleBits = fc.boolean().map(
  (bit): Step => ({
    bits: 1,
    refs: 0,
    ours: (b) => b.storeBit(bit),
    theirs: (b) => b.storeBit(bit),
    check: (s) => expect(s.loadBit()).toBe(bit),
  }),
);
const coins = fc.bigInt({ min: 0n, max: 2n ** 120n - 1n }).map((value): Step => {
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return {
    bits: 4 + bytes * 8,
    refs: 0,
    ours: (b) => b.storeUint(bytes, 4).storeUint(value, bytes * 8),
    theirs: (b) => b.storeCoins(value),
    check: (s) => expect(s.loadUintBig(s.loadUint(4) * 8)).toBe(value),
  };
});
const refs = fc.nat(255).map((value): Step => {
  const ours = new Builder().storeUint(value, 8).endCell();
  return {
    bits: 0,
    refs: 1,
    ours: (b) => b.storeRef(ours),
    theirs: (b) => b.storeRef(beginCell().storeUint(value, 8).endCell()),
    check: (s) => expect(s.loadRef()).toBe(ours),
  };
});
const step: fc.Arbitrary<Step> = fc.oneof(uints, ints, buffers, bitStrings, singleBits, coins, refs);

/** As many of the steps as fit into a cell. */
const programs = fc.array(step, { maxLength: 30 }).map((steps) => {
  let [bits, references] = [0, 0];
  return steps.filter((next) => {
    if (bits + next.bits > 1023 || references + next.refs > 4) return false;
    bits += next.bits;
    references += next.refs;
    return true;
  });
});

describe('programs of stores', () => {
  it('give the cell of @ton/core, and loads give back what was stored', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const ours = new Builder();
        const theirs = beginCell();
        for (const next of program) {
          next.ours(ours);
          next.theirs(theirs);
        }
        expect([ours.bits, ours.refs]).toEqual([theirs.bits, theirs.refs]);
        expect([ours.remainingBits, ours.remainingRefs]).toEqual([1023 - theirs.bits, 4 - theirs.refs]);
        const cell = ours.endCell();
        expectSameTree(cell, theirs.endCell(), 'program');
        const slice = new Slice(cell);
        for (const next of program) next.check(slice);
        slice.end();
      }),
      { numRuns: 500 },
    );
  });

  it('copied through slices and builders at any offset stay the same', () => {
    fc.assert(
      fc.property(programs, fc.nat(1023), fc.nat(1023), (program, offset, cut) => {
        const source = new Builder();
        const theirs = beginCell();
        for (const next of program) {
          next.ours(source);
          next.theirs(theirs);
        }
        const lead = Math.min(offset, source.remainingBits);
        const at = Math.min(cut, source.bits);
        const cell = source.endCell();
        const front = new Slice(cell).take(at, 0);
        const back = new Slice(cell).skip(at);
        const rest = new Builder().storeSlice(back);
        expect(back.bitOffset, 'the slice does not move').toBe(at);
        const ours = new Builder().storeUint(0, lead).storeSlice(front).storeBuilder(rest).endCell();
        const expected = beginCell()
          .storeBuilder(beginCell().storeUint(0, lead))
          .storeSlice(theirs.endCell().asSlice());
        expectSameTree(ours, expected.endCell(), `${lead} ${at}`);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a builder', () => {
  it('may be used on after a cell was made of it, and may store itself', () => {
    const builder = new Builder().storeUint(5, 3).storeRef(EMPTY_CELL);
    const first = builder.endCell();
    builder.storeBuilder(builder);
    const second = builder.endCell();
    expect([first.bits, first.refCount, second.bits, second.refCount]).toEqual([3, 1, 6, 2]);
    expect(new Slice(second).loadUint(6)).toBe(0b101101);
    expect(new Slice(first).loadUint(3)).toBe(0b101);
  });

  it('takes bits after the last one of a string of bits for nothing', () => {
    const cell = new Builder()
      .storeBits(new BitString(Uint8Array.of(0xff), 3))
      .storeUint(0, 5)
      .endCell();
    expect(new Slice(cell).loadUint(8)).toBe(0b11100000);
  });
});

describe('what does not fit', () => {
  const range: readonly [string, (builder: Builder) => unknown, string][] = [
    ['uint8 256', (b) => b.storeUint(256, 8), 'uint8'],
    ['uint8 -1', (b) => b.storeUint(-1, 8), 'uint8'],
    ['uint0 1', (b) => b.storeUint(1, 0), 'uint0'],
    ['uint48 2^48', (b) => b.storeUint(2 ** 48, 48), 'uint48'],
    ['uint8 1.5', (b) => b.storeUint(1.5, 8), 'uint8'],
    ['uint8 NaN', (b) => b.storeUint(Number.NaN, 8), 'uint8'],
    ['uint64 2^53', (b) => b.storeUint(2 ** 53, 64), 'uint64'],
    ['uint64 2^64', (b) => b.storeUint(2n ** 64n, 64), 'uint64'],
    ['uint64 -1', (b) => b.storeUint(-1n, 64), 'uint64'],
    ['int8 128', (b) => b.storeInt(128, 8), 'int8'],
    ['int8 -129', (b) => b.storeInt(-129, 8), 'int8'],
    ['int8 0.5', (b) => b.storeInt(0.5, 8), 'int8'],
    ['int1 1', (b) => b.storeInt(1, 1), 'int1'],
    ['int0 1', (b) => b.storeInt(1, 0), 'int0'],
    ['int0 -1', (b) => b.storeInt(-1, 0), 'int0'],
    ['int0 -1n', (b) => b.storeInt(-1n, 0), 'int0'],
    ['int64 2^63', (b) => b.storeInt(2n ** 63n, 64), 'int64'],
    ['int257 -2^256-1', (b) => b.storeInt(-(2n ** 256n) - 1n, 257), 'int257'],
  ];
  it.each(range)('%s is out of range', (_name, run, type) => {
    const builder = new Builder();
    const error = errorOf(() => run(builder));
    expect([error.code, error.data.type, builder.bits]).toEqual(['cells/value-range', type, 0]);
  });

  it('at the edges of the range fits', () => {
    const builder = new Builder().storeInt(-128, 8).storeInt(127, 8).storeUint(255, 8).storeInt(-1, 1).storeInt(0, 1);
    builder
      .storeInt(0, 0)
      .storeUint(0, 0)
      .storeInt(-(2n ** 63n), 64)
      .storeUint(2 ** 53 - 1, 53)
      .storeInt(-(2 ** 52), 53);
    const slice = new Slice(builder.endCell());
    expect([slice.loadInt(8), slice.loadInt(8), slice.loadUint(8), slice.loadInt(1), slice.loadInt(1)]).toEqual([
      -128, 127, 255, -1, 0,
    ]);
    expect([slice.loadIntBig(64), slice.loadUintBig(53), slice.loadIntBig(53)]).toEqual([
      -(2n ** 63n),
      2n ** 53n - 1n,
      -(2n ** 52n),
    ]);
  });

  const full = () => new Builder().storeBytes(new Uint8Array(127)).storeUint(0, 6);
  const overflow: readonly [string, (builder: Builder) => unknown][] = [
    ['a uint', (b) => b.storeUint(0, 2)],
    ['a big uint', (b) => b.storeUint(0n, 64)],
    ['a uint wider than any cell', (b) => b.storeUint(0n, 2000)],
    ['an int', (b) => b.storeInt(0, 2)],
    ['bytes', (b) => b.storeBytes(new Uint8Array(1))],
    ['very many bytes', (b) => b.storeBytes(new Uint8Array(100_000))],
    ['bits', (b) => b.storeBits(new BitString(new Uint8Array(1), 2))],
    ['a slice', (b) => b.storeSlice(new Slice(new Builder().storeUint(0, 2).endCell()))],
    ['a builder', (b) => b.storeBuilder(new Builder().storeUint(0, 2))],
    [
      'the references of a builder',
      (b) => b.storeBuilder([0, 0, 0, 0].reduce((all) => all.storeRef(EMPTY_CELL), new Builder())).storeRef(EMPTY_CELL),
    ],
  ];
  it.each(overflow)('%s is too much for the cell', (_name, run) => {
    const builder = full();
    expect(errorCode(() => run(builder))).toBe('cells/cell-overflow');
    expect(builder.bits).toBe(1022);
    expect(errorCode(() => builder.storeBit(true).storeBit(true))).toBe('cells/cell-overflow');
    expect(builder.endCell().bits).toBe(1023);
  });

  it('a fifth reference', () => {
    const builder = new Builder();
    for (let i = 0; i < 4; i++) builder.storeRef(EMPTY_CELL);
    expect(errorOf(() => builder.storeRef(EMPTY_CELL)).data).toEqual({ bits: 0, refs: 5 });
  });
});
