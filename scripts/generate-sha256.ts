/**
 * Writes src/formats/cells/generated/sha256-wasm.ts: SHA-256 (FIPS 180-4 §6.2) of a short message as a WebAssembly module. It is as
 * quick as an unrolled function of JavaScript that V8 has optimized, from the first call on; that function takes 15 times as long
 * until then.
 *
 * Memory: the digest at 0, the message at 64, the round constants behind it. `digest(length)` pads and hashes the message.
 */
import { writeFileSync } from 'node:fs';
import { toBase64 } from '../src/kernel/bytes.js';

type Code = readonly number[];

const DIGEST = 0;
const MESSAGE = 64;
const CONSTANTS = 512;
const BLOCK = 64;
const ROUNDS_AT_ONCE = 16;

const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);

/** First 32 bits of the fraction of a root of a prime, exactly. @param degree 2 or 3 */
function rootFraction(prime: number, degree: 2 | 3): number {
  const scaled = BigInt(prime) << BigInt(32 * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= scaled) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn) | 0;
}

const initial = primes.slice(0, 8).map((prime) => rootFraction(prime, 2));
const constants = primes.map((prime) => rootFraction(prime, 3));

// Instructions (WebAssembly core specification, §5.4)

const ADD = 0x6a;
const SUB = 0x6b;
const AND = 0x71;
const OR = 0x72;
const XOR = 0x73;
const SHL = 0x74;
const SHR_U = 0x76;
const ROTL = 0x77;
const ROTR = 0x78;
const LT_U = 0x49;
const END = 0x0b;
const MEMORY_FILL: Code = [0xfc, 11, 0];
const LOOP: Code = [0x03, 0x40];
/** To the begin of the innermost loop. */
const BRANCH_IF: Code = [0x0d, 0];
const I32 = 0x7f;

function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}

const get = (local: number): Code => [0x20, ...unsigned(local)];
const set = (local: number): Code => [0x21, ...unsigned(local)];
const tee = (local: number): Code => [0x22, ...unsigned(local)];
const number = (value: number): Code => [0x41, ...signed(value)];
const load = (offset: number): Code => [0x28, 2, ...unsigned(offset)];
const store = (offset: number): Code => [0x36, 2, ...unsigned(offset)];
const storeByte = (offset: number): Code => [0x3a, 0, ...unsigned(offset)];
const rotated = (local: number, bits: number): Code => [...get(local), ...number(bits), ROTR];
/** Big-endian for little-endian. */
const swapped = (local: number): Code => [
  ...[...get(local), ...number(8), ROTL, ...number(0x00ff00ff), AND],
  ...[...get(local), ...number(8), ROTR, ...number(0xff00ff00 | 0), AND, OR],
];

// Locals: the parameter first
const LENGTH = 0;
const AT = 1;
const TO = 2;
const WORKING = 3;
const SCHEDULE = 11;
const SUM = 27;
const STATE = 28;
const CONSTANT = 36;
const LOCALS = 36;

const code: number[] = [];
const emit = (...parts: readonly (Code | number)[]): void => void code.push(...parts.flat());

// Padding: 0x80, zeros, the length in bits
emit(get(LENGTH), number(0x80), storeByte(MESSAGE));
emit(get(LENGTH), number(9 + BLOCK - 1), ADD, number(-BLOCK), AND, set(TO));
emit(get(LENGTH), number(MESSAGE + 1), ADD, number(0), get(TO), get(LENGTH), SUB, number(1), SUB, MEMORY_FILL);
emit(get(TO), get(LENGTH), number(5), SHR_U, storeByte(MESSAGE - 2));
emit(get(TO), get(LENGTH), number(3), SHL, storeByte(MESSAGE - 1));

let names = Array.from({ length: 8 }, (_, i) => WORKING + i) as [
  ...[number, number, number, number],
  ...[number, number, number, number],
];

/** @param constant pushes the constant of the round */
function round(constant: Code, word: number): void {
  const [a, b, c, d, e, f, g, h] = names;
  emit(get(h), rotated(e, 6), rotated(e, 11), XOR, rotated(e, 25), XOR, ADD);
  emit(get(g), get(e), get(f), get(g), XOR, AND, XOR, ADD, constant, ADD, get(word), ADD, tee(SUM));
  emit(get(d), ADD, set(d));
  emit(get(SUM), rotated(a, 2), rotated(a, 13), XOR, rotated(a, 22), XOR, ADD);
  emit(get(a), get(b), AND, get(c), get(a), get(b), OR, AND, OR, ADD, set(h));
  names = [h, a, b, c, d, e, f, g];
}

const word = (i: number): number => SCHEDULE + (i % ROUNDS_AT_ONCE);

for (const [i, value] of initial.entries()) emit(number(value), set(STATE + i));
emit(number(0), set(AT), LOOP);
for (let i = 0; i < ROUNDS_AT_ONCE; i++) {
  emit(get(AT), load(MESSAGE + 4 * i), set(word(i)), swapped(word(i)), set(word(i)));
}
for (let i = 0; i < 8; i++) emit(get(STATE + i), set(WORKING + i));
for (let i = 0; i < ROUNDS_AT_ONCE; i++) round(number(constants[i]!), word(i));
emit(number(CONSTANTS + 4 * ROUNDS_AT_ONCE), set(CONSTANT), LOOP);
for (let i = 0; i < ROUNDS_AT_ONCE; i++) {
  emit(
    get(word(i)),
    rotated(word(i + 1), 7),
    rotated(word(i + 1), 18),
    XOR,
    get(word(i + 1)),
    number(3),
    SHR_U,
    XOR,
    ADD,
  );
  emit(get(word(i + 9)), ADD);
  emit(rotated(word(i + 14), 17), rotated(word(i + 14), 19), XOR, get(word(i + 14)), number(10), SHR_U, XOR, ADD);
  emit(set(word(i)));
  round([...get(CONSTANT), ...load(4 * i)], word(i));
}
emit(get(CONSTANT), number(4 * ROUNDS_AT_ONCE), ADD, tee(CONSTANT), number(CONSTANTS + 4 * 64), LT_U, BRANCH_IF, END);
for (let i = 0; i < 8; i++) emit(get(STATE + i), get(WORKING + i), ADD, set(STATE + i));
emit(get(AT), number(BLOCK), ADD, tee(AT), get(TO), LT_U, BRANCH_IF, END);
for (let i = 0; i < 8; i++) emit(number(0), swapped(STATE + i), store(DIGEST + 4 * i));
emit(END);

// The module (§5.5)

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const list = (...items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const name = (text: string): Code => [...unsigned(text.length), ...new TextEncoder().encode(text)];
const body: Code = [...list([...unsigned(LOCALS), I32]), ...code];
const table = new Uint8Array(Int32Array.from(constants).buffer);
const bytes = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, list([0x60, ...list([I32]), ...list()])),
  ...section(3, list([0])),
  ...section(5, list([1, 1, 1])),
  ...section(7, list([...name('memory'), 2, 0], [...name('digest'), 0, 0])),
  ...section(10, list([...unsigned(body.length), ...body])),
  ...section(11, list([0, ...number(CONSTANTS), END, ...unsigned(table.length), ...table])),
);

writeFileSync(
  new URL('../src/formats/cells/generated/sha256-wasm.ts', import.meta.url),
  `// Generated by scripts/generate-sha256.ts; do not edit.
/** A WebAssembly module in base64: \`memory\`, and \`digest(length)\`, which hashes the message at 64 to 0. Source: FIPS 180-4 §6.2. */
export const SHA256_WASM =
  '${toBase64(bytes)}';
/** Where the message begins. */
export const MESSAGE = ${MESSAGE};
`,
);
