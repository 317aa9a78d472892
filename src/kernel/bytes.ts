type ToText = (this: Uint8Array, start: number, end: number) => string;

/**
 * What `Buffer.toString` calls. It takes any bytes; to view them as a Buffer, V8 would have to move short ones, such as hashes, out of
 * its heap, which takes twice as long as the text and leaves a backing store to collect.
 */
const { hexSlice, base64Slice, base64urlSlice, latin1Slice } = Buffer.prototype as unknown as Readonly<
  Record<'hexSlice' | 'base64Slice' | 'base64urlSlice' | 'latin1Slice', ToText>
>;

export function toHex(bytes: Uint8Array): string {
  return hexSlice.call(bytes, 0, bytes.length);
}

export function toBase64(bytes: Uint8Array): string {
  return base64Slice.call(bytes, 0, bytes.length);
}

/** base64url without padding (RFC 4648 §5). */
export function toBase64Url(bytes: Uint8Array): string {
  return base64urlSlice.call(bytes, 0, bytes.length);
}

/** One character for each byte, such as for the key of a map. @param end of the bytes that are wanted; default: all */
export function toLatin1(bytes: Uint8Array, end = bytes.length): string {
  return latin1Slice.call(bytes, 0, end);
}

/** A view of eight bytes: one of short bytes themselves moves them out of the heap, as above. */
const eight = new DataView(new ArrayBuffer(8));

/** The unsigned 64 bits from a byte on, big-endian. */
export function uint64At(bytes: Uint8Array, at: number): bigint {
  for (let i = 0; i < 8; i++) eight.setUint8(i, bytes[at + i]!);
  return eight.getBigUint64(0);
}

/** The signed 32 bits from a byte on, big-endian. */
export function int32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** Bytes of a hex string (either case), or `null` when it is not one. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return null;
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** Base64 without the `=` at its end, however many. */
export function withoutPadding(text: string): string {
  // A regular expression takes quadratic time for `=` that others follow.
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === PADDING) end--;
  return text.slice(0, end);
}

const PADDING = '='.charCodeAt(0);

/** Bytes of a base64 or base64url string, padded or not, or `null` when it is neither (both alphabets mixed, stray bits). */
export function fromBase64(text: string): Uint8Array | null {
  if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(text)) return null;
  const bare = withoutPadding(text);
  if (bare.length % 4 === 1 || (bare.length !== text.length && text.length % 4 !== 0)) return null;
  const bytes = Buffer.from(bare, 'base64');
  const canonical = withoutPadding(bytes.toString('base64'));
  if (canonical !== bare.replace(/-/g, '+').replace(/_/g, '/')) return null;
  return new Uint8Array(bytes);
}

export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Lexicographic order of unsigned bytes: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** A bit string of any length, most significant bit first; unused bits of the last byte are 0. */
export class BitString {
  readonly bytes: Uint8Array;
  readonly length: number;

  /** @param bytes ⌈length/8⌉ bytes; bits after the last must be 0 */
  constructor(bytes: Uint8Array, length: number) {
    this.bytes = bytes;
    this.length = length;
  }

  /** The bit at `index`: 0 or 1. */
  at(index: number): number {
    return (this.bytes[index >> 3]! >> (7 - (index & 7))) & 1;
  }

  /** As in TON tools: hexadecimal digits, and a `_` after a padded last digit. `C_` is `1`, `C` is `1100`. */
  toString(): string {
    const rest = this.length & 3;
    const digits = (this.length + 3) >> 2;
    if (rest === 0) return toHex(this.bytes).slice(0, digits).toUpperCase();
    const padded = this.bytes.slice();
    padded[this.length >> 3]! |= 0x80 >> (this.length & 7);
    return `${toHex(padded).slice(0, digits).toUpperCase()}_`;
  }
}
