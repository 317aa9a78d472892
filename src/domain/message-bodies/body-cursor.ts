import { type Cell, CellType } from '#formats/cells/cell.js';
import { BitString, toBase64 } from '#kernel/bytes.js';

/** What bodies are decoded to: as JSON has it, and without arrays and numbers, which decoded bodies do not have. */
export type DecodedValue = string | boolean | null | DecodedObject;

/** Fields in the order of the schema. */
export interface DecodedObject {
  [field: string]: DecodedValue;
}

/**
 * Reads one value of a type and puts it into `into[field]`; whether it was there and fits. When it was not, what has been
 * put anywhere is worthless, and so is the cursor.
 */
export type FieldReader = (from: BodyCursor, into: DecodedObject, field: string) => boolean;

/** Cells below each other: as deep as any real layout goes (dictionaries with keys of 268 bits), and easy on the stack. */
const MAX_CELL_DEPTH = 300;
/** What opening a cell costs besides what is read from it. */
const CELL_COST = 32;

/** Upper case hexadecimal digits of a byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));

/**
 * A reading position in a cell that says `undefined` where data ends, as trying layouts is common and an exception is dear.
 * It shares the decoding with all others of it.
 */
export class BodyCursor {
  readonly cell: Cell;
  readonly decoding: DecodingBudget;
  readonly depth: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  readonly #refEnd: number;
  #at: number;
  #ref: number;

  private constructor(cell: Cell, decoding: DecodingBudget, depth: number, bits: number, refs: number) {
    this.cell = cell;
    this.decoding = decoding;
    this.depth = depth;
    this.#bytes = cell.bytes;
    this.#start = cell.dataOffset * 8;
    this.#end = this.#start + cell.bits;
    this.#refEnd = cell.refCount;
    this.#at = this.#start + bits;
    this.#ref = refs;
  }

  /** Starts to read a cell; `undefined` for exotic cells, at too great a depth, and when the allowance is used up. */
  static open(cell: Cell, decoding: DecodingBudget, depth: number): BodyCursor | undefined {
    if (depth > MAX_CELL_DEPTH || cell.type !== CellType.ordinary) return undefined;
    if (!decoding.spend(CELL_COST)) return undefined;
    cell.touch();
    return new BodyCursor(cell, decoding, depth, 0, 0);
  }

  /** Another cursor at this place. */
  copy(): BodyCursor {
    return new BodyCursor(this.cell, this.decoding, this.depth, this.bitOffset, this.#ref);
  }

  /** The same cell from another place on, which must be within it. */
  at(bits: number, refs: number): BodyCursor {
    return new BodyCursor(this.cell, this.decoding, this.depth, bits, refs);
  }

  get bitOffset(): number {
    return this.#at - this.#start;
  }
  get refOffset(): number {
    return this.#ref;
  }
  get remainingBits(): number {
    return this.#end - this.#at;
  }
  get remainingRefs(): number {
    return this.#refEnd - this.#ref;
  }
  get isEmpty(): boolean {
    return this.#at === this.#end && this.#ref === this.#refEnd;
  }

  /** Takes characters from the allowance of the decoding; whether there were enough. */
  spend(characters: number): boolean {
    return this.decoding.spend(characters);
  }

  /** An unsigned integer of at most 48 bits; -1 when there are not enough bits. */
  uint(bits: number): number {
    const at = this.#at;
    if (at + bits > this.#end) return -1;
    this.#at = at + bits;
    const bytes = this.#bytes;
    let byte = at >> 3;
    let left = bits;
    let value = 0;
    const ahead = 8 - (at & 7);
    if (ahead !== 8 && left > 0) {
      const rest = bytes[byte++]! & ((1 << ahead) - 1);
      if (left < ahead) return rest >> (ahead - left);
      value = rest;
      left -= ahead;
    }
    for (; left >= 8; left -= 8) value = value * 256 + bytes[byte++]!;
    return left === 0 ? value : value * (1 << left) + (bytes[byte]! >> (8 - left));
  }

  /** As {@link uint}, without moving. */
  peek(bits: number): number {
    const at = this.#at;
    const value = this.uint(bits);
    this.#at = at;
    return value;
  }

  /** Bits as upper case hexadecimal digits, with `_` after a padded last one. */
  hex(bits: number): string | undefined {
    const at = this.#at;
    if (at + bits > this.#end) return undefined;
    let text = '';
    const bytes = this.#bytes;
    const shift = at & 7;
    const whole = bits >> 3;
    let byte = at >> 3;
    if (shift === 0) {
      for (let i = 0; i < whole; i++) text += HEX[bytes[byte++]!]!;
    } else {
      let carry = bytes[byte++]!;
      for (let i = 0; i < whole; i++) {
        const next = bytes[byte++]!;
        text += HEX[((carry << shift) | (next >> (8 - shift))) & 0xff]!;
        carry = next;
      }
    }
    this.#at = at + whole * 8;
    const rest = bits & 7;
    if (rest === 0) return text;
    return text + new BitString(Uint8Array.of(this.uint(rest) << (8 - rest)), rest).toString();
  }

  /** Whole bytes, which must be there, added to `out`. */
  bytes(length: number, out: number[]): void {
    for (let i = 0; i < length; i++) out.push(this.uint(8));
  }

  /** The next reference. */
  ref(): Cell | undefined {
    return this.#ref < this.#refEnd ? this.cell.ref(this.#ref++) : undefined;
  }

  /** Starts to read the cell of the next reference; `undefined` as {@link ref} and {@link open} say. */
  openRef(): BodyCursor | undefined {
    const cell = this.ref();
    return cell === undefined ? undefined : BodyCursor.open(cell, this.decoding, this.depth + 1);
  }

  /** Passes over all that is left. */
  skipRest(): void {
    this.#at = this.#end;
    this.#ref = this.#refEnd;
  }
}

/** What every body may cost, counted in characters of JSON; nearly all need less. */
const BASE_BUDGET = 2 ** 14;
/** What a body may cost for each different cell that it has: a list of equal messages needs half of it for each. */
const BUDGET_PER_CELL = 2 ** 12;
/** What the largest body may cost; one dictionary in all the cells that a message may have needs a third of it. */
const MAX_BUDGET = 2 ** 23;

/** A cell without a type, or the rest of one: its place in the JSON is left open until the layout around it has fitted. */
export interface RawValue {
  readonly into: DecodedObject;
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
export class DecodingBudget {
  /** Raw values of the layout that is being tried. */
  raws: RawValue[] = [];
  readonly #body: Cell;
  #characters = BASE_BUDGET;
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
    this.#characters += countCells(this.#body, MAX_BUDGET / BUDGET_PER_CELL) * BUDGET_PER_CELL;
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
