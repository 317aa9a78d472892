import { tlErrors } from '#formats/tl/errors.js';
import { BOOL_FALSE, BOOL_TRUE } from '#formats/tl/tl-reader.js';

const INITIAL_CAPACITY = 192;

/** Appends TL values to a growing buffer. Length forms are the shortest ones, padding is zero. */
export class TlWriter {
  #bytes: Uint8Array;
  #at = 0;

  constructor(capacity: number = INITIAL_CAPACITY) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#at;
  }

  /** `int`: [-2^31, 2^31). @throws tl/value-range */
  int(value: number): void {
    if ((value | 0) !== value) throw tlErrors['value-range']({ type: 'int', value: String(value) });
    this.#word(value);
  }

  constructorId(id: number): void {
    this.#word(id);
  }

  /** `#`: [0, 2^31). @throws tl/value-range */
  nat(value: number): void {
    if ((value | 0) !== value || value < 0) throw tlErrors['value-range']({ type: '#', value: String(value) });
    this.#word(value);
  }

  /** `long`: [-2^63, 2^63). @throws tl/value-range */
  long(value: bigint): void {
    long[0] = value;
    if (long[0] !== value) throw tlErrors['value-range']({ type: 'long', value: String(value) });
    const low = words[0]!;
    const high = words[1]!;
    this.#word(low);
    this.#word(high);
  }

  /** `int256`: 32 bytes. @throws tl/value-length */
  int256(value: Uint8Array): void {
    if (value.length !== 32) throw tlErrors['value-length']({ type: 'int256', wanted: 32, found: value.length });
    const at = this.#extend(32);
    this.#bytes.set(value, at);
  }

  /** `bytes` */
  bytes(value: Uint8Array): void {
    const length = value.length;
    const header = lengthBytes(length);
    const at = this.#extend(padded(header + length));
    this.#lengthAt(at, length);
    this.#bytes.set(value, at + header);
    this.#bytes.fill(0, at + header + length, this.#at);
  }

  /** `string`, in UTF-8. */
  string(value: string): void {
    this.bytes(Buffer.from(value, 'utf8'));
  }

  /** `Bool` */
  bool(value: boolean): void {
    this.#word(value ? BOOL_TRUE : BOOL_FALSE);
  }

  /** Bytes that are already TL, such as an encoded boxed value. */
  raw(bytes: Uint8Array): void {
    const at = this.#extend(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** The count of a vector; the items follow. */
  count(value: number): void {
    this.#word(value);
  }

  /** Starts `bytes` whose content is written next; pass the result to {@link endBytes}. */
  beginBytes(): number {
    return this.#extend(4);
  }

  /** Ends the `bytes` started at `start`. */
  endBytes(start: number): void {
    const length = this.#at - start - 4;
    const header = lengthBytes(length);
    const end = start + header + length;
    const whole = start + padded(header + length);
    if (whole > this.#at) this.#extend(whole - this.#at);
    this.#bytes.copyWithin(start + header, start + 4, start + 4 + length);
    this.#lengthAt(start, length);
    this.#bytes.fill(0, end, whole);
    this.#at = whole;
  }

  /** The written bytes. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, 0, this.#at);
  }

  #word(value: number): void {
    const at = this.#extend(4);
    const b = this.#bytes;
    b[at] = value;
    b[at + 1] = value >> 8;
    b[at + 2] = value >> 16;
    b[at + 3] = value >> 24;
  }

  #lengthAt(at: number, length: number): void {
    const b = this.#bytes;
    if (length < 254) {
      b[at] = length;
      return;
    }
    b[at] = length < 0x1000000 ? 254 : 255;
    b[at + 1] = length;
    b[at + 2] = length >> 8;
    b[at + 3] = length >> 16;
    // No byte array is longer than 2^32, so the upper bytes of the 7 are zero.
    if (length >= 0x1000000) {
      b[at + 4] = length / 0x1000000;
      b.fill(0, at + 5, at + 8);
    }
  }

  /** Reserves `length` more bytes and counts them as written; returns their offset. */
  #extend(length: number): number {
    const at = this.#at;
    const end = at + length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end + 64, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
    }
    this.#at = end;
    return at;
  }
}

/** The next multiple of 4. */
function padded(length: number): number {
  return length + (-length & 3);
}

/** Number of bytes of the length of a byte string. */
function lengthBytes(length: number): number {
  if (length < 254) return 1;
  return length < 0x1000000 ? 4 : 8;
}

/** Two 32-bit words of a `long`, least significant first, and the same bytes viewed as one number. */
const words = new Int32Array(2);
const long = new BigInt64Array(words.buffer);
