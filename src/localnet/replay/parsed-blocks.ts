import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';

/** The cells of the blocks that were read last, so that a block is not parsed anew for each question about it. */
export class ParsedBlocks {
  readonly #maxBytes: number;
  /** By file, the one that was not asked for longest first. */
  readonly #roots = new Map<Uint8Array, Cell>();
  #bytes = 0;

  /** @param maxBytes sum of the sizes of the files whose cells are kept */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The root of the bag of cells in a file. The file is known by its array, not by what is in it. */
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
