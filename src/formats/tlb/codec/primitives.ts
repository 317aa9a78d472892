import type { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import type { BitString } from '#kernel/bytes.js';

/** `uintN` or `## N`, N up to 48, as a number. */
export function uint(bits: number): Codec<number> {
  return {
    type: `uint${bits}`,
    load: (slice) => slice.loadUint(bits),
    store: (value, builder) => void builder.storeUint(value, bits),
  };
}

/** `intN`, N up to 48, as a number. */
export function int(bits: number): Codec<number> {
  return {
    type: `int${bits}`,
    load: (slice) => slice.loadInt(bits),
    store: (value, builder) => void builder.storeInt(value, bits),
  };
}

/** `uintN` of any size as a bigint. */
export function bigUint(bits: number): Codec<bigint> {
  return {
    type: `uint${bits}`,
    load: (slice) => slice.loadUintBig(bits),
    store: (value, builder) => void builder.storeUint(value, bits),
  };
}

/** `intN` of any size as a bigint. */
export function bigInt(bits: number): Codec<bigint> {
  return {
    type: `int${bits}`,
    load: (slice) => slice.loadIntBig(bits),
    store: (value, builder) => void builder.storeInt(value, bits),
  };
}

export const uint8 = uint(8);
export const uint16 = uint(16);
export const uint32 = uint(32);
export const uint64 = bigUint(64);
export const int8 = int(8);
export const int16 = int(16);
export const int32 = int(32);
export const int64 = bigInt(64);

/** `bitsN` where N is a multiple of eight, as bytes. */
export function bytes(length: number): Codec<Uint8Array> {
  return {
    type: `bits${length * 8}`,
    load: (slice) => slice.loadBytes(length),
    store: (value, builder) => {
      if (value.length !== length)
        throw tlbErrors.constraint({ bit: builder.bits, value: `${value.length} bytes`, rule: `bits${length * 8}` });
      builder.storeBytes(value);
    },
  };
}

/** `bits256`: a hash, a key, an account id. */
export const bits256 = bytes(32);
export const bits512 = bytes(64);

/** `bits N` of a fixed length that is not whole bytes. */
export function bits(length: number): Codec<BitString> {
  return {
    type: `bits${length}`,
    load: (slice) => slice.loadBits(length),
    store: (value, builder) => {
      if (value.length !== length)
        throw tlbErrors.constraint({ bit: builder.bits, value: `${value.length} bits`, rule: `bits${length}` });
      builder.storeBits(value);
    },
  };
}

/** `Bool`, and `## 1` where it is used as a flag. */
export const bool: Codec<boolean> = {
  type: 'Bool',
  load: (slice) => slice.loadBit(),
  store: (value, builder) => void builder.storeBit(value),
};

/** By number of bytes: the smallest number that needs that many. */
const SMALLEST = [0, 1, 2 ** 8, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 40];

function leadingZero(bit: number): Error {
  return tlbErrors.constraint({ bit, value: 'a leading zero byte', rule: 'shortest form' });
}

/** `VarUInteger n`: a byte length (below n) in ⌈log2 n⌉ bits, then the number. As in all valid blocks, leading zero bytes are refused. */
export function varUint(n: number): Codec<bigint> {
  const lengthBits = 32 - Math.clz32(n - 1);
  return {
    type: `VarUInteger ${n}`,
    load: (slice) => {
      const length = slice.loadUint(lengthBits);
      if (length >= n)
        throw tlbErrors.constraint({ bit: slice.bitOffset - lengthBits, value: String(length), rule: `len < ${n}` });
      if (length === 0) return 0n;
      if (length <= 6) {
        const value = slice.loadUint(length * 8);
        if (value < SMALLEST[length]!) throw leadingZero(slice.bitOffset - length * 8);
        return BigInt(value);
      }
      if (slice.remainingBits >= 8 && slice.preloadUint(8) === 0) throw leadingZero(slice.bitOffset);
      return slice.loadUintBig(length * 8);
    },
    store: (value, builder) => {
      const length = value === 0n ? 0 : (value.toString(16).length + 1) >> 1;
      if (value < 0n || length >= n)
        throw tlbErrors.constraint({ bit: builder.bits, value: String(value), rule: `VarUInteger ${n}` });
      builder.storeUint(length, lengthBits).storeUint(value, length * 8);
    },
  };
}

/** `nanograms$_ amount:(VarUInteger 16) = Grams;` — nanotons. */
export const grams = varUint(16);

/** `True`: no bits; always `true`. */
export const unit: Codec<true> = { type: 'True', load: () => true, store: () => {} };

/** `^Cell`: a reference whose content the schema does not describe. */
export const cellRef: Codec<Cell> = {
  type: '^Cell',
  load: (slice) => slice.loadRef(),
  store: (value, builder) => void builder.storeRef(value),
};

/** `Any`: all remaining bits and references. */
export const any: Codec<Slice> = {
  type: 'Any',
  load: (slice) => slice.takeRest(),
  store: (value, builder) => void builder.storeSlice(value),
};

/** A codec whose values must satisfy a constraint: `{ flags <= 1 }`. */
export function constrained<T>(codec: Codec<T>, rule: string, test: (value: T) => boolean): Codec<T> {
  const check = (value: T, bit: number): T => {
    if (!test(value)) throw tlbErrors.constraint({ bit, value: String(value), rule });
    return value;
  };
  return {
    type: codec.type,
    load: (slice: Slice) => {
      const bit = slice.bitOffset;
      return check(codec.load(slice), bit);
    },
    store: (value: T, builder: Builder) => codec.store(check(value, builder.bits), builder),
  };
}
