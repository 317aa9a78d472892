import { sha256Block } from '#formats/cells/generated/sha256-block.js';

/**
 * Stands for `node:crypto` in the page (see vite.config.ts): the one function of it that the codecs use, for inputs that are
 * longer than a cell.
 *
 * @param algorithm `sha256`
 */
export function hash(algorithm: string, input: Uint8Array): Uint8Array {
  if (algorithm !== 'sha256') throw new RangeError(`${algorithm} is not there`);
  const state = Int32Array.of(
    ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
  );
  const whole = input.length - (input.length % 64);
  for (let at = 0; at < whole; at += 64) sha256Block(state, input, at);
  const rest = input.subarray(whole);
  const tail = new Uint8Array(rest.length < 56 ? 64 : 128);
  tail.set(rest);
  tail[rest.length] = 0x80;
  new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(input.length) * 8n);
  for (let at = 0; at < tail.length; at += 64) sha256Block(state, tail, at);
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  state.forEach((word, index) => {
    view.setInt32(index * 4, word);
  });
  return digest;
}
