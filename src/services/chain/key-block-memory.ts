import type { BlockId } from '#formats/proofs/block-id.js';
import type { KeyBlockStore } from '#services/chain/key-block-store.js';

/** Key blocks kept for this run only. */
export class KeyBlockMemory implements KeyBlockStore {
  #blocks: readonly BlockId[] = [];

  async load(): Promise<readonly BlockId[]> {
    return this.#blocks;
  }

  async append(blocks: readonly BlockId[]): Promise<void> {
    this.#blocks = [...this.#blocks, ...blocks];
  }

  async replace(blocks: readonly BlockId[]): Promise<void> {
    this.#blocks = [...blocks];
  }
}
