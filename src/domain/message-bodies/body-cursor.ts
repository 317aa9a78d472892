import { type Cell, CellType } from '#formats/cells/cell.js';
import { BitString, toBase64 } from '#kernel/bytes.js';

/** A value of a decoded body: JSON without arrays and numbers. */
export type DecodedValue = string | boolean | null | DecodedObject;

/** Fields in the order of the schema. */
export interface DecodedObject {
  [field: string]: DecodedValue;
}

/** Characters that JSON writes as they are. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** The output of `JSON.stringify`, faster for small bodies: most texts need no escapes. */
export function decodedText(value: DecodedValue): string {
  if (typeof value === 'string') return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  let text = '';
  for (const name in value) text += `${text === '' ? '{' : ','}${decodedText(name)}:${decodedText(value[name]!)}`;
  return text === '' ? '{}' : `${text}}`;
}

/**
 * Reads one value of a type into `into[field]`. Returns false if the data does not fit; then everything that was written, and the
 * cursor, must be discarded.
 */
export type FieldReader = (from: BodyCursor, into: DecodedObject, field: string) => boolean;

/** Maximal depth of cells: enough for all real layouts (dictionaries with 268-bit keys), and safe for the stack. */
const MAX_CELL_DEPTH = 300;
/** Cost of opening a cell, besides what is read from it. */
const CELL_COST = 32;

/** Upper-case hexadecimal digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));

/**
 * A position in a cell. Reads return `undefined` or -1 at the end of the data: layouts are tried often, and exceptions are slow. All
 * cursors of one body share its budget.
 */
export class BodyCursor {
  readonly cell: Cell;
  readonly budget: DecodingBudget;
  readonly depth: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  readonly #refEnd: number;
  #at: number;
  #ref: number;

  private constructor(cell: Cell, budget: DecodingBudget, depth: number, bits: number, refs: number) {
    this.cell = cell;
    this.budget = budget;
    this.depth = depth;
    this.#bytes = cell.bytes;
    this.#start = cell.dataOffset * 8;
    this.#end = this.#start + cell.bits;
    this.#refEnd = cell.refCount;
    this.#at = this.#start + bits;
    this.#ref = refs;
  }

  /** Opens a cell; `undefined` for exotic cells, below the maximal depth, and if the budget is used up. */
  static open(cell: Cell, budget: DecodingBudget, depth: number): BodyCursor | undefined {
    if (depth > MAX_CELL_DEPTH || cell.type !== CellType.ordinary) return undefined;
    if (!budget.spend(CELL_COST)) return undefined;
    cell.touch();
    return new BodyCursor(cell, budget, depth, 0, 0);
  }

  /** A cursor at the same position. */
  copy(): BodyCursor {
    return new BodyCursor(this.cell, this.budget, this.depth, this.bitOffset, this.#ref);
  }

  /** A cursor at another position of the same cell. */
  at(bits: number, refs: number): BodyCursor {
    return new BodyCursor(this.cell, this.budget, this.depth, bits, refs);
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

  /** Takes characters from the budget; false if it is used up. */
  spend(characters: number): boolean {
    return this.budget.spend(characters);
  }

  /** An unsigned integer of at most 48 bits; -1 if there are not enough bits. */
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

  /** As {@link uint}, without advancing. */
  peek(bits: number): number {
    const at = this.#at;
    const value = this.uint(bits);
    this.#at = at;
    return value;
  }

  /** Bits as upper-case hexadecimal digits, with `_` after a padded last digit. */
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

  /** Appends bytes, which must be available, to `out`. */
  bytes(length: number, out: number[]): void {
    const shift = this.#at & 7;
    const from = this.#bytes;
    let byte = this.#at >> 3;
    for (let i = 0; i < length; i++, byte++) {
      // Without a shift the second byte contributes nothing.
      out.push(((from[byte]! << shift) | (from[byte + 1]! >> (8 - shift))) & 0xff);
    }
    this.#at += length * 8;
  }

  /** The next reference. */
  ref(): Cell | undefined {
    return this.#ref < this.#refEnd ? this.cell.ref(this.#ref++) : undefined;
  }

  /** Opens the cell of the next reference; `undefined` as for {@link ref} and {@link open}. */
  openRef(): BodyCursor | undefined {
    const cell = this.ref();
    return cell === undefined ? undefined : BodyCursor.open(cell, this.budget, this.depth + 1);
  }

  /** Skips the rest of the cell. */
  skipRest(): void {
    this.#at = this.#end;
    this.#ref = this.#refEnd;
  }
}

/** Budget of each body in characters of JSON; nearly all need less. */
const BASE_BUDGET = 2 ** 14;
/** Additional budget for each distinct cell: a list of equal messages needs half of it for each. */
const BUDGET_PER_CELL = 2 ** 12;
/** Maximal budget; one dictionary in all cells that a message may have needs a third of it. */
const MAX_BUDGET = 2 ** 23;

/** A cell without a type, or the rest of one: decoded after the layout around it has fitted. */
export interface RawValue {
  readonly into: DecodedObject;
  readonly field: string;
  readonly cell: Cell;
  /** Bits and references of the cell that were read already. */
  readonly bits: number;
  readonly refs: number;
}

/**
 * Budget of the budget of one body, for all layouts that are tried. It is proportional to the distinct cells of the body: otherwise a
 * hostile body of a few cells that are referenced many times would use up time and memory.
 */
export class DecodingBudget {
  /** Raw values of the current layout. */
  raws: RawValue[] = [];
  readonly #body: Cell;
  #characters = BASE_BUDGET;
  #counted = false;

  constructor(body: Cell) {
    this.#body = body;
  }

  /** Takes characters; false if the budget is used up. */
  spend(characters: number): boolean {
    this.#characters -= characters;
    if (this.#characters >= 0) return true;
    if (this.#counted) return false;
    this.#counted = true;
    this.#characters += countCells(this.#body, MAX_BUDGET / BUDGET_PER_CELL) * BUDGET_PER_CELL;
    return this.#characters >= 0;
  }
}

/** Number of distinct cells, at most `most`. */
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
