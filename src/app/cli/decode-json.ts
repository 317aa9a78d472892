import { cliErrors } from '#app/cli/errors.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell, CellType } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import {
  EXTRA_STEP,
  keyText,
  type LeafValue,
  type Place,
  pathOf,
  type ValueVisitor,
  type VisitedNode,
  walkValue,
} from '#formats/tlb/walk-value.js';
import { BitString, toBase64, toHex } from '#kernel/bytes.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Equal cells may be shared without end in a hostile bag of cells; printed, each of them counts. */
const MOST_VALUES = 3_000_000;

/** Longest bag of cells, in characters, that is written out again where it occurs again. */
const SHORT_BOC = 100;

export interface JsonOptions {
  /** Write a value that occurs in several places out in each of them; by default it is written once and then referred to. */
  readonly full?: boolean;
  /** Gives a better view of an opaque cell than its bytes, where the place tells what it is. */
  readonly describe?: (cell: Cell, place: Place | null) => unknown;
}

/**
 * A decoded value as JSON: names as in TL-B, bigints as decimal strings, bytes as hex, addresses in raw form. A value in
 * a cell of its own has `@hash`; what the schema does not describe is a bag of cells in base64 (`@boc`); what a proof
 * leaves out is `{ "@pruned": hash }`; what was written before is `{ "@hash": hash, "@shown": path }`.
 *
 * @throws what decoding a part throws, with the path to it; cli/too-large
 */
export function tlbToJson(value: unknown, options: JsonOptions = {}): Json {
  const writer = new JsonWriter(options);
  walkValue(value, writer);
  return writer.result;
}

/** A part whose own parts are being written. */
interface Open {
  readonly place: Place | null;
  readonly json: Json[] | Record<string, Json>;
  readonly kind: VisitedNode['kind'];
  /** Of a value in a cell of its own. */
  readonly hash: string | null;
  /** The value of a lazy. */
  value: Json;
}

class JsonWriter implements ValueVisitor {
  readonly #options: JsonOptions;
  /** Where a cell was written, by its hash. */
  readonly #shown = new Map<string, string>();
  readonly #open: Open[] = [];
  #left = MOST_VALUES;
  result: Json = null;

  constructor(options: JsonOptions) {
    this.#options = options;
  }

  enter(node: VisitedNode, place: Place | null): boolean {
    this.#spend(1);
    switch (node.kind) {
      case 'leaf':
        this.#put(place, leafJson(node.value));
        return false;
      case 'pruned':
        this.#put(place, { '@pruned': toHex(node.cell.hash(0)) });
        return false;
      case 'opaque':
        this.#put(place, node.value instanceof Cell ? this.#opaqueCell(node.value, place) : this.#rest(node.value));
        return false;
      case 'lazy': {
        const hash = toHex(node.value.cell.hash(0));
        const shown = this.#shownAt(hash, place);
        if (shown === null) this.#open.push({ place, json: {}, kind: node.kind, hash, value: null });
        else this.#put(place, { '@hash': hash, '@shown': shown });
        return shown === null;
      }
      default:
        this.#open.push({ place, json: node.kind === 'array' ? [] : {}, kind: node.kind, hash: null, value: null });
        return true;
    }
  }

  leave(): void {
    const { place, json, hash, value } = this.#open.pop()!;
    this.#put(place, hash === null ? json : withHash(hash, value));
  }

  #put(place: Place | null, json: Json): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) this.result = json;
    else if (parent.hash !== null) parent.value = json;
    else if (Array.isArray(parent.json)) parent.json.push(json);
    else parent.json[parent.kind === 'dictionary' ? entryName(place!) : place!.step] = json;
  }

  #opaqueCell(cell: Cell, place: Place | null): Json {
    const hash = toHex(cell.hash(0));
    if (cell.type === CellType.libraryReference) {
      return { '@hash': hash, '@library': toHex(cell.bytes.subarray(cell.dataOffset + 1, cell.dataOffset + 33)) };
    }
    const described = this.#options.describe?.(cell, place);
    if (described === undefined) {
      const boc = this.#boc(cell);
      const shown = boc.length <= SHORT_BOC ? null : this.#shownAt(hash, place);
      return shown === null ? { '@hash': hash, '@boc': boc } : { '@hash': hash, '@shown': shown };
    }
    const open: Open = { place, json: {}, kind: 'lazy', hash, value: null };
    this.#open.push(open);
    walkValue(described, this, place);
    this.#open.pop();
    return withHash(hash, open.value);
  }

  /** Where the cell of this hash was written; `null`, and kept in mind, when it was not. */
  #shownAt(hash: string, place: Place | null): string | null {
    if (this.#options.full === true) return null;
    const shown = this.#shown.get(hash);
    if (shown === undefined) this.#shown.set(hash, pathOf(place));
    return shown ?? null;
  }

  #rest(slice: Slice): Json {
    return { '@boc': this.#boc(new Builder().storeSlice(slice).endCell()) };
  }

  /** Counts as many values as it has lines of 64 characters. */
  #boc(cell: Cell): string {
    const text = toBase64(serializeBoc(cell));
    this.#spend(text.length >> 6);
    return text;
  }

  #spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw cliErrors['too-large']({ values: MOST_VALUES });
  }
}

function leafJson(value: LeafValue): Json {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Address) return value.toRaw();
  if (value instanceof BitString) return value.toString();
  return value;
}

/** Of an entry its key; the extra of the dictionary must not be taken for one. */
function entryName(place: Place): string {
  return place.step === EXTRA_STEP ? '@extra' : keyText(place.key);
}

/** A value in a cell of its own. */
function withHash(hash: string, value: Json): Json {
  return isJsonObject(value) ? { '@hash': hash, ...value } : { '@hash': hash, value };
}

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
