import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256, sha256Into } from '#formats/cells/digests.js';
import { toHex } from '#kernel/bytes.js';

const reference = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('sha256', () => {
  // FIPS 180-2 appendix B and the empty message.
  const rows: readonly [string, string][] = [
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ];
  it.each(rows)('of a published message', (text, hash) => {
    expect(toHex(sha256(Buffer.from(text)))).toBe(hash);
  });

  it('is right at every length around the ends of blocks and the change to the native routine', () => {
    for (let length = 0; length <= 400; length++) {
      for (const fill of [0, 0xff, 0x5a]) {
        const input = new Uint8Array(length).fill(fill);
        expect(toHex(sha256(input)), `${length} bytes`).toBe(reference(input));
      }
    }
  });

  it('of random bytes, out of a longer input, into the middle of an output', () => {
    const lengths = fc.nat(300);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 300, maxLength: 310 }), lengths, fc.nat(50), (input, length, offset) => {
        const out = new Uint8Array(offset + 40).fill(0xee);
        sha256Into(input, length, out, offset);
        expect(toHex(out.subarray(offset, offset + 32))).toBe(reference(input.subarray(0, length)));
        expect(out.filter((byte) => byte === 0xee).length).toBeGreaterThanOrEqual(offset + 8);
        expect(out.subarray(0, offset).every((byte) => byte === 0xee)).toBe(true);
        expect(out.subarray(offset + 32).every((byte) => byte === 0xee)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('may overwrite its own input', () => {
    const input = new Uint8Array(100).fill(3);
    const expected = reference(input);
    sha256Into(input, 100, input, 10);
    expect(toHex(input.subarray(10, 42))).toBe(expected);
  });
});
