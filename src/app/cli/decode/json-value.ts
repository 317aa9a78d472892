import { cliErrors } from '#app/cli/errors.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell, CellType, cellTypeName } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { toBase64, toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Equal cells may be shared without end in a hostile bag of cells; printed, each of them counts. */
const MOST_VALUES = 3_000_000;

/**
 * A decoded value as JSON: names as in TL-B, bigints as decimal strings, bytes as hex, addresses in raw form. A value in
 * a cell of its own has `@hash`; what the schema does not describe is a bag of cells in base64 (`@boc`); what a proof
 * leaves out is `{ "@pruned": hash }`.
 *
 * @throws what decoding a part throws, with the path to it; cli/too-large
 */
export function toJson(value: unknown): Json {
  return new JsonWriter().write(value);
}

class JsonWriter {
  #left = MOST_VALUES;

  write(value: unknown): Json {
    if (--this.#left < 0) throw cliErrors['too-large']({ values: MOST_VALUES });
    switch (typeof value) {
      case 'bigint':
        return value.toString();
      case 'boolean':
      case 'number':
      case 'string':
        return value;
      case 'object':
        return value === null ? null : this.#object(value);
      default:
        return null;
    }
  }

  #object(value: object): Json {
    if (value instanceof Lazy) return this.#lazy(value);
    if (value instanceof Dictionary) return this.#entries(value.entries({ pruned: 'skip' }));
    if (value instanceof AugmentedDictionary) {
      return { '@extra': this.write(value.extra), ...this.#entries(value.entries({ pruned: 'skip' })) };
    }
    if (value instanceof Uint8Array) return toHex(value);
    if (value instanceof Address) return value.toRaw();
    if (value instanceof BitString) return value.toString();
    if (value instanceof Cell) return this.#opaque(value);
    if (value instanceof Slice) return { '@boc': this.#boc(new Builder().storeSlice(value).endCell()) };
    if (Array.isArray(value)) return value.map((item, i) => this.#part(`[${i}]`, item));
    const out: Record<string, Json> = {};
    for (const [key, part] of Object.entries(value)) out[key] = this.#part(key, part);
    return out;
  }

  #lazy(value: Lazy<unknown>): Json {
    const { cell } = value;
    if (cell.type === CellType.prunedBranch) return { '@pruned': toHex(cell.hash(0)) };
    const hash = toHex(cell.hash(0));
    if (cell.type === CellType.libraryReference) return this.#opaque(cell);
    const inner = this.write(value.value);
    return isJsonObject(inner) ? { '@hash': hash, ...inner } : { '@hash': hash, value: inner };
  }

  #entries(entries: Iterable<readonly [unknown, unknown]>): Record<string, Json> {
    const out: Record<string, Json> = {};
    for (const [key, value] of entries) {
      const name = key instanceof Uint8Array ? toHex(key) : String(key);
      out[name] = this.#part(`[${name}]`, value);
    }
    return out;
  }

  #part(field: string, value: unknown): Json {
    try {
      return this.write(value);
    } catch (error) {
      throw isTernError(error) ? error.within(field) : error;
    }
  }

  #opaque(cell: Cell): Json {
    const hash = toHex(cell.hash(0));
    switch (cell.type) {
      case CellType.prunedBranch:
        return { '@pruned': hash };
      case CellType.libraryReference:
        return { '@hash': hash, '@library': toHex(cell.bytes.subarray(cell.dataOffset + 1, cell.dataOffset + 33)) };
      case CellType.ordinary:
        return { '@hash': hash, '@boc': this.#boc(cell) };
      default:
        return { '@hash': hash, '@kind': cellTypeName(cell.type), '@boc': this.#boc(cell) };
    }
  }

  /** Counts as many values as it has lines of 64 characters. */
  #boc(cell: Cell): string {
    const text = toBase64(serializeBoc(cell));
    this.#left -= text.length >> 6;
    return text;
  }
}

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
