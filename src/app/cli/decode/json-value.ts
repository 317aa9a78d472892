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
  type ValueVisitor,
  type VisitedNode,
  walkValue,
} from '#formats/tlb/walk-value.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Equal cells may be shared without end in a hostile bag of cells; printed, each of them counts. */
const MOST_VALUES = 3_000_000;

/** Gives a better view of an opaque cell than its bytes, where the place tells what it is. */
export type Describe = (cell: Cell, place: Place | null) => unknown;

/**
 * A decoded value as JSON: names as in TL-B, bigints as decimal strings, bytes as hex, addresses in raw form. A value in
 * a cell of its own has `@hash`; what the schema does not describe is a bag of cells in base64 (`@boc`); what a proof
 * leaves out is `{ "@pruned": hash }`.
 *
 * @throws what decoding a part throws, with the path to it; cli/too-large
 */
export function toJson(value: unknown, describe: Describe = () => undefined): Json {
  const writer = new JsonWriter(describe);
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
  readonly #describe: Describe;
  readonly #open: Open[] = [];
  #left = MOST_VALUES;
  result: Json = null;

  constructor(describe: Describe) {
    this.#describe = describe;
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
      case 'lazy':
        this.#open.push({ place, json: {}, kind: node.kind, hash: toHex(node.value.cell.hash(0)), value: null });
        return true;
      default:
        this.#open.push({ place, json: node.kind === 'array' ? [] : {}, kind: node.kind, hash: null, value: null });
        return true;
    }
  }

  leave(): void {
    const { place, json, hash, value } = this.#open.pop()!;
    if (hash === null) this.#put(place, json);
    else this.#put(place, isJsonObject(value) ? { '@hash': hash, ...value } : { '@hash': hash, value });
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
    const described = this.#describe(cell, place);
    if (described === undefined) return { '@hash': hash, '@boc': this.#boc(cell) };
    const inner = toJson(described, this.#describe);
    return isJsonObject(inner) ? { '@hash': hash, ...inner } : { '@hash': hash, value: inner };
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

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
