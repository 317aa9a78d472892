/*
 * SHA-256 (FIPS 180-4 §6.2) in the page, which may not compile WebAssembly and whose own is asynchronous. Stands for what the codecs
 * use of `node:crypto`, and for `sha256-short.ts` (see vite.config.ts).
 */

const BLOCK = 64;

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);

/** First 32 bits of the fraction. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;
const INITIAL = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const CONSTANTS = primes.map((prime) => fraction(Math.cbrt(prime)));

const schedule = new Int32Array(64);

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Mixes the block that begins at `at` into the state. */
function mix(state: Int32Array, message: DataView, at: number): void {
  const w = schedule;
  for (let i = 0; i < 16; i++) w[i] = message.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const near = w[i - 2]!;
    const far = w[i - 15]!;
    const low = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3);
    const high = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10);
    w[i] = w[i - 16]! + low + w[i - 7]! + high;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const choice = g ^ (e & (f ^ g));
    const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + CONSTANTS[i]! + w[i]!) | 0;
    const majority = (a & b) | (c & (a | b));
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i]! += word;
}

/** @param algorithm `sha256` */
export function hash(algorithm: string, input: Uint8Array): Uint8Array {
  if (algorithm !== 'sha256') throw new RangeError(`${algorithm} is not there`);
  const padded = new Uint8Array(Math.ceil((input.length + 9) / BLOCK) * BLOCK);
  padded.set(input);
  padded[input.length] = 0x80;
  const message = new DataView(padded.buffer);
  message.setBigUint64(padded.length - 8, BigInt(input.length) * 8n);
  const state = Int32Array.from(INITIAL);
  for (let at = 0; at < padded.length; at += BLOCK) mix(state, message, at);
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  state.forEach((word, index) => {
    view.setInt32(index * 4, word);
  });
  return digest;
}

/** As in `sha256-short.ts`. */
export function sha256Short(input: Uint8Array, length: number, out: Uint8Array, offset: number): void {
  out.set(hash('sha256', input.subarray(0, length)), offset);
}
