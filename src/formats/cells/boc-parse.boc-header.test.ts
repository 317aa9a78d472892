import { describe, expect, it } from 'vitest';
import { readBocHeader } from '#formats/cells/boc-parse.js';
import { assembleBoc, type BocParts, GENERIC, INDEXED, INDEXED_CRC32C } from '#test/support/boc-writer.js';
import { errorOf } from '#test/support/error-code.js';

/** Two cells: the first refers to the second. With `refSize` 1. */
const CELLS = [Uint8Array.of(1, 2, 0xaa, 1), Uint8Array.of(0, 2, 0xbb)];
const wide = (refSize: number) => [Uint8Array.of(1, 2, 0xaa, ...new Array(refSize - 1).fill(0), 1), CELLS[1]!];
const boc = (parts: Partial<BocParts> = {}) => assembleBoc({ cells: CELLS, ...parts });

describe('a good header', () => {
  const rows: readonly [string, Partial<BocParts>, object][] = [
    ['generic', {}, { hasIndex: false, hasCrc32c: false, hasCacheBits: false, cellsStart: 12, cellsEnd: 19 }],
    ['with index', { index: true }, { hasIndex: true, indexStart: 12, cellsStart: 16, cellsEnd: 23 }],
    ['with CRC32C', { crc32c: true }, { hasCrc32c: true, cellsStart: 12, cellsEnd: 19 }],
    [
      'with index and cache bits',
      { index: true, cacheBits: true },
      { hasIndex: true, hasCacheBits: true, cellsStart: 16 },
    ],
    [
      'with all',
      { index: true, cacheBits: true, crc32c: true },
      { hasIndex: true, hasCacheBits: true, hasCrc32c: true },
    ],
    ['with two roots', { roots: [0, 1] }, { roots: [0, 1], cellsStart: 13 }],
    ['with the same root twice', { roots: [1, 1] }, { roots: [1, 1] }],
    [
      'legacy, indexed',
      { magic: INDEXED },
      { magic: INDEXED, hasIndex: true, hasCrc32c: false, roots: [0], cellsStart: 15 },
    ],
    [
      'legacy, indexed, CRC32C',
      { magic: INDEXED_CRC32C },
      { magic: INDEXED_CRC32C, hasIndex: true, hasCrc32c: true, roots: [0] },
    ],
    ...[1, 2, 3, 4].map((refSize): [string, Partial<BocParts>, object] => [
      `with references of ${refSize} bytes`,
      { refSize, cells: wide(refSize) },
      { refSize, cellCount: 2, cellsEnd: 6 + 4 * refSize + 2 + 6 + refSize },
    ]),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((offsetSize): [string, Partial<BocParts>, object] => [
      `with offsets of ${offsetSize} bytes`,
      { offsetSize, index: true },
      { offsetSize, cellsStart: 10 + 3 * offsetSize },
    ]),
  ];
  it.each(rows)('%s', (_name, parts, expected) => {
    expect(readBocHeader(boc(parts))).toMatchObject({ magic: GENERIC, cellCount: 2, ...expected });
  });
});

describe('a bad header', () => {
  const rows: readonly [string, Uint8Array, string, object][] = [
    ['nothing', new Uint8Array(0), 'cells/boc-magic', { byte: 0, found: '' }],
    ['three bytes', Uint8Array.of(0xb5, 0xee, 0x9c), 'cells/boc-magic', { byte: 0, found: 'b5ee9c' }],
    ['another magic', boc({ magic: 0x12345678 }), 'cells/boc-magic', { byte: 0, found: '12345678' }],
    ['text', Buffer.from('te6ccgEBAQEAAgAAAA=='), 'cells/boc-magic', { byte: 0, found: '74653663' }],
    ['only a magic', boc().subarray(0, 4), 'cells/boc-truncated', { byte: 4, needed: 2, length: 4 }],
    ['references of 0 bytes', boc({ flags: 0 }), 'cells/boc-header', { byte: 4, field: 'reference size', value: 0 }],
    ['references of 5 bytes', boc({ flags: 5 }), 'cells/boc-header', { byte: 4, field: 'reference size', value: 5 }],
    ['a flag of nothing', boc({ flags: 0x09 }), 'cells/boc-header', { byte: 4, field: 'flags', value: 0x09 }],
    ['the other flag of nothing', boc({ flags: 0x11 }), 'cells/boc-header', { byte: 4, field: 'flags', value: 0x11 }],
    [
      'cache bits without index',
      boc({ cacheBits: true }),
      'cells/boc-header',
      { byte: 4, field: 'flags', value: 0x21 },
    ],
    [
      'flags of the generic magic in a legacy one',
      boc({ magic: INDEXED, flags: 0x81 }),
      'cells/boc-header',
      { byte: 4, value: 0x81 },
    ],
    ['offsets of 0 bytes', boc({ offsetSize: 0 }), 'cells/boc-header', { byte: 5, field: 'offset size', value: 0 }],
    ['offsets of 9 bytes', boc({ offsetSize: 9 }), 'cells/boc-header', { byte: 5, field: 'offset size', value: 9 }],
    ['no cells', boc({ cellCount: 0 }), 'cells/boc-header', { byte: 6, field: 'number of cells', value: 0 }],
    ['no roots', boc({ roots: [] }), 'cells/boc-header', { byte: 7, field: 'number of roots', value: 0 }],
    [
      'too many roots',
      boc({ refSize: 2, cells: wide(2), rootCount: 16385 }),
      'cells/boc-header',
      { byte: 8, field: 'number of roots', value: 16385 },
    ],
    [
      'more roots than bytes',
      boc({ refSize: 2, cells: wide(2), rootCount: 16384 }),
      'cells/boc-truncated',
      { byte: 14, needed: 32768 },
    ],
    [
      'two roots in a legacy one',
      boc({ magic: INDEXED, rootCount: 2 }),
      'cells/boc-header',
      { byte: 7, field: 'number of roots', value: 2, allowed: '1' },
    ],
    ['absent cells', boc({ absentCount: 1 }), 'cells/boc-absent-cells', { byte: 8, absent: 1 }],
    [
      'cells in too few bytes',
      boc({ cellCount: 4 }),
      'cells/boc-header',
      { byte: 9, field: 'total size of the cells', value: 7 },
    ],
    [
      '4 billion cells',
      boc({ refSize: 4, cells: wide(4), cellCount: 0xffffffff }),
      'cells/boc-header',
      { byte: 18, field: 'total size of the cells', value: 10 },
    ],
    [
      '4 billion cells in 8 billion bytes',
      boc({ refSize: 4, offsetSize: 8, cells: wide(4), cellCount: 0xffffffff, cellBytes: 8589934590 }),
      'cells/boc-truncated',
      { byte: 30 },
    ],
    ['2^64 bytes', boc({ offsetSize: 8, cellBytes: 2 ** 64 - 2048 }), 'cells/boc-truncated', { byte: 18 }],
    [
      'a root beyond the cells',
      boc({ roots: [2] }),
      'cells/boc-header',
      { byte: 11, field: 'root', value: 2, allowed: '0 to 1' },
    ],
    [
      'a second root beyond the cells',
      boc({ roots: [0, 255] }),
      'cells/boc-header',
      { byte: 12, field: 'root', value: 255 },
    ],
    ['a byte less', boc().subarray(0, 18), 'cells/boc-truncated', { byte: 12, needed: 7, length: 18 }],
    ['a byte more', Buffer.concat([boc(), Uint8Array.of(0)]), 'cells/boc-trailing-bytes', { byte: 19, length: 20 }],
    [
      'another checksum',
      boc({ crc32c: true, checksum: 0x01020304 }),
      'cells/boc-crc',
      { byte: 19, stored: '01020304' },
    ],
    [
      'another checksum in a legacy one',
      boc({ magic: INDEXED_CRC32C, checksum: 0 }),
      'cells/boc-crc',
      { byte: 22, stored: '00000000' },
    ],
  ];
  it.each(rows)('%s', (_name, bytes, code, data) => {
    const error = errorOf(() => readBocHeader(bytes));
    expect(error.code, error.message).toBe(code);
    expect(error.data, error.message).toMatchObject(data);
    expect(error.class).toBe('caller');
  });
});
