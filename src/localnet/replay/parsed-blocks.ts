import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';

/** A cache of parsed blocks. */
export class ParsedBlocks {
  readonly #maxBytes: number;
  /** By file, the least recently used one first. */
  readonly #roots = new Map<Uint8Array, Cell>();
  #bytes = 0;

  /** @param maxBytes total size of the files whose cells are retained */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The root cell of a file. The file is identified by its array, not by its content. */
  root(file: Uint8Array): Cell {
    const known = this.#roots.get(file);
    const root = known ?? parseBocRoot(file);
    if (known === undefined) this.#bytes += file.length;
    else this.#roots.delete(file);
    this.#roots.set(file, root);
    for (const oldest of this.#roots.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === file) break;
      this.#roots.delete(oldest);
      this.#bytes -= oldest.length;
    }
    return root;
  }
}
