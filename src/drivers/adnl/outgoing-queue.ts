/** Most bytes that are taken in one piece. */
export const PIECE_BYTES = 64 * 1024;

/** Bytes that wait to be sent, in the order they came. */
export class OutgoingQueue {
  #parts: (Uint8Array | undefined)[] = [];
  /** The first part that is not sent, and how much of it is. */
  #head = 0;
  #offset = 0;
  #added = 0;
  #taken = 0;

  /** How many bytes have ever been added. */
  get added(): number {
    return this.#added;
  }

  /** How many bytes have ever been taken. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#added - this.#taken;
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#added += part.length;
  }

  /** The next bytes, at most {@link PIECE_BYTES}; a view where they lie in one part. Not to be called when none wait. */
  take(): Uint8Array {
    const size = Math.min(PIECE_BYTES, this.waiting);
    const first = this.#parts[this.#head]!;
    if (first.length - this.#offset >= size) {
      const piece = first.subarray(this.#offset, this.#offset + size);
      this.#advance(size);
      return piece;
    }
    const piece = Buffer.allocUnsafe(size);
    for (let at = 0; at < size; ) {
      const part = this.#parts[this.#head]!;
      const length = Math.min(size - at, part.length - this.#offset);
      piece.set(part.subarray(this.#offset, this.#offset + length), at);
      this.#advance(length);
      at += length;
    }
    return piece;
  }

  /** Forgets what waits. */
  clear(): void {
    this.#parts = [];
    this.#head = 0;
    this.#offset = 0;
    this.#added = this.#taken;
  }

  #advance(size: number): void {
    this.#taken += size;
    this.#offset += size;
    if (this.#offset < this.#parts[this.#head]!.length) return;
    this.#parts[this.#head] = undefined;
    this.#head++;
    this.#offset = 0;
    if (this.#head === this.#parts.length || this.#head >= 1024) {
      this.#parts = this.#parts.slice(this.#head);
      this.#head = 0;
    }
  }
}
