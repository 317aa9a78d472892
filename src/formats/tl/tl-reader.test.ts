import { describe, expect, it } from 'vitest';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

const hex = (text: string): Uint8Array => fromHex(text.replaceAll(' ', '')) as Uint8Array;

function written(write: (writer: TlWriter) => void): string {
  const writer = new TlWriter(1);
  write(writer);
  return toHex(writer.finish());
}

/** Both directions; the bytes stand inside of a bigger buffer. */
function expectForm<T>(
  bytes: string,
  value: T,
  load: (r: TlReader) => T,
  store: (w: TlWriter, value: T) => void,
): void {
  expect(written((writer) => store(writer, value))).toBe(bytes.replaceAll(' ', ''));
  const inner = hex(`ffffffffff${bytes}ffff`).subarray(5, -2);
  const reader = new TlReader(inner);
  expect(load(reader)).toEqual(value);
  reader.end();
}

describe('numbers', () => {
  it.each([
    ['00000000', 0],
    ['01000000', 1],
    ['fe010000', 510],
    ['ffffff7f', 2 ** 31 - 1],
  ])('# %s is %d', (bytes, value) => {
    expectForm(
      bytes,
      value,
      (r) => r.nat(),
      (w, v) => w.nat(v),
    );
  });

  it.each([
    ['ffffffff', -1],
    ['00000080', -(2 ** 31)],
    ['15cd5b07', 123456789],
  ])('int %s is %d', (bytes, value) => {
    expectForm(
      bytes,
      value,
      (r) => r.int(),
      (w, v) => w.int(v),
    );
  });

  it.each([
    ['0000000000000080', -(2n ** 63n)],
    ['ffffffffffffffff', -1n],
    ['ffffffffffffff7f', 2n ** 63n - 1n],
    ['0807060504030201', 0x0102030405060708n],
    ['00000080 00000000', 0x80000000n],
  ])('long %s is %d', (bytes, value) => {
    expectForm(
      bytes,
      value,
      (r) => r.long(),
      (w, v) => w.long(v),
    );
  });

  it('Bool is boxed', () => {
    expectForm(
      'b5757299',
      true,
      (r) => r.bool(),
      (w, v) => w.bool(v),
    );
    expectForm(
      '379779bc',
      false,
      (r) => r.bool(),
      (w, v) => w.bool(v),
    );
  });

  it('int256 is raw', () => {
    const value = Uint8Array.from({ length: 32 }, (_, i) => i);
    expectForm(
      toHex(value),
      value,
      (r) => r.int256(),
      (w, v) => w.int256(v),
    );
  });
});

describe('bytes', () => {
  it.each([
    ['00 000000', ''],
    ['01 aa 0000', 'aa'],
    ['02 aabb 00', 'aabb'],
    ['03 aabbcc', 'aabbcc'],
    ['04 aabbccdd 000000', 'aabbccdd'],
    [`fd ${'11'.repeat(253)} 0000`, '11'.repeat(253)],
    [`fe fe0000 ${'11'.repeat(254)} 0000`, '11'.repeat(254)],
    [`fe 000100 ${'11'.repeat(256)}`, '11'.repeat(256)],
  ])('%.16s', (bytes, value) => {
    expectForm(
      bytes,
      hex(value),
      (r) => r.bytes(),
      (w, v) => w.bytes(v),
    );
  });

  it('of 2^24 and one less change the form of the length', () => {
    for (const [length, header] of [
      [2 ** 24 - 1, 'feffffff'],
      [2 ** 24, 'ff00000001000000'],
      [2 ** 24 + 1, 'ff01000001000000'],
    ] as const) {
      const value = new Uint8Array(length).fill(7);
      const writer = new TlWriter();
      writer.bytes(value);
      const bytes = writer.finish();
      expect(toHex(bytes.subarray(0, header.length / 2))).toBe(header);
      expect(bytes.length % 4).toBe(0);
      const reader = new TlReader(bytes);
      expect(Buffer.compare(reader.bytes(), value)).toBe(0);
      reader.end();
    }
  });

  it('are the same when their length is known at the end only', () => {
    for (const length of [0, 1, 2, 3, 4, 5, 252, 253, 254, 255, 256, 70_000, 2 ** 24]) {
      const value = new Uint8Array(length).fill(length % 251).fill(1, 0, 5);
      const expected = new TlWriter();
      expected.int(-1);
      expected.bytes(value);
      const writer = new TlWriter(8);
      writer.int(-1);
      const start = writer.beginBytes();
      writer.raw(value);
      writer.endBytes(start);
      expect(Buffer.compare(writer.finish(), expected.finish()), String(length)).toBe(0);
    }
  });

  it.each([
    ['a longer form of the length than needed', 'fe 030000 aabbcc 00', 'aabbcc'],
    ['the longest form of the length', 'ff 03000000000000 aabbcc ff', 'aabbcc'],
    ['padding that is not zero', '01 aa ffff', 'aa'],
  ])('are read with %s', (_, bytes, value) => {
    const reader = new TlReader(hex(bytes));
    expect(toHex(reader.bytes())).toBe(value);
    reader.end();
  });

  it('are views', () => {
    const input = hex('03 aabbcc');
    const value = new TlReader(input).bytes();
    input[1] = 0;
    expect(toHex(value)).toBe('00bbcc');
  });
});

describe('strings', () => {
  it('are UTF-8', () => {
    expectForm(
      '05 41c3a9 c3a9 0000',
      'Aéé',
      (r) => r.string(),
      (w, v) => w.string(v),
    );
  });

  it('are read leniently: they are for people', () => {
    expect(new TlReader(hex('03 41ff42')).string()).toBe('A\ufffdB');
  });
});

describe('what cannot be read', () => {
  it.each<[string, string, (r: TlReader) => unknown, string, object]>([
    ['an int of 3 bytes', 'aabbcc', (r) => r.int(), 'tl/underflow', { byte: 0, wanted: 4, left: 3 }],
    ['a long of 7 bytes', 'aabbccddaabbcc', (r) => r.long(), 'tl/underflow', { byte: 4, wanted: 4, left: 3 }],
    ['an int256 of 31 bytes', '00'.repeat(31), (r) => r.int256(), 'tl/underflow', { byte: 0, wanted: 32, left: 31 }],
    ['a # with its highest bit', 'ffffffff', (r) => r.nat(), 'tl/negative-number', { byte: 0, value: -1 }],
    ['another Bool', '01000000', (r) => r.bool(), 'tl/unknown-constructor', { byte: 0, found: '0x00000001' }],
    ['bytes without all their padding', '01aabb', (r) => r.bytes(), 'tl/underflow', { byte: 0, wanted: 4, left: 3 }],
    ['bytes that are cut', '08aabbccddaabbcc', (r) => r.bytes(), 'tl/underflow', { byte: 0, wanted: 12, left: 8 }],
    ['bytes of 2^24 - 1', 'feffffff aabbccdd', (r) => r.bytes(), 'tl/underflow', { wanted: 2 ** 24 + 4, left: 8 }],
    ['bytes of 2^56 - 1', 'ffffffffffffffff aabbccdd', (r) => r.bytes(), 'tl/underflow', { byte: 0, left: 12 }],
    ['bytes that end in their length', 'ffaabbcc', (r) => r.bytes(), 'tl/underflow', { byte: 4, wanted: 4, left: 0 }],
    ['a vector of 2^32 - 1', 'ffffffff', (r) => r.count(4), 'tl/vector-length', { count: 2 ** 32 - 1, left: 0 }],
    ['a vector of one too many', '02000000 aabbccdd', (r) => r.count(4), 'tl/vector-length', { count: 2, left: 4 }],
    ['something after the end', '00', (r) => r.end(), 'tl/left-over', { byte: 0, left: 1 }],
  ])('%s', (_, bytes, read, code, data) => {
    const error = errorOf(() => read(new TlReader(hex(bytes))));
    expect(error.code).toBe(code);
    expect(error.data).toMatchObject(data);
  });
});

describe('what cannot be written', () => {
  it.each<[string, (w: TlWriter) => void, string]>([
    ['an int of 2^31', (w) => w.int(2 ** 31), 'tl/value-range'],
    ['an int of 1.5', (w) => w.int(1.5), 'tl/value-range'],
    ['an int that is no number', (w) => w.int(Number.NaN), 'tl/value-range'],
    ['a # of -1', (w) => w.nat(-1), 'tl/value-range'],
    ['a # of 2^31', (w) => w.nat(2 ** 31), 'tl/value-range'],
    ['a long of 2^63', (w) => w.long(2n ** 63n), 'tl/value-range'],
    ['a long of -2^63 - 1', (w) => w.long(-(2n ** 63n) - 1n), 'tl/value-range'],
    ['an int256 of 31 bytes', (w) => w.int256(new Uint8Array(31)), 'tl/value-length'],
  ])('%s', (_, write, code) => {
    expect(errorOf(() => write(new TlWriter())).code).toBe(code);
  });
});
