import type { Cell } from '#formats/cells/cell.js';
import { DictWalk, type WalkOptions } from '#formats/cells/dict-walk.js';
import type { Slice } from '#formats/cells/slice.js';

/** How to iterate: {@link WalkOptions}, and where to begin. */
export interface IterateOptions extends WalkOptions {
  /** Begin at this key, or after it; it need not be in the dictionary. */
  readonly from?: { readonly key: Uint8Array; readonly inclusive: boolean };
}

/**
 * Calls `visit` for each entry of a `Hashmap n X` or `HashmapAug n X Y` in the order of the keys as unsigned numbers
 * until it returns false. The key is an array of its own each time; for an augmented dictionary the slice stands at the
 * extra in front of the value.
 *
 * @param root the root cell of the dictionary (not the cell that holds the `HashmapE` bit); null is the empty one
 * @throws cells/dict-label, cells/dict-fork, cells/slice-underflow, cells/pruned-branch (unless skipped),
 *   cells/dict-too-large (see {@link WalkOptions.limit})
 */
export function forEachEntry(
  root: Cell | null,
  keyBits: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: a visitor that does not want to stop returns nothing
  visit: (key: Uint8Array, value: Slice) => boolean | void,
  options: IterateOptions = {},
): void {
  const walk = start(root, keyBits, options);
  while (walk.next()) if (visit(walk.key.slice(), walk.value()) === false) return;
}

/** The entries one by one; nothing is read before it is asked for. Otherwise as {@link forEachEntry}. */
export function* iterateEntries(
  root: Cell | null,
  keyBits: number,
  options: IterateOptions = {},
): Generator<readonly [key: Uint8Array, value: Slice]> {
  const walk = start(root, keyBits, options);
  while (walk.next()) yield [walk.key.slice(), walk.value()];
}

/** The number of entries. @throws as {@link forEachEntry} */
export function countEntries(root: Cell | null, keyBits: number, options: IterateOptions = {}): number {
  const walk = start(root, keyBits, options);
  let count = 0;
  while (walk.next()) count++;
  return count;
}

function start(root: Cell | null, keyBits: number, options: IterateOptions): DictWalk {
  const walk = new DictWalk(root, keyBits, options);
  if (options.from !== undefined) walk.seek(options.from.key, options.from.inclusive);
  return walk;
}
