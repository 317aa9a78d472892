import type { BlockId } from '#formats/proofs/block-id.js';

/** Where proven key blocks are kept from one run to the next. Only one process uses it at a time. */
export interface KeyBlockStore {
  /** The key blocks of earlier runs, oldest first. Damage is repaired: what cannot be read is left out. */
  load(): Promise<readonly BlockId[]>;
  /** Keeps further ones, each newer than those before; they are on the disk when the promise is fulfilled. */
  append(blocks: readonly BlockId[]): Promise<void>;
  /** Keeps these and nothing else; oldest first. */
  replace(blocks: readonly BlockId[]): Promise<void>;
}
