import type { Codec } from '#formats/tlb/codec/codec.js';
import { deferred, ref } from '#formats/tlb/codec/composites.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';

/** A binary tree with a value at each leaf; a leaf is found by the bits of its path: 0 is left, 1 is right. */
export type BinTree<T> =
  | { readonly kind: 'bt_leaf'; readonly leaf: T }
  | { readonly kind: 'bt_fork'; readonly left: Lazy<BinTree<T>>; readonly right: Lazy<BinTree<T>> };

/** The codec of `BinTree X`. */
export function binTree<T>(leaf: Codec<T>): Codec<BinTree<T>> {
  const tree: Codec<BinTree<T>> = union(`(BinTree ${leaf.type})`, [
    variant('bt_leaf$0 {X:Type} leaf:X = BinTree X;', { leaf }),
    variant('bt_fork$1 {X:Type} left:^(BinTree X) right:^(BinTree X) = BinTree X;', {
      left: ref(deferred(`(BinTree ${leaf.type})`, () => tree)),
      right: ref(deferred(`(BinTree ${leaf.type})`, () => tree)),
    }),
  ]) as Codec<BinTree<T>>;
  return tree;
}
