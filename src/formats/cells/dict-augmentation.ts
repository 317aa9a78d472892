import type { Builder } from '#formats/cells/builder.js';
import type { Slice } from '#formats/cells/slice.js';

/**
 * The extras `Y` of a `HashmapAug n X Y`: how they are made and how long they are.
 *
 * ```
 * ahmn_leaf#_ {X:Type} {Y:Type} extra:Y value:X = HashmapAugNode 0 X Y;
 * ahmn_fork#_ {n:#} {X:Type} {Y:Type} left:^(HashmapAug n X Y) right:^(HashmapAug n X Y) extra:Y
 *   = HashmapAugNode (n + 1) X Y;
 * ahme_empty$0 {n:#} {X:Type} {Y:Type} extra:Y = HashmapAugE n X Y;
 * ahme_root$1 {n:#} {X:Type} {Y:Type} root:^(HashmapAug n X Y) extra:Y = HashmapAugE n X Y;
 * ```
 */
export interface Augmentation {
  /** The extra of an empty dictionary. */
  empty(): Builder;
  /** The extra of a leaf. The slice stands at the value and ends with it; it may be read. */
  leaf(value: Slice): Builder;
  /** The extra of a fork. Both slices stand at the extras below; exactly these are to be read, more may follow. */
  combine(left: Slice, right: Slice): Builder;
  /** Moves behind an extra. */
  skip(slice: Slice): void;
}
