import type { ResolveLibrary } from '#drivers/tvm/libraries.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Call } from '#services/chain/call.js';
import type { ChainReads } from '#services/chain/chain-reads.js';

interface PublishedLibrary {
  readonly cell: Cell;
  /** A masterchain block whose state is proven to publish it. */
  readonly seqno: number;
}

/**
 * That a library is published is proven for a block; contracts do not withdraw one from block to block, so it counts for
 * so many blocks after it as well. What is in it never changes: the hash is its name.
 */
const COUNTS_FOR_BLOCKS = 100;

/** Libraries that the masterchain publishes, with proof; those used last are kept. */
export class PublishedLibraries {
  readonly #chain: ChainReads;
  readonly #kept: LruByBytes<PublishedLibrary>;
  #fetches = 0;

  constructor(maxBytes: number, chain: ChainReads) {
    this.#chain = chain;
    this.#kept = new LruByBytes(maxBytes);
  }

  /** How many were asked for. */
  get fetches(): number {
    return this.#fetches;
  }

  /** Gets libraries as they are published after a masterchain block. */
  resolver(call: Call, block: BlockId): ResolveLibrary {
    return (hashes) => this.#resolve(call, block, hashes);
  }

  async #resolve(call: Call, block: BlockId, hashes: readonly Uint8Array[]): Promise<(Cell | null)[]> {
    const found = new Map<string, Cell>();
    const wanted: Uint8Array[] = [];
    for (const hash of hashes) {
      const key = toHex(hash);
      const known = this.#kept.get(key);
      const age = known === undefined ? -1 : block.seqno - known.seqno;
      if (known !== undefined && age >= 0 && age <= COUNTS_FOR_BLOCKS) found.set(key, known.cell);
      else wanted.push(hash);
    }
    if (wanted.length > 0) {
      this.#fetches += wanted.length;
      const { libraries } = await this.#chain.libraries(wanted, { at: block, ...call.rest() });
      for (const [key, cell] of libraries) {
        found.set(key, cell);
        const newest = this.#kept.get(key)?.seqno ?? -1;
        if (newest < block.seqno) this.#kept.set(key, { cell, seqno: block.seqno }, serializeBoc(cell).length);
      }
    }
    return hashes.map((hash) => found.get(toHex(hash)) ?? null);
  }
}
