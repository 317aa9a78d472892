import { describe, expect, it } from 'vitest';
import { Builder } from '#formats/cells/builder.js';
import { openCell } from '#formats/cells/slice.js';
import { decodeCell, deferred, eagerRef, either, encodeCell, Lazy, maybe, ref } from '#formats/tlb/codec/codec.js';
import { any, bool, cellRef, grams, int32, uint, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, enumeration, group, record, union, variant, when } from '#formats/tlb/codec/record.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

const Point = record('point#a5 x:int32 y:int32 = Point;', { x: int32, y: int32 });
const Shape = union('Shape', [
  variant('circle$0 radius:uint32 = Shape;', { radius: uint32 }),
  variant('box$10 corner:^Point opposite:^Point = Shape;', { corner: ref(Point), opposite: eagerRef(Point) }),
  variant('blob$11 rest:Any = Shape;', { rest: any }),
]);
const Flagged = record(
  'flagged$_ flags:(## 8) size:uint64 label:flags . 0?uint32 part:(Part flags) ^[ deep:Grams deeper:Bool ] = Flagged;',
  {
    flags: uint(8),
    size: uint64,
    label: when('flags', (flags: number) => (flags & 1) !== 0, uint32),
    part: dependent('flags', (flags: number) => (flags > 1 ? maybe(uint(4)) : maybe(uint(6)))),
    '^1': group({ deep: grams, deeper: bool }),
  },
);

function codeAndPath(run: () => unknown): readonly [string, string] {
  try {
    run();
  } catch (error) {
    if (isTernError(error)) return [(error as TernError).code, error.path];
    throw error;
  }
  return ['none', ''];
}

describe('record', () => {
  it('writes the tag and the fields, and reads them again', () => {
    const cell = encodeCell(Point, { x: -1, y: 7 });
    expect(toHex(cell.bytes)).toBe('a5ffffffff00000007');
    expect(decodeCell(Point, cell)).toEqual({ x: -1, y: 7 });
  });

  it('names the field in which it fails, and the way to it', () => {
    const short = new Builder().storeUint(0xa5, 8).storeInt(1, 32).storeUint(0, 8).endCell();
    expect(codeAndPath(() => decodeCell(Point, short))).toEqual(['cells/slice-underflow', 'y']);
    const box = new Builder().storeUint(0b10, 2).storeRef(short).storeRef(short).endCell();
    expect(codeAndPath(() => decodeCell(Shape, box))).toEqual(['cells/slice-underflow', 'opposite.y']);
  });

  it('refuses another tag and leftovers', () => {
    const wrong = new Builder().storeUint(0xa4, 8).storeInt(1, 32).storeInt(1, 32).endCell();
    expect(codeAndPath(() => decodeCell(Point, wrong))).toEqual(['tlb/constructor-tag', '']);
    const long = new Builder().storeUint(0xa5, 8).storeInt(1, 32).storeInt(1, 33).endCell();
    expect(codeAndPath(() => decodeCell(Point, long))).toEqual(['cells/slice-not-empty', '']);
  });

  it.each([
    { flags: 0, size: 2n ** 64n - 1n, label: null, part: 33, deep: 0n, deeper: true },
    { flags: 3, size: 0n, label: 5, part: 9, deep: 10n ** 20n, deeper: false },
    { flags: 2, size: 1n, label: null, part: null, deep: 255n, deeper: false },
  ])('reads and writes conditional fields and grouped ones: %o', (value) => {
    expect(decodeCell(Flagged, encodeCell(Flagged, value))).toEqual(value);
  });

  it('refuses to write a conditional field that contradicts its flag', () => {
    const value = { flags: 1, size: 0n, label: null, part: null, deep: 0n, deeper: false };
    expect(codeAndPath(() => encodeCell(Flagged, value))).toEqual(['tlb/field-presence', 'label']);
    expect(codeAndPath(() => encodeCell(Flagged, { ...value, flags: 0, label: 1 }))).toEqual([
      'tlb/field-presence',
      'label',
    ]);
  });

  it('names a field inside a group', () => {
    const value = { flags: 0, size: 0n, label: null, part: null, deep: -1n, deeper: false };
    expect(codeAndPath(() => encodeCell(Flagged, value))).toEqual(['tlb/constraint', 'deep']);
  });

  it('refuses a declaration that does not follow its schema line', () => {
    expect(codeAndPath(() => record('p$_ x:int32 y:int32 = P;', { y: int32, x: int32 }))[0]).toBe(
      'tlb/schema-mismatch',
    );
    expect(codeAndPath(() => record('p$_ x:int32 y:int32 = P;', { x: int32 }))[0]).toBe('tlb/schema-mismatch');
    const late = { x: when('flags', Boolean, int32), flags: uint(8) };
    expect(codeAndPath(() => record('p$_ x:flags?int32 flags:(## 8) = P;', late))[0]).toBe('tlb/schema-mismatch');
  });
});

describe('union', () => {
  it('distinguishes constructors by tags of different lengths', () => {
    for (const value of [
      { kind: 'circle', radius: 4 },
      { kind: 'box', corner: Lazy.ofValue(Point, { x: 1, y: 2 }), opposite: { x: 3, y: 4 } },
    ] as const) {
      const again = decodeCell(Shape, encodeCell(Shape, value));
      expect(again.kind).toBe(value.kind);
      expect(encodeCell(Shape, again).hash()).toEqual(encodeCell(Shape, value).hash());
    }
  });

  it('compares long tags one by one', () => {
    const Wide = union('Wide', [
      variant('one#0ec3c86d a:Bool = Wide;', { a: bool }),
      variant('two#ad4de08e c:^Cell = Wide;', { c: cellRef }),
    ]);
    expect(decodeCell(Wide, encodeCell(Wide, { kind: 'one', a: true }))).toEqual({ kind: 'one', a: true });
    expect(
      codeAndPath(() => decodeCell(Wide, new Builder().storeUint(0x0ec3c86e, 32).storeBit(true).endCell()))[0],
    ).toBe('tlb/constructor-tag');
    expect(codeAndPath(() => decodeCell(Wide, new Builder().storeUint(0, 7).endCell()))[0]).toBe('tlb/constructor-tag');
  });

  it('refuses an unknown kind when writing', () => {
    expect(codeAndPath(() => encodeCell(Shape, { kind: 'line' } as never))[0]).toBe('tlb/unknown-variant');
  });

  it('reads constructors without fields as names', () => {
    const Colour = enumeration('Colour', { red: '$00', green: '$01', blue: '$1' });
    const cell = new Builder().storeUint(0b1_00_01, 5).endCell();
    const slice = openCell(cell);
    expect([Colour.load(slice), Colour.load(slice), Colour.load(slice)]).toEqual(['blue', 'red', 'green']);
    expect(slice.isEmpty).toBe(true);
    const builder = new Builder();
    for (const name of ['blue', 'red', 'green'] as const) Colour.store(name, builder);
    expect(builder.endCell().hash()).toEqual(cell.hash());
  });
});

describe('composites', () => {
  it('keeps the side of an Either', () => {
    const codec = either(uint32, ref(Point));
    for (const value of [
      { kind: 'left', value: 1 },
      { kind: 'right', value: Lazy.ofValue(Point, { x: 0, y: 0 }) },
    ] as const) {
      const cell = encodeCell(codec, value);
      expect(encodeCell(codec, decodeCell(codec, cell)).hash()).toEqual(cell.hash());
    }
  });

  it('reads types that contain themselves', () => {
    interface Chain {
      readonly value: number;
      readonly next: Lazy<Chain> | null;
    }
    const Chain: ReturnType<typeof deferred<Chain>> = record('chain$_ value:uint32 next:(Maybe ^Chain) = Chain;', {
      value: uint32,
      next: maybe(ref(deferred('Chain', (): typeof Chain => Chain))),
    });
    const cell = encodeCell(Chain, { value: 1, next: Lazy.ofValue(Chain, { value: 2, next: null }) });
    expect(decodeCell(Chain, cell).next?.value.value).toBe(2);
  });
});
