import type { BodyCursor } from '#domain/bodies/body-cursor.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import type { Reader } from '#domain/bodies/reader.js';

/** `uintN`, `(## n)`: a decimal string. */
export function uintReader(bits: number): Reader {
  return (from, into, field) => {
    const text = readUint(from, bits);
    if (text === undefined) return false;
    into[field] = text;
    return true;
  };
}

/** `intN`: a decimal string. */
export function intReader(bits: number): Reader {
  return (from, into, field) => {
    const text = readUint(from, bits);
    if (text === undefined) return false;
    into[field] = BigInt.asIntN(bits, BigInt(text)).toString();
    return true;
  };
}

/** `Bool`, `uint1`. */
export const boolReader: Reader = (from, into, field) => {
  const bit = from.uint(1);
  into[field] = bit === 1;
  return bit >= 0;
};

/** `bitsN`: hexadecimal digits. */
export function bitsReader(bits: number): Reader {
  return (from, into, field) => readHex(from, bits, into, field);
}

/** `(bits len)`, `(bits (len * 8))`: as many as a field before says. */
export function countedBitsReader(counter: string, factor: number): Reader {
  return (from, into, field) => readHex(from, Number(into[counter]) * factor, into, field);
}

/** `(#<= most)`: a number in as many bits as `most` has. */
export function atMostReader(most: number): Reader {
  const bits = bitLength(most);
  return (from, into, field) => {
    const value = from.uint(bits);
    into[field] = String(value);
    return value >= 0 && value <= most;
  };
}

/** `(VarUInteger n)`: `{"@type":"var_uint","len":"2","value":"1000"}`. */
export function varUintReader(n: number): Reader {
  const bits = bitLength(n - 1);
  return (from, into, field) => {
    const len = from.uint(bits);
    if (len < 0 || len >= n) return false;
    const value = readUint(from, len * 8);
    if (value === undefined || !from.spend(48)) return false;
    into[field] = { '@type': 'var_uint', len: String(len), value };
    return true;
  };
}

/** Bits in which numbers up to `most` are written. */
export function bitLength(most: number): number {
  return 32 - Math.clz32(most);
}

/** An unsigned number as decimal digits. */
function readUint(from: BodyCursor, bits: number): string | undefined {
  if (bits <= 48) {
    const value = from.uint(bits);
    return value < 0 ? undefined : String(value);
  }
  if (from.remainingBits < bits) return undefined;
  if (bits > 64 && (bits & 7) === 0)
    return from.spend(bits >> 2) ? BigInt(`0x${from.hex(bits)}`).toString() : undefined;
  const high = from.uint(bits <= 64 ? bits - 32 : bits & 31);
  if (bits <= 64 && high < 2 ** 21) return String(high * 2 ** 32 + from.uint(32));
  let value = BigInt(high);
  for (let left = bits <= 64 ? 32 : bits & ~31; left > 0; left -= 32) value = (value << 32n) | BigInt(from.uint(32));
  return value.toString();
}

function readHex(from: BodyCursor, bits: number, into: JsonObject, field: string): boolean {
  const text = from.hex(bits);
  if (text === undefined || !from.spend(text.length)) return false;
  into[field] = text;
  return true;
}
