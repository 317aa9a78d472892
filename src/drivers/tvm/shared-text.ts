import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';

/** Base64 of a bag of cells, as the emulator reads them, in memory that all threads see. */
export interface SharedText {
  /** Tells it from others. */
  readonly key: string;
  readonly text: SharedArrayBuffer;
}

/** @param root whole */
export function sharedText(key: string, root: Cell): SharedText {
  const text = toBase64(serializeBoc(root));
  const shared = new SharedArrayBuffer(text.length);
  Buffer.from(shared).write(text, 'latin1');
  return { key, text: shared };
}

/** Texts of the cells asked for last: what is the same for many runs is made once. */
export class SharedTexts {
  readonly #most: number;
  /** By hash; a map keeps the order of insertion, and what is used is inserted anew. */
  readonly #texts = new Map<string, SharedText>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @param root whole */
  get(root: Cell): SharedText {
    const key = toHex(root.hash());
    const known = this.#texts.get(key) ?? sharedText(key, root);
    this.#texts.delete(key);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size < this.#most) break;
      this.#texts.delete(oldest);
    }
    this.#texts.set(key, known);
    return known;
  }
}
