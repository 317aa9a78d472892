import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { deleteEntry, setEntry } from '#formats/cells/dict-edit.js';
import { readLabel } from '#formats/cells/dict-label.js';
import { countEntries, DictWalk, lookup, visitBudget, type WalkOptions } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** How to treat pruned parts of a dictionary: as an error, or skip them. */
export interface EntriesOptions {
  readonly pruned?: 'throw' | 'skip';
}

/** Key and value types of a dictionary; one per declaration, shared by its dictionaries. */
export interface DictionaryType<K, V> {
  readonly key: KeyCodec<K>;
  readonly value: Codec<V>;
}

export const NO_OPTIONS: WalkOptions = {};

/**
 * `HashmapE n X`: entries are read from the cells on demand. Immutable: `set` and `delete` return a new
 * dictionary that shares all unchanged cells. `root` is `null` when it is empty.
 */
export class Dictionary<K, V> {
  readonly root: Cell | null;
  readonly type: DictionaryType<K, V>;
  readonly #walkOptions: WalkOptions;

  /** @param walkOptions for all walks over it; needed when the root cell was built from a part of another and has no table */
  constructor(type: DictionaryType<K, V>, root: Cell | null, walkOptions: WalkOptions = NO_OPTIONS) {
    this.type = type;
    this.root = root;
    this.#walkOptions = walkOptions;
  }

  /** The dictionary of these entries, in any order. @throws cells/dict-duplicate-key */
  static of<K, V>(type: DictionaryType<K, V>, entries: Iterable<readonly [K, V]>): Dictionary<K, V> {
    const raw = [...entries].map(([key, value]) => [type.key.encode(key), storeValue(type.value, value)] as const);
    return new Dictionary(type, buildDictionary(type.key.bits, raw));
  }

  get isEmpty(): boolean {
    return this.root === null;
  }

  /** Number of entries; walks the whole dictionary. */
  count(): number {
    return countEntries(this.root, this.type.key.bits, this.#walkOptions);
  }

  /** The value of a key, or `undefined`. @throws cells/pruned-branch when the path to it is pruned */
  get(key: K): V | undefined {
    const { key: keys, value } = this.type;
    const bits = keys.encode(key);
    const slice = lookup(this.root, keys.bits, bits);
    return slice === null ? undefined : loadValue(value, slice, bits);
  }

  has(key: K): boolean {
    return lookup(this.root, this.type.key.bits, this.type.key.encode(key)) !== null;
  }

  /** Entries in ascending order of their key bits, decoded on demand. */
  *entries(options?: EntriesOptions): IterableIterator<[K, V]> {
    const { key, value } = this.type;
    const walk = new DictWalk(this.root, key.bits, { ...this.#walkOptions, ...options });
    while (walk.next()) {
      const bits = walk.key.slice();
      yield [key.decode(bits), loadValue(value, walk.value(), bits)];
    }
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }

  set(key: K, value: V): Dictionary<K, V> {
    const { key: keys, value: values } = this.type;
    return new Dictionary(this.type, setEntry(this.root, keys.bits, keys.encode(key), storeValue(values, value)));
  }

  delete(key: K): Dictionary<K, V> {
    const { key: keys } = this.type;
    return new Dictionary(this.type, deleteEntry(this.root, keys.bits, keys.encode(key)).root);
  }
}

/** Reads a leaf as one value; nothing may be left over. */
export function loadValue<V>(codec: Codec<V>, slice: Slice, key: Uint8Array): V {
  try {
    const value = codec.load(slice);
    slice.end();
    return value;
  } catch (error) {
    throw isTernError(error) ? error.within(`[${toHex(key)}]`) : error;
  }
}

function storeValue<V>(codec: Codec<V>, value: V): Builder {
  const builder = new Builder();
  codec.store(value, builder);
  return builder;
}

/** `HashmapE n X`. */
export function hashmapE<K, V>(
  key: KeyCodec<K>,
  value: Codec<V>,
): Codec<Dictionary<K, V>> & { readonly of: (entries: Iterable<readonly [K, V]>) => Dictionary<K, V> } {
  const type: DictionaryType<K, V> = { key, value };
  return {
    type: `(HashmapE ${key.bits} ${value.type})`,
    load: (slice) => new Dictionary(type, slice.loadBit() ? slice.loadRef() : null),
    store: (dictionary, builder) => {
      builder.storeBit(dictionary.root !== null);
      if (dictionary.root !== null) builder.storeRef(dictionary.root);
    },
    of: (entries) => Dictionary.of(type, entries),
  };
}

/** `^(Hashmap n X)`: a dictionary that is never empty, its root in a reference. */
export function hashmapRef<K, V>(
  key: KeyCodec<K>,
  value: Codec<V>,
): Codec<Dictionary<K, V>> & { readonly of: (entries: Iterable<readonly [K, V]>) => Dictionary<K, V> } {
  const type: DictionaryType<K, V> = { key, value };
  return {
    type: `^(Hashmap ${key.bits} ${value.type})`,
    load: (slice) => new Dictionary(type, slice.loadRef()),
    store: (dictionary, builder) => {
      if (dictionary.root === null) throw tlbErrors['field-presence']({ field: `Hashmap ${key.bits}`, present: false });
      builder.storeRef(dictionary.root);
    },
    of: (entries) => Dictionary.of(type, entries),
  };
}

/**
 * Extracts the root edge of an inline dictionary as a separate cell and moves past it. Its length is only known by
 * reading it.
 *
 * @param skipLeaf moves past the contents of a leaf
 * @param skipFork moves past the contents of a fork after its two references
 */
export function inlineRoot(
  slice: Slice,
  keyBits: number,
  skipLeaf: (slice: Slice) => void,
  skipFork: (slice: Slice) => void,
): Cell {
  const start = slice.clone();
  const label = readLabel(slice, keyBits);
  if (label.length === keyBits) {
    skipLeaf(slice);
  } else {
    slice.loadRef();
    slice.loadRef();
    skipFork(slice);
  }
  const edge = start.take(start.remainingBits - slice.remainingBits, start.remainingRefs - slice.remainingRefs);
  return new Builder().storeSlice(edge).endCell();
}

/**
 * Walk options for a dictionary of {@link inlineRoot}: the budget of the slice's table. The extracted root has no table,
 * and its default budget would be far too large for a few bytes of shared cells.
 */
export function inlineWalk(slice: Slice): WalkOptions {
  return { limit: visitBudget(slice.cell, undefined).left };
}

/** A slice positioned at the extra of an augmented dictionary's root node. */
export function rootExtra(root: Cell, keyBits: number): Slice {
  const slice = openCell(root);
  if (readLabel(slice, keyBits).length < keyBits) {
    slice.loadRef();
    slice.loadRef();
  }
  return slice;
}

/** `Hashmap n X`: never empty, its root edge inline in the current cell. */
export function hashmap<K, V>(
  key: KeyCodec<K>,
  value: Codec<V>,
): Codec<Dictionary<K, V>> & { readonly of: (entries: Iterable<readonly [K, V]>) => Dictionary<K, V> } {
  const type: DictionaryType<K, V> = { key, value };
  return {
    type: `(Hashmap ${key.bits} ${value.type})`,
    load: (slice) =>
      new Dictionary(
        type,
        inlineRoot(
          slice,
          key.bits,
          (leaf) => void value.load(leaf),
          () => {},
        ),
        inlineWalk(slice),
      ),
    store: (dictionary, builder) => {
      if (dictionary.root === null) throw tlbErrors['field-presence']({ field: `Hashmap ${key.bits}`, present: false });
      builder.storeSlice(openCell(dictionary.root));
    },
    of: (entries) => Dictionary.of(type, entries),
  };
}

/** Converts dictionary keys to bit strings of a fixed length and back. */
export interface KeyCodec<K> {
  readonly bits: number;
  /** ⌈bits/8⌉ bytes, left-aligned, unused bits 0. */
  encode(key: K): Uint8Array;
  decode(bits: Uint8Array): K;
}

/** Unsigned integers of at most 48 bits. */
export function uintKey(bits: number): KeyCodec<number> {
  const size = (bits + 7) >> 3;
  const scale = 2 ** (size * 8 - bits);
  return {
    bits,
    encode: (key) => {
      if (!Number.isInteger(key) || key < 0 || key >= 2 ** bits)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of uint${bits}` });
      const out = new Uint8Array(size);
      let rest = key * scale;
      for (let i = size - 1; i >= 0; i--) {
        out[i] = rest % 256;
        rest = Math.floor(rest / 256);
      }
      return out;
    },
    decode: (bytes) => {
      let value = 0;
      for (let i = 0; i < size; i++) value = value * 256 + bytes[i]!;
      return value / scale;
    },
  };
}

/** Two's complement integers of at most 48 bits. Dictionaries order them by their bits: negative ones last. */
export function intKey(bits: number): KeyCodec<number> {
  const unsigned = uintKey(bits);
  const range = 2 ** bits;
  return {
    bits,
    encode: (key) => {
      if (key < -range / 2 || key >= range / 2)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of int${bits}` });
      return unsigned.encode(key < 0 ? key + range : key);
    },
    decode: (bytes) => {
      const value = unsigned.decode(bytes);
      return value >= range / 2 ? value - range : value;
    },
  };
}

/** Unsigned integers of any number of whole bytes, as bigint. */
export function bigUintKey(bits: 64 | 256): KeyCodec<bigint> {
  const size = bits / 8;
  return {
    bits,
    encode: (key) => {
      if (key < 0n || BigInt.asUintN(bits, key) !== key)
        throw tlbErrors.constraint({ bit: 0, value: String(key), rule: `a key of uint${bits}` });
      return new Uint8Array(Buffer.from(key.toString(16).padStart(size * 2, '0'), 'hex'));
    },
    decode: bits === 64 ? decodeUint64 : (bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`),
  };
}

const wordBytes = new Uint8Array(8);
const word = new DataView(wordBytes.buffer);

/** Logical times are the most frequent keys; this avoids conversion through text. */
function decodeUint64(bytes: Uint8Array): bigint {
  wordBytes.set(bytes);
  return word.getBigUint64(0);
}

/** Keys of whole bytes: hashes, account ids, composite keys. */
export function bytesKey(length: number): KeyCodec<Uint8Array> {
  return {
    bits: length * 8,
    encode: (key) => {
      if (key.length !== length)
        throw tlbErrors.constraint({ bit: 0, value: `a key of ${key.length} bytes`, rule: `bits${length * 8}` });
      return key;
    },
    decode: (bytes) => bytes,
  };
}
