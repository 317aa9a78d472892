import { tlErrors } from '#formats/tl/errors.js';

export const BOOL_TRUE = 0x997275b5;
export const BOOL_FALSE = 0xbc799737;

/** `0x997275b5` */
function constructorText(id: number): string {
  return `0x${id.toString(16).padStart(8, '0')}`;
}

/**
 * Reads TL values sequentially. Every length and count is checked against the remaining bytes before anything is
 * allocated. Byte strings and hashes are views of the input, not copies: it must not change while they are in use.
 *
 * Like the reference implementation, it accepts byte strings with any padding and with longer length forms than needed.
 */
export class TlReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;
  /** Buffer and offset for views; cached, since getting them costs more than creating a view. */
  #buffer: ArrayBufferLike | null = null;
  #base = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#at;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  /** `int`, signed. */
  int(): number {
    const b = this.#bytes;
    const at = this.#skip(4);
    return b[at]! | (b[at + 1]! << 8) | (b[at + 2]! << 16) | (b[at + 3]! << 24);
  }

  /** A constructor id, unsigned. */
  constructorId(): number {
    return this.int() >>> 0;
  }

  /** Reads the id of this constructor. @throws tl/unknown-constructor */
  expect(id: number, name: string): void {
    const found = this.constructorId();
    if (found !== id) this.unknownConstructor(found, name);
  }

  /** `#`: flags or a count, 31 bits. */
  nat(): number {
    const value = this.int();
    if (value < 0) throw tlErrors['negative-number']({ byte: this.#at - 4, value });
    return value;
  }

  /** `long`, signed. */
  long(): bigint {
    const low = this.int();
    const high = this.int();
    words[0] = low;
    words[1] = high;
    return long[0]!;
  }

  /** `int256`: a view of 32 bytes. */
  int256(): Uint8Array {
    return this.#view(this.#skip(32), 32);
  }

  /** `bytes`: a view. */
  bytes(): Uint8Array {
    const start = this.#at;
    const b = this.#bytes;
    // The shortest byte string takes 4 bytes, as do the length forms (the longest one 8).
    let data = this.#skip(4) + 1;
    let length = b[start]!;
    if (length >= 254) {
      data += 3;
      const low = b[start + 1]! | (b[start + 2]! << 8) | (b[start + 3]! << 16);
      if (length === 254) {
        length = low;
      } else {
        const high = this.int() >>> 0;
        data += 4;
        length = high * 0x1000000 + low;
      }
    }
    const padded = start + Math.ceil((data - start + length) / 4) * 4;
    if (padded > this.#end) {
      this.#at = start;
      throw tlErrors.underflow({ byte: start, wanted: padded - start, left: this.#end - start });
    }
    this.#at = padded;
    return this.#view(data, length);
  }

  /** `string`: text. Invalid UTF-8 becomes U+FFFD; read `bytes` to preserve it. */
  string(): string {
    const { buffer, byteOffset, byteLength } = this.bytes();
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  }

  /** `Bool` */
  bool(): boolean {
    const id = this.constructorId();
    if (id === BOOL_TRUE) return true;
    if (id === BOOL_FALSE) return false;
    return this.unknownConstructor(id, 'a Bool');
  }

  /** The count of a vector whose items take at least `itemSize` bytes each. */
  count(itemSize: number): number {
    const count = this.int() >>> 0;
    if (count * itemSize > this.#end - this.#at) {
      throw tlErrors['vector-length']({ byte: this.#at - 4, count, left: this.#end - this.#at });
    }
    return count;
  }

  /** The remaining bytes: a view. */
  rest(): Uint8Array {
    const length = this.left;
    return this.#view(this.#skip(length), length);
  }

  /** The next constructor id, without moving; null when fewer than 4 bytes are left. */
  peekConstructorId(): number | null {
    if (this.left < 4) return null;
    const id = this.constructorId();
    this.#at -= 4;
    return id;
  }

  /** Refuses remaining bytes. @throws tl/left-over */
  end(): void {
    if (this.#at !== this.#end) throw tlErrors['left-over']({ byte: this.#at, left: this.left });
  }

  /** Throws the error for a constructor id that was just read and is not acceptable. */
  unknownConstructor(id: number, wanted: string): never {
    throw tlErrors['unknown-constructor']({ byte: this.#at - 4, found: constructorText(id), wanted });
  }

  #skip(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw tlErrors.underflow({ byte: at, wanted: length, left: this.#end - at });
    this.#at = at + length;
    return at;
  }

  #view(at: number, length: number): Uint8Array {
    if (this.#buffer === null) {
      this.#buffer = this.#bytes.buffer;
      this.#base = this.#bytes.byteOffset;
    }
    return new Uint8Array(this.#buffer, this.#base + at, length);
  }
}

/** Two 32-bit words of a `long`, least significant first, and the same bytes viewed as one number. */
const words = new Int32Array(2);
const long = new BigInt64Array(words.buffer);
