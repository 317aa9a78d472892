import { Builder } from '#formats/cells/builder.js';
import type { Augmentation } from '#formats/cells/dict-build.js';

/**
 * An augmentation to test with: values begin with a uint16, the extra is the sum of them as a uint32 and a reference to
 * an empty cell, so that bits and references both count.
 */
export const sums: Augmentation = {
  empty: () => extra(0),
  leaf: (value) => extra(value.loadUint(16)),
  combine: (left, right) => {
    const total = left.loadUint(32) + right.loadUint(32);
    left.loadRef();
    right.loadRef();
    return extra(total);
  },
  skip: (slice) => void slice.skip(32).loadRef(),
};

function extra(total: number): Builder {
  return new Builder().storeUint(total, 32).storeRef(new Builder().endCell());
}
