import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { readLabel } from '#formats/cells/dict-label.js';
import { visitBudget, type WalkOptions } from '#formats/cells/dict-walk.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { Dictionary, type DictionaryType } from '#formats/tlb/codec/dictionary.js';
import type { KeyCodec } from '#formats/tlb/codec/dictionary-key.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/**
 * Cuts the root edge of a dictionary that is stored inline out of the cell at hand, as a cell of its own, and moves past
 * it. How far it reaches is known only by reading it.
 *
 * @param skipLeaf moves past what a leaf holds; @param skipFork moves past what a fork holds after its two references
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
 * How to walk over a dictionary of {@link inlineRoot}: no further than the cells of the slice allow. The root made there
 * is of no table, and would allow far more to a few bytes of shared cells.
 */
export function inlineWalk(slice: Slice): WalkOptions {
  return { limit: visitBudget(slice.cell, undefined).left };
}

/** A slice at the extra of an augmented dictionary's root node. */
export function rootExtra(root: Cell, keyBits: number): Slice {
  const slice = openCell(root);
  if (readLabel(slice, keyBits).length < keyBits) {
    slice.loadRef();
    slice.loadRef();
  }
  return slice;
}

/** `Hashmap n X`: never empty, its root edge inline in the cell at hand. */
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
