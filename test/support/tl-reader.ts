import type { BlockId } from '#formats/proofs/block-id.js';

/** What is wrong with TL bytes. */
export class TlError extends Error {}

/** Reads TL values from the front of some bytes, strictly. A small one for tests that share nothing with the sources. */
export class TlReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** `#` and constructor ids: unsigned. */
  word(): number {
    this.#take(4);
    return this.#view.getUint32(this.#at - 4, true);
  }
  int(): number {
    return this.word() | 0;
  }
  long(): bigint {
    this.#take(8);
    return this.#view.getBigInt64(this.#at - 8, true);
  }
  unsignedLong(): bigint {
    return BigInt.asUintN(64, this.long());
  }
  int256(): Uint8Array {
    return this.#take(32);
  }

  bytes(): Uint8Array {
    const start = this.#at;
    let length = this.#take(1)[0]!;
    if (length === 254) {
      const [a, b, c] = this.#take(3) as unknown as [number, number, number];
      length = a | (b << 8) | (c << 16);
    }
    const value = this.#take(length);
    this.#take((4 - ((this.#at - start) % 4)) % 4);
    return value;
  }

  bool(): boolean {
    const id = this.word();
    if (id === 0x997275b5) return true;
    if (id === 0xbc799737) return false;
    throw new TlError(`${id.toString(16)} is no Bool`);
  }

  vector<T>(item: () => T): T[] {
    const count = this.word();
    if (count > this.left) throw new TlError(`a vector of ${count}`);
    return Array.from({ length: count }, item);
  }

  blockId(): BlockId {
    const workchain = this.int();
    const shard = this.unsignedLong();
    const seqno = this.word();
    return { workchain, shard, seqno, root_hash: this.int256(), file_hash: this.int256() };
  }

  /** Takes this constructor id. */
  expect(id: number): this {
    const found = this.word();
    if (found !== id) throw new TlError(`constructor ${found.toString(16)}, wanted ${id.toString(16)}`);
    return this;
  }

  /** Nothing may be left. */
  end(): void {
    if (this.left !== 0) throw new TlError(`${this.left} bytes left`);
  }

  #take(length: number): Uint8Array {
    if (length > this.left) throw new TlError(`${length} bytes wanted, ${this.left} left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
