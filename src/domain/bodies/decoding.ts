import type { JsonObject } from '#domain/bodies/json-value.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** What every body may cost, counted in characters of JSON; nearly all need less. */
const CHARACTERS = 2 ** 14;
/** What a body may cost for each different cell that it has: a list of equal messages needs half of it for each. */
const CHARACTERS_OF_CELL = 2 ** 12;
/** What the largest body may cost; one dictionary in all the cells that a message may have needs a third of it. */
const MAX_CHARACTERS = 2 ** 23;

/** A cell without a type, or the rest of one: its place in the JSON is left open until the layout around it has fitted. */
export interface RawValue {
  readonly into: JsonObject;
  readonly field: string;
  readonly cell: Cell;
  /** Bits and references of the cell that were read before. */
  readonly bits: number;
  readonly refs: number;
}

/**
 * The decoding of one body, however many layouts are tried. What it costs is in proportion to the body: without that, a
 * body of a few cells that are reached on very many ways would keep us busy, and fill the memory.
 */
export class Decoding {
  /** Raw values of the layout that is being tried. */
  raws: RawValue[] = [];
  readonly #body: Cell;
  #characters = CHARACTERS;
  #counted = false;

  constructor(body: Cell) {
    this.#body = body;
  }

  /** Takes characters from the allowance; whether there were enough. */
  spend(characters: number): boolean {
    this.#characters -= characters;
    if (this.#characters >= 0) return true;
    if (this.#counted) return false;
    this.#counted = true;
    this.#characters += countCells(this.#body, MAX_CHARACTERS / CHARACTERS_OF_CELL) * CHARACTERS_OF_CELL;
    return this.#characters >= 0;
  }
}

/** How many different cells there are, at most `most`. */
function countCells(root: Cell, most: number): number {
  const seen = new Set([toBase64(root.hash())]);
  const open = [root];
  for (let cell = open.pop(); cell !== undefined && seen.size < most; cell = open.pop()) {
    for (let i = 0; i < cell.refCount; i++) {
      const ref = cell.ref(i);
      const hash = toBase64(ref.hash());
      if (seen.has(hash)) continue;
      seen.add(hash);
      open.push(ref);
    }
  }
  return Math.min(seen.size, most);
}
