import { hash as nativeHash } from 'node:crypto';
import { sha256Block } from '#formats/cells/generated/sha256-block.js';

/** From this length on, the native routine (with SHA instructions) beats the one in JavaScript in spite of its call cost. */
const NATIVE_FROM = 230;

const state = new Int32Array(8);
const tail = new Uint8Array(128);

/**
 * SHA-256 of `input[0, length)`, written to `out` at `offset`.
 *
 * Short inputs, which nearly all cells are, are hashed without leaving JavaScript. `input` may be longer than `length`.
 */
export function sha256Into(input: Uint8Array, length: number, out: Uint8Array, offset: number): void {
  if (length >= NATIVE_FROM) {
    out.set(nativeHash('sha256', input.subarray(0, length), 'buffer'), offset);
    return;
  }
  const s = state;
  s[0] = 0x6a09e667;
  s[1] = 0xbb67ae85;
  s[2] = 0x3c6ef372;
  s[3] = 0xa54ff53a;
  s[4] = 0x510e527f;
  s[5] = 0x9b05688c;
  s[6] = 0x1f83d9ab;
  s[7] = 0x5be0cd19;
  let at = 0;
  for (; at + 64 <= length; at += 64) sha256Block(s, input, at);
  const t = tail;
  let end = 0;
  for (; at < length; at++) t[end++] = input[at]!;
  t[end++] = 0x80;
  const total = end <= 56 ? 64 : 128;
  t.fill(0, end, total - 2);
  const bits = length * 8;
  t[total - 2] = bits >>> 8;
  t[total - 1] = bits;
  sha256Block(s, t, 0);
  if (total === 128) sha256Block(s, t, 64);
  for (let i = 0; i < 8; i++) {
    const word = s[i]!;
    const o = offset + i * 4;
    out[o] = word >>> 24;
    out[o + 1] = word >>> 16;
    out[o + 2] = word >>> 8;
    out[o + 3] = word;
  }
}

/** SHA-256 of `input` (any length), 32 new bytes. */
export function sha256(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(32);
  sha256Into(input, input.length, out, 0);
  return out;
}
