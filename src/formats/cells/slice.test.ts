import { beginCell } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell, openExotic, Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { writeBoc } from '#test/support/boc-writer.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { ModelCell } from '#test/support/model-cell.js';

/** A cell with these bits, alone and as a part of a bag, where its data starts in the middle of other bytes. */
function cellsOf(bits: string): readonly Cell[] {
  const model = new ModelCell(bits);
  return [model.ours, parseBocRoot(writeBoc([model]))];
}

const bitText = (max: number) => fc.array(fc.constantFrom('0', '1'), { maxLength: max }).map((bits) => bits.join(''));

/** The bits as an integer, the slow way. */
const uint = (bits: string) => (bits === '' ? 0n : BigInt(`0b${bits}`));
const int = (bits: string) => BigInt.asIntN(bits.length, uint(bits));

describe('integers', () => {
  const widths = Array.from({ length: 257 }, (_, bits) => bits);

  it.each(['0', '1', '10', '01101'])('of all widths at all bit offsets, made of the pattern %s', (pattern) => {
    for (let offset = 0; offset < 9; offset++) {
      for (const bits of widths) {
        const value = pattern.repeat(bits).slice(0, bits);
        for (const cell of cellsOf(`${'1'.repeat(offset)}${value}1`)) {
          const name = `${bits} bits at ${offset}`;
          const at = () => new Slice(cell).skip(offset);
          expect(at().loadUintBig(bits), name).toBe(uint(value));
          expect(at().loadIntBig(bits), name).toBe(int(value));
          if (bits <= 48) {
            expect(at().loadUint(bits), name).toBe(Number(uint(value)));
            expect(at().preloadUint(bits), name).toBe(Number(uint(value)));
            expect(at().loadInt(bits), name).toBe(Number(int(value)));
          }
          const slice = at();
          slice.loadUintBig(bits);
          expect(slice.remainingBits, name).toBe(1);
          slice.loadIntBig(1);
          expect(slice.isEmpty, name).toBe(true);
        }
      }
    }
  });

  it('of random widths at random offsets', () => {
    fc.assert(
      fc.property(bitText(1023), fc.nat(1023), fc.nat(1023), (all, from, length) => {
        const start = Math.min(from, all.length);
        const value = all.slice(start, start + length);
        const [cell] = cellsOf(all) as [Cell];
        expect(new Slice(cell).skip(start).loadUintBig(value.length)).toBe(uint(value));
        expect(new Slice(cell).skip(start).loadIntBig(value.length)).toBe(int(value));
      }),
      { numRuns: 300 },
    );
  });

  it('of 1023 bits', () => {
    const bits = '1'.repeat(1023);
    const [cell] = cellsOf(bits) as [Cell];
    expect(new Slice(cell).loadUintBig(1023)).toBe(2n ** 1023n - 1n);
    expect(new Slice(cell).loadIntBig(1023)).toBe(-1n);
  });
});

describe('bytes and bits', () => {
  it('are those of @ton/core at every offset', () => {
    fc.assert(
      fc.property(bitText(1023), fc.nat(1023), fc.nat(1023), (all, from, length) => {
        const start = Math.min(from, all.length);
        const count = Math.min(length, all.length - start);
        const theirs = new ModelCell(all).core!.asSlice().skip(start);
        for (const cell of cellsOf(all)) {
          const slice = new Slice(cell).skip(start);
          const bits = slice.clone().loadBits(count);
          expect(bits.length).toBe(count);
          expect(bits.bytes.length).toBe((count + 7) >> 3);
          expect(bits.toString()).toBe(theirs.clone().loadBits(count).toString());
          for (let i = count; i < bits.bytes.length * 8; i++) expect(bits.at(i), 'padding').toBe(0);
          const whole = count >> 3;
          expect(toHex(slice.loadBytes(whole))).toBe(theirs.clone().loadBuffer(whole).toString('hex'));
          expect(slice.bitOffset).toBe(start + whole * 8);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('are copies', () => {
    const cell = new Builder().storeUint(0xabcd, 16).endCell();
    new Slice(cell).loadBytes(2).fill(0);
    new Slice(cell).loadBits(16).bytes.fill(0);
    expect(new Slice(cell).loadUint(16)).toBe(0xabcd);
  });
});

describe('moving', () => {
  const child = new Builder().storeUint(7, 8).endCell();
  const cell = new Builder().storeUint(0b10110, 5).storeRef(child).storeRef(EMPTY_CELL).endCell();

  it('keeps count of bits and references', () => {
    const slice = new Slice(cell);
    expect([slice.bitOffset, slice.remainingBits, slice.refOffset, slice.remainingRefs]).toEqual([0, 5, 0, 2]);
    expect([slice.loadBit(), slice.loadBit(), slice.preloadUint(3)]).toEqual([true, false, 6]);
    expect(toHex(slice.preloadRef(1).hash())).toBe(toHex(EMPTY_CELL.hash()));
    expect(slice.loadRef()).toBe(child);
    expect([slice.bitOffset, slice.remainingBits, slice.refOffset, slice.remainingRefs]).toEqual([2, 3, 1, 1]);
    expect(slice.isEmpty).toBe(false);
    slice.skip(3).loadRef();
    expect(slice.isEmpty).toBe(true);
    slice.end();
  });

  it('of a clone leaves the slice where it is', () => {
    const slice = new Slice(cell);
    const copy = slice.clone();
    copy.skip(3).loadRef();
    expect([slice.bitOffset, slice.refOffset, copy.bitOffset, copy.refOffset]).toEqual([0, 0, 3, 1]);
  });

  it('of a part does not leave the part', () => {
    const slice = new Slice(cell);
    const part = slice.skip(1).take(2, 1);
    expect([part.bitOffset, part.remainingBits, part.remainingRefs]).toEqual([1, 2, 1]);
    expect([slice.bitOffset, slice.remainingBits, slice.remainingRefs]).toEqual([3, 2, 1]);
    expect(errorOf(() => part.clone().loadUint(3)).data).toEqual({ bit: 1, wanted: 3, left: 2 });
    expect(part.loadUint(2)).toBe(0b01);
    expect(part.loadRef()).toBe(child);
    expect(errorOf(() => part.loadRef()).data).toEqual({ bit: 3, reference: 1 });
    expect(errorCode(() => part.loadBit())).toBe('cells/slice-underflow');
    const rest = slice.takeRest();
    expect([slice.isEmpty, rest.loadUint(2), rest.remainingRefs]).toEqual([true, 0b10, 1]);
  });
});

describe('reading past the end', () => {
  const cell = new Builder().storeUint(0, 20).storeRef(EMPTY_CELL).endCell();
  const underflow = 'cells/slice-underflow';
  const reference = 'cells/slice-no-reference';
  const rows: readonly [string, (slice: Slice) => unknown, string, object][] = [
    ['a bit', (s) => s.skip(16).loadBit(), underflow, { bit: 20, wanted: 1, left: 0 }],
    ['a uint', (s) => s.loadUint(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['a uint of 48', (s) => s.loadUint(48), underflow, { bit: 4, wanted: 48, left: 16 }],
    ['a uint, not moving', (s) => s.preloadUint(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['an int', (s) => s.loadInt(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['a big uint', (s) => s.loadUintBig(256), underflow, { bit: 4, wanted: 256, left: 16 }],
    ['a big uint of 40', (s) => s.loadUintBig(40), underflow, { bit: 4, wanted: 40, left: 16 }],
    ['a big int', (s) => s.loadIntBig(257), underflow, { bit: 4, wanted: 257, left: 16 }],
    ['a big int of 64', (s) => s.loadIntBig(64), underflow, { bit: 4, wanted: 64, left: 16 }],
    ['bytes', (s) => s.loadBytes(3), underflow, { bit: 4, wanted: 24, left: 16 }],
    ['bits', (s) => s.loadBits(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['a skip', (s) => s.skip(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['a part', (s) => s.take(17), underflow, { bit: 4, wanted: 17, left: 16 }],
    ['a part with references', (s) => s.take(1, 2), reference, { bit: 4, reference: 1 }],
    ['a reference', (s) => [s.loadRef(), s.loadRef()], reference, { bit: 4, reference: 1 }],
    ['a reference ahead', (s) => s.preloadRef(1), reference, { bit: 4, reference: 1 }],
    ['the end', (s) => s.end(), 'cells/slice-not-empty', { bit: 4, bits: 16, references: 1 }],
    [
      'the end, a reference left',
      (s) => s.skip(16).end(),
      'cells/slice-not-empty',
      { bit: 20, bits: 0, references: 1 },
    ],
  ];
  it.each(rows)('%s', (_name, run, code, data) => {
    for (const root of [cell, parseBocRoot(writeBoc([new ModelCell('0'.repeat(20), [new ModelCell('')])]))]) {
      const slice = new Slice(root).skip(4);
      const error = errorOf(() => run(slice));
      expect(error.code).toBe(code);
      expect(error.data).toEqual(data);
    }
  });

  it('does not move', () => {
    const slice = new Slice(cell).skip(4);
    for (const run of [
      () => slice.loadUint(17),
      () => slice.loadUintBig(40),
      () => slice.loadUintBig(100),
      () => slice.loadIntBig(64),
      () => slice.loadBytes(3),
      () => slice.loadBits(17),
      () => slice.take(1, 2),
    ]) {
      errorOf(run);
      expect([slice.bitOffset, slice.refOffset]).toEqual([4, 0]);
    }
  });
});

describe('opening', () => {
  const library = new Builder().storeUint(2, 8).storeBytes(new Uint8Array(32)).endExotic();
  const pruned = new Builder()
    .storeUint(0x0101, 16)
    .storeBytes(new Uint8Array(32).fill(9))
    .storeUint(0, 16)
    .endExotic();

  it('gives a slice of the right kind of cell', () => {
    expect(openCell(EMPTY_CELL).isEmpty).toBe(true);
    expect(openExotic(library, CellType.libraryReference).remainingBits).toBe(256);
  });

  it('refuses others and says which they are', () => {
    expect(errorOf(() => openCell(pruned)).toPlain()).toMatchObject({
      code: 'cells/pruned-branch',
      data: { hash: '09'.repeat(32) },
    });
    expect(errorOf(() => openExotic(pruned, CellType.merkleProof)).code).toBe('cells/pruned-branch');
    expect(errorOf(() => openCell(library)).toPlain()).toMatchObject({
      code: 'cells/exotic-not-expected',
      data: { hash: toHex(library.hash()), found: 'a library reference', wanted: 'an ordinary cell' },
    });
    expect(errorOf(() => openExotic(EMPTY_CELL, CellType.merkleUpdate)).data).toMatchObject({
      found: 'an ordinary cell',
      wanted: 'a Merkle update',
    });
  });

  it('of a cell of @ton/core reads what it wrote', () => {
    const theirs = beginCell()
      .storeUint(5, 7)
      .storeCoins(10n ** 18n)
      .storeRef(beginCell().endCell())
      .endCell();
    const slice = openCell(parseBocRoot(theirs.toBoc()));
    expect(slice.loadUint(7)).toBe(5);
    expect(slice.loadUintBig(slice.loadUint(4) * 8)).toBe(10n ** 18n);
    expect(slice.loadRef().bits).toBe(0);
    slice.end();
  });
});
