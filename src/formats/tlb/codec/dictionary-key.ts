import { tlbErrors } from '#formats/tlb/errors.js';

/** Turns keys of a dictionary into bit strings of a fixed length and back. */
export interface KeyCodec<K> {
  readonly bits: number;
  /** ⌈bits/8⌉ bytes, most significant bit first, bits after the last 0. */
  encode(key: K): Uint8Array;
  decode(bits: Uint8Array): K;
}

/** Unsigned integers of at most 48 bits. */
export function uintKey(bits: number): KeyCodec<number> {
  const size = (bits + 7) >> 3;
  const scale = 2 ** (size * 8 - bits);
  return {
    bits,
    encode: (key) => {
      if (!Number.isInteger(key) || key < 0 || key >= 2 ** bits)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of uint${bits}` });
      const out = new Uint8Array(size);
      let rest = key * scale;
      for (let i = size - 1; i >= 0; i--) {
        out[i] = rest % 256;
        rest = Math.floor(rest / 256);
      }
      return out;
    },
    decode: (bytes) => {
      let value = 0;
      for (let i = 0; i < size; i++) value = value * 256 + bytes[i]!;
      return value / scale;
    },
  };
}

/** Two's complement integers of at most 48 bits. In a dictionary they stand in the order of their bits: negative ones last. */
export function intKey(bits: number): KeyCodec<number> {
  const unsigned = uintKey(bits);
  const range = 2 ** bits;
  return {
    bits,
    encode: (key) => {
      if (key < -range / 2 || key >= range / 2)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of int${bits}` });
      return unsigned.encode(key < 0 ? key + range : key);
    },
    decode: (bytes) => {
      const value = unsigned.decode(bytes);
      return value >= range / 2 ? value - range : value;
    },
  };
}

/** Unsigned integers of any number of whole bytes, as bigint. */
export function bigUintKey(bits: 64 | 256): KeyCodec<bigint> {
  const size = bits / 8;
  return {
    bits,
    encode: (key) => {
      if (key < 0n || BigInt.asUintN(bits, key) !== key)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of uint${bits}` });
      return new Uint8Array(Buffer.from(key.toString(16).padStart(size * 2, '0'), 'hex'));
    },
    decode: bits === 64 ? decodeUint64 : (bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`),
  };
}

const wordBytes = new Uint8Array(8);
const word = new DataView(wordBytes.buffer);

/** Keys by logical time are read all the time; this spares the way over text. */
function decodeUint64(bytes: Uint8Array): bigint {
  wordBytes.set(bytes);
  return word.getBigUint64(0);
}

/** Keys that are whole bytes: hashes, account ids, composed keys. */
export function bytesKey(length: number): KeyCodec<Uint8Array> {
  return {
    bits: length * 8,
    encode: (key) => {
      if (key.length !== length)
        throw tlbErrors.constraint({ bit: 0, value: `a key of ${key.length} bytes`, rule: `bits${length * 8}` });
      return key;
    },
    decode: (bytes) => bytes,
  };
}
