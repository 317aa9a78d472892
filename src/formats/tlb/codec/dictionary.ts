import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { deleteEntry, setEntry } from '#formats/cells/dict-edit.js';
import { countEntries } from '#formats/cells/dict-iterate.js';
import { lookup } from '#formats/cells/dict-lookup.js';
import { DictWalk, type WalkOptions } from '#formats/cells/dict-walk.js';
import type { Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import type { KeyCodec } from '#formats/tlb/codec/dictionary-key.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** How to treat parts of a dictionary that a proof leaves out: an error, or pass over them. */
export interface IterateOptions {
  readonly pruned?: 'throw' | 'skip';
}

/** The types of a dictionary's keys and values; one per declaration, shared by its dictionaries. */
export interface DictionaryType<K, V> {
  readonly key: KeyCodec<K>;
  readonly value: Codec<V>;
}

export const NO_OPTIONS: WalkOptions = {};

/**
 * `HashmapE n X`: read straight from its cells, entry by entry, when asked. Immutable: `set` and `delete` give a new
 * dictionary that shares all untouched cells. `root` is `null` when it is empty.
 */
export class Dictionary<K, V> {
  readonly root: Cell | null;
  readonly type: DictionaryType<K, V>;
  readonly #walkOptions: WalkOptions;

  /** @param walkOptions for all walks over it; where the root cell was made from a part of another, it does not know its table */
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

  /** The value of a key, or `undefined`. @throws cells/pruned-branch when a proof leaves the way to it out */
  get(key: K): V | undefined {
    const { key: keys, value } = this.type;
    const bits = keys.encode(key);
    const slice = lookup(this.root, keys.bits, bits);
    return slice === null ? undefined : loadValue(value, slice, bits);
  }

  has(key: K): boolean {
    return lookup(this.root, this.type.key.bits, this.type.key.encode(key)) !== null;
  }

  /** Entries in ascending order of the keys' bits, decoded one by one. */
  *entries(options?: IterateOptions): IterableIterator<[K, V]> {
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

/** Reads the value of a leaf whole. */
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
