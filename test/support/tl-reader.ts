import type { BlockId } from '#formats/proofs/block-id.js';

/** Reads TL values from the front of some bytes. For tests: it trusts nobody, but its errors are plain ones. */
export class TlReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** `#` and tag ids: unsigned. */
  word(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }
  int(): number {
    return this.word() | 0;
  }
  long(): bigint {
    this.#at += 8;
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
    const tag = this.word();
    if (tag === 0x997275b5) return true;
    if (tag === 0xbc799737) return false;
    throw new RangeError(`TL: ${tag.toString(16)} is no Bool`);
  }

  vector<T>(item: () => T): T[] {
    return Array.from({ length: this.word() }, item);
  }

  blockId(): BlockId {
    const workchain = this.int();
    const shard = this.unsignedLong();
    const seqno = this.word();
    return { workchain, shard, seqno, root_hash: this.int256(), file_hash: this.int256() };
  }

  /** Takes this tag id. */
  expect(tag: number): this {
    const found = this.word();
    if (found !== tag) throw new RangeError(`TL: tag ${found.toString(16)}, wanted ${tag.toString(16)}`);
    return this;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Nothing may be left. */
  end(): void {
    if (this.left !== 0) throw new RangeError(`TL: ${this.left} bytes left`);
  }

  #take(length: number): Uint8Array {
    if (length > this.left) throw new RangeError(`TL: ${length} bytes wanted, ${this.left} left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
