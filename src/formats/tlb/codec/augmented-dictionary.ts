import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { type Augmentation, buildAugmentedDictionary } from '#formats/cells/dict-build.js';
import { deleteAugmentedEntry, setAugmentedEntry } from '#formats/cells/dict-edit.js';
import { countEntries, DictWalk, lookup, type WalkOptions } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import {
  type EntriesOptions,
  inlineRoot,
  inlineWalk,
  type KeyCodec,
  loadValue,
  NO_OPTIONS,
  rootExtra,
} from '#formats/tlb/codec/dictionary.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/** How the extra of each node is computed. */
export interface AugmentationRule<V, E> {
  /** The extra of an empty dictionary. */
  readonly empty: E;
  /** The extra of a leaf. */
  leaf(value: V): E;
  /** The extra of a fork. */
  combine(left: E, right: E): E;
}

/** Key, value and extra types of an augmented dictionary and the rule of its extras; one per declaration. */
export class AugmentedType<K, V, E> {
  readonly key: KeyCodec<K>;
  readonly value: Codec<V>;
  readonly extra: Codec<E>;
  readonly rule: AugmentationRule<V, E>;
  /** The same rule on cells. */
  readonly augmentation: Augmentation;

  constructor(key: KeyCodec<K>, value: Codec<V>, extra: Codec<E>, rule: AugmentationRule<V, E>) {
    this.key = key;
    this.value = value;
    this.extra = extra;
    this.rule = rule;
    this.augmentation = {
      empty: () => store(extra, rule.empty),
      leaf: (slice) => store(extra, rule.leaf(value.load(slice))),
      combine: (left, right) => store(extra, rule.combine(extra.load(left), extra.load(right))),
      skip: (slice) => void extra.load(slice),
    };
  }
}

/**
 * `HashmapAugE n X Y`: a dictionary whose nodes carry an extra, such as a sum over their entries. Immutable, like
 * `Dictionary`; `set` and `delete` recompute the extras on the path to the root.
 */
export class AugmentedDictionary<K, V, E> {
  readonly root: Cell | null;
  /** The extra of the root; also present when the dictionary is empty. */
  readonly extra: E;
  readonly type: AugmentedType<K, V, E>;
  readonly #walkOptions: WalkOptions;

  /** @param walkOptions as for `Dictionary` */
  constructor(type: AugmentedType<K, V, E>, root: Cell | null, extra: E, walkOptions: WalkOptions = NO_OPTIONS) {
    this.type = type;
    this.root = root;
    this.extra = extra;
    this.#walkOptions = walkOptions;
  }

  static of<K, V, E>(type: AugmentedType<K, V, E>, entries: Iterable<readonly [K, V]>): AugmentedDictionary<K, V, E> {
    const raw = [...entries].map(([key, value]) => [type.key.encode(key), store(type.value, value)] as const);
    const built = buildAugmentedDictionary(type.key.bits, raw, type.augmentation);
    return new AugmentedDictionary(type, built.root, reload(type.extra, built.extra));
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
    const bits = this.type.key.encode(key);
    const slice = lookup(this.root, this.type.key.bits, bits);
    return slice === null ? undefined : this.#loadLeaf(slice, bits)[1];
  }

  has(key: K): boolean {
    return lookup(this.root, this.type.key.bits, this.type.key.encode(key)) !== null;
  }

  /** Entries in ascending order of their key bits, decoded on demand. */
  *entries(options?: EntriesOptions): IterableIterator<[K, V]> {
    const { key } = this.type;
    const walk = new DictWalk(this.root, key.bits, { ...this.#walkOptions, ...options });
    while (walk.next()) {
      const bits = walk.key.slice();
      yield [key.decode(bits), this.#loadLeaf(walk.value(), bits)[1]];
    }
  }

  /** As {@link entries}, with the extra of each leaf. */
  *entriesWithExtra(options?: EntriesOptions): IterableIterator<[K, V, E]> {
    const walk = new DictWalk(this.root, this.type.key.bits, { ...this.#walkOptions, ...options });
    while (walk.next()) {
      const bits = walk.key.slice();
      const [extra, value] = this.#loadLeaf(walk.value(), bits);
      yield [this.type.key.decode(bits), value, extra];
    }
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries();
  }

  set(key: K, value: V): AugmentedDictionary<K, V, E> {
    const { type } = this;
    const edited = setAugmentedEntry(
      this.root,
      type.key.bits,
      type.key.encode(key),
      store(type.value, value),
      type.augmentation,
    );
    return new AugmentedDictionary(type, edited.root, reload(type.extra, edited.extra));
  }

  delete(key: K): AugmentedDictionary<K, V, E> {
    const { type } = this;
    const edited = deleteAugmentedEntry(this.root, type.key.bits, type.key.encode(key), type.augmentation);
    return new AugmentedDictionary(type, edited.root, reload(type.extra, edited.extra));
  }

  #loadLeaf(slice: Slice, key: Uint8Array): readonly [E, V] {
    const extra = this.type.extra.load(slice);
    return [extra, loadValue(this.type.value, slice, key)];
  }
}

/** A codec of augmented dictionaries that can also build one from entries. */
export interface AugmentedCodec<K, V, E> extends Codec<AugmentedDictionary<K, V, E>> {
  readonly dictionaryType: AugmentedType<K, V, E>;
  of(entries: Iterable<readonly [K, V]>): AugmentedDictionary<K, V, E>;
}

/** `HashmapAugE n X Y`. */
export function hashmapAugE<K, V, E>(
  key: KeyCodec<K>,
  value: Codec<V>,
  extra: Codec<E>,
  rule: AugmentationRule<V, E>,
): AugmentedCodec<K, V, E> {
  const type = new AugmentedType(key, value, extra, rule);
  return {
    type: `(HashmapAugE ${key.bits} ${value.type} ${extra.type})`,
    dictionaryType: type,
    load: (slice) => {
      const root = slice.loadBit() ? slice.loadRef() : null;
      return new AugmentedDictionary(type, root, extra.load(slice));
    },
    store: (dictionary, builder) => {
      builder.storeBit(dictionary.root !== null);
      if (dictionary.root !== null) builder.storeRef(dictionary.root);
      extra.store(dictionary.extra, builder);
    },
    of: (entries) => AugmentedDictionary.of(type, entries),
  };
}

/** `HashmapAug n X Y`: never empty, its root edge inline in the current cell. */
export function hashmapAug<K, V, E>(
  key: KeyCodec<K>,
  value: Codec<V>,
  extra: Codec<E>,
  rule: AugmentationRule<V, E>,
): AugmentedCodec<K, V, E> {
  const type = new AugmentedType(key, value, extra, rule);
  const skipExtra = (slice: Slice) => void extra.load(slice);
  const skipLeaf = (slice: Slice) => {
    extra.load(slice);
    value.load(slice);
  };
  return {
    type: `(HashmapAug ${key.bits} ${value.type} ${extra.type})`,
    dictionaryType: type,
    load: (slice) => {
      const root = inlineRoot(slice, key.bits, skipLeaf, skipExtra);
      return new AugmentedDictionary(type, root, extra.load(rootExtra(root, key.bits)), inlineWalk(slice));
    },
    store: (dictionary, builder) => {
      if (dictionary.root === null)
        throw tlbErrors['field-presence']({ field: `HashmapAug ${key.bits}`, present: false });
      builder.storeSlice(openCell(dictionary.root));
    },
    of: (entries) => AugmentedDictionary.of(type, entries),
  };
}

function store<T>(codec: Codec<T>, value: T): Builder {
  const builder = new Builder();
  codec.store(value, builder);
  return builder;
}

function reload<T>(codec: Codec<T>, builder: Builder): T {
  return codec.load(openCell(builder.endCell()));
}
