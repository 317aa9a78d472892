import { expect, it } from 'vitest';
import { utf8Text } from '#kernel/utf8.js';

it.each([
  ['nothing', [], ''],
  ['ASCII', [0x41, 0, 0x7f], 'A\0\x7f'],
  ['several bytes for a character', [0xc3, 0xa9, 0xf0, 0x9f, 0x92, 0x8e], 'é💎'],
  ['a byte order mark, which stays', [0xef, 0xbb, 0xbf, 0x41], '\ufeffA'],
  ['a character that ends too early', [0x41, 0xf0, 0x9f], null],
  ['a surrogate', [0xed, 0xa0, 0x80], null],
  ['more bytes than a character needs', [0xc0, 0x80], null],
])('reads %s', (_, bytes, expected) => {
  expect(utf8Text(Uint8Array.from(bytes))).toBe(expected);
  expect(utf8Text(Uint8Array.from([0xff, ...bytes, 0xff]).subarray(1, -1))).toBe(expected);
});
