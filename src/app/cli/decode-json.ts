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

/** Limit of printed values: in a malicious BoC, shared cells can expand exponentially. */
const MOST_VALUES = 3_000_000;

/** Maximum length in characters of a repeated BoC that is printed again. */
const SHORT_BOC = 100;

export interface JsonOptions {
  /** Print repeated values in full; by default they refer to the first occurrence. */
  readonly full?: boolean;
  /** Decodes an opaque cell by its place, if known. */
  readonly describe?: (cell: Cell, place: Place | null) => unknown;
}

/**
 * Converts a decoded value to JSON: names as in TL-B, bigints as decimal strings, bytes as hex, addresses in raw form. A value
 * in a separate cell has `@hash`; data without a schema is a BoC in base64 (`@boc`); a pruned part is
 * `{ "@pruned": hash }`; a repeated part is `{ "@hash": hash, "@shown": path }`.
 *
 * @throws errors of decoding a part, with its path; cli/too-large
 */
export function tlbToJson(value: unknown, options: JsonOptions = {}): Json {
  const writer = new JsonWriter(options);
  walkValue(value, writer);
  return writer.result;
}

/** A part whose children are being written. */
interface Open {
  readonly place: Place | null;
  readonly json: Json[] | Record<string, Json>;
  readonly kind: VisitedNode['kind'];
  /** Hash of a value in a separate cell. */
  readonly hash: string | null;
  /** The value of a lazy part. */
  value: Json;
}

class JsonWriter implements ValueVisitor {
  readonly #options: JsonOptions;
  /** Path of the first occurrence of a cell, by hash. */
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

  /** Path of the first occurrence of a cell; `null`, and recorded, when this is the first. */
  #shownAt(hash: string, place: Place | null): string | null {
    if (this.#options.full === true) return null;
    const shown = this.#shown.get(hash);
    if (shown === undefined) this.#shown.set(hash, pathOf(place));
    return shown ?? null;
  }

  #rest(slice: Slice): Json {
    return { '@boc': this.#boc(new Builder().storeSlice(slice).endCell()) };
  }

  /** Counts one value per 64 characters. */
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

/** The key of a dictionary entry; `@extra` for the extra value. */
function entryName(place: Place): string {
  return place.step === EXTRA_STEP ? '@extra' : keyText(place.key);
}

/** A value in a separate cell. */
function withHash(hash: string, value: Json): Json {
  return isJsonObject(value) ? { '@hash': hash, ...value } : { '@hash': hash, value };
}

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
