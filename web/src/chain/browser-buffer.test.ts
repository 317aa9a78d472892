import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { BrowserBuffer } from './browser-buffer.js';
import { hash, sha256Short } from './browser-crypto.js';

const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7) % 256);
const ENCODINGS = ['hex', 'base64', 'base64url', 'latin1'] as const;

it('the Buffer of the page encodes and decodes as that of Node', () => {
  for (const length of [0, 1, 2, 3, 32, 33, 20_000]) {
    const part = bytes.subarray(0, length);
    const own = BrowserBuffer.from(part.buffer, part.byteOffset, part.length);
    for (const encoding of ENCODINGS) {
      const text = Buffer.from(part).toString(encoding);
      expect(own.toString(encoding), `${length} ${encoding}`).toBe(text);
      expect(BrowserBuffer.prototype[`${encoding}Slice`].call(part, 0, length), `${length} ${encoding}`).toBe(text);
      expect([...BrowserBuffer.from(text, encoding)], `${length} ${encoding}`).toEqual([...part]);
    }
  }
  expect(BrowserBuffer.from('ä€').toString()).toBe('ä€');
  expect(BrowserBuffer.alloc(36).toString('hex', 0, 2)).toBe('0000');
});

it('the SHA-256 of the page is that of Node', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 20_000]) {
    const part = bytes.subarray(0, length);
    const expected = createHash('sha256').update(part).digest('hex');
    expect(Buffer.from(hash('sha256', part)).toString('hex'), `${length} bytes`).toBe(expected);
    const out = new Uint8Array(40);
    sha256Short(bytes, length, out, 5);
    expect(Buffer.from(out.subarray(5, 37)).toString('hex'), `${length} bytes`).toBe(expected);
  }
});
