import type { ByteSource } from '#drivers/state-files/byte-source.js';

const PAGE_BYTES = 64 * 1024;
const NONE = -1;

/** Random reads of a large file through pages in memory; the least used ones make room. */
export class PageCache {
  readonly #source: ByteSource;
  readonly #memory: Uint8Array;
  readonly #frameOf: Int32Array;
  readonly #pageOfFrame: Int32Array;
  readonly #used: Uint8Array;
  #hand = 0;
  /** Filled by reads that cross the border of a page. */
  readonly #crossing: Uint8Array;
  /** The bytes that the last {@link at} returned a place of. */
  bytes: Uint8Array;
  /** Bytes read from the source. */
  bytesRead = 0;

  /** @param budget bytes of memory @param longest of one read, in bytes: less than a page */
  constructor(source: ByteSource, budget: number, longest: number) {
    const pages = Math.max(1, Math.ceil(source.size / PAGE_BYTES));
    const frames = Math.min(pages, Math.max(4, Math.floor(budget / PAGE_BYTES)));
    this.#source = source;
    this.#memory = new Uint8Array(frames * PAGE_BYTES);
    this.#frameOf = new Int32Array(pages).fill(NONE);
    this.#pageOfFrame = new Int32Array(frames).fill(NONE);
    this.#used = new Uint8Array(frames);
    this.#crossing = new Uint8Array(longest);
    this.bytes = this.#memory;
  }

  /** Makes `length` bytes of the file readable; returns where they start in {@link bytes}, until the next call. */
  at(offset: number, length: number): number {
    const page = Math.floor(offset / PAGE_BYTES);
    const within = offset - page * PAGE_BYTES;
    const start = this.#frame(page) * PAGE_BYTES;
    this.bytes = this.#memory;
    if (within + length <= PAGE_BYTES) return start + within;
    const first = PAGE_BYTES - within;
    this.#crossing.set(this.#memory.subarray(start + within, start + PAGE_BYTES));
    const next = this.#frame(page + 1) * PAGE_BYTES;
    this.#crossing.set(this.#memory.subarray(next, next + length - first), first);
    this.bytes = this.#crossing;
    return 0;
  }

  #frame(page: number): number {
    const known = this.#frameOf[page]!;
    if (known !== NONE) {
      this.#used[known] = 1;
      return known;
    }
    while (this.#used[this.#hand] !== 0) {
      this.#used[this.#hand] = 0;
      this.#hand = (this.#hand + 1) % this.#used.length;
    }
    const frame = this.#hand;
    this.#hand = (frame + 1) % this.#used.length;
    const before = this.#pageOfFrame[frame]!;
    if (before !== NONE) this.#frameOf[before] = NONE;
    this.#pageOfFrame[frame] = NONE;
    const offset = page * PAGE_BYTES;
    const length = Math.min(PAGE_BYTES, this.#source.size - offset);
    this.#source.read(this.#memory.subarray(frame * PAGE_BYTES, frame * PAGE_BYTES + length), offset);
    this.bytesRead += length;
    this.#pageOfFrame[frame] = page;
    this.#frameOf[page] = frame;
    this.#used[frame] = 1;
    return frame;
  }
}
