import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-iterate.js';
import type { Slice } from '#formats/cells/slice.js';
import type { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { bytesEqual, compareBytes } from '#kernel/bytes/bytes.js';

/** An entry that two dictionaries do not both have; `null` where it is missing. */
export interface Difference<K, V> {
  readonly key: K;
  readonly old: V | null;
  readonly fresh: V | null;
}

/**
 * The entries in which two dictionaries differ, in the order of their keys; none, at no cost, when they are the same
 * cells. Walks both whole otherwise: for telling what is wrong.
 */
export function* dictionariesDiffer<K, V, E>(
  before: AugmentedDictionary<K, V, E>,
  after: AugmentedDictionary<K, V, E>,
): Generator<Difference<K, V>> {
  if (sameRoot(before.root, after.root)) return;
  const { key, extra, value } = before.type;
  const olds = iterateEntries(before.root, key.bits);
  const news = iterateEntries(after.root, key.bits);
  const load = (slice: Slice): V => {
    extra.load(slice);
    return value.load(slice);
  };
  let old = olds.next();
  let fresh = news.next();
  while (old.done !== true || fresh.done !== true) {
    const order = old.done === true ? 1 : fresh.done === true ? -1 : compareBytes(old.value[0], fresh.value[0]);
    const [oldKey, oldValue] = old.done === true ? [] : old.value;
    const [newKey, newValue] = fresh.done === true ? [] : fresh.value;
    if (order < 0) {
      yield { key: key.decode(oldKey!), old: load(oldValue!), fresh: null };
    } else if (order > 0) {
      yield { key: key.decode(newKey!), old: null, fresh: load(newValue!) };
    } else if (!bytesEqual(rest(oldValue!), rest(newValue!))) {
      yield { key: key.decode(oldKey!), old: load(oldValue!), fresh: load(newValue!) };
    }
    if (order <= 0) old = olds.next();
    if (order >= 0) fresh = news.next();
  }
}

/** Whether two dictionaries have the same root, or none. */
export function sameRoot(a: Cell | null, b: Cell | null): boolean {
  return a === b || (a !== null && b !== null && bytesEqual(a.hash(), b.hash()));
}

/** Hash of the extra and the value that a slice stands at. */
function rest(slice: Slice): Uint8Array {
  return new Builder().storeSlice(slice).endCell().hash();
}
