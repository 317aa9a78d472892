import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c, joinCrc32c } from '#formats/cells/digests.js';
import { bitwiseCrc32c } from '#test/support/boc-writer.js';

describe('crc32c', () => {
  // The check value of the catalogue of CRC algorithms, and the examples of RFC 3720 §B.4.
  const rows: readonly [string, Uint8Array, number][] = [
    ['nothing', new Uint8Array(0), 0],
    ['123456789', Buffer.from('123456789'), 0xe3069283],
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
    ['31 to 0', Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
  ];
  it.each(rows)('of %s', (_name, bytes, crc) => {
    expect(crc32c(bytes)).toBe(crc);
  });

  it('is what bit by bit gives, at all lengths and offsets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(9), (bytes, skip) => {
        const part = bytes.subarray(Math.min(skip, bytes.length));
        expect(crc32c(part)).toBe(bitwiseCrc32c(part));
      }),
      { numRuns: 300 },
    );
  });

  it('of a whole follows from those of its pieces', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.nat(5000), (bytes, at) => {
        const cut = Math.min(at, bytes.length);
        const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
        expect(joinCrc32c(crc32c(first), crc32c(second), second.length)).toBe(crc32c(bytes));
      }),
      { numRuns: 300 },
    );
  });
});
