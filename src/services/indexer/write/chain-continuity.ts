import type { ClientBase } from 'pg';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { readNeighbours, type StoredBlockId, type StoredNeighbours } from '#drivers/store/write/neighbours.js';
import { type BlockId, isMasterchain, printBlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import type { TernError } from '#kernel/tern-error.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { BlockParents, BundleRows } from '#services/indexer/rows/bundle-rows.js';

/** The proven id of a masterchain block in the chain that is indexed; null when it cannot be told. */
export type McBlockIdOf = (mc_seqno: number) => Promise<BlockId | null>;

/** Number of stored masterchain blocks that are remembered as blocks of the chain. */
const MAX_CONFIRMED = 1024;

/**
 * Checks that batches continue one chain: each block follows the blocks that its header names (`prev_ref`), inside of the batch and
 * in the index. Where a gap is left between the batch and what is indexed, the indexed block next to the gap has to be in the chain.
 */
export class ChainContinuity {
  readonly #idOf: McBlockIdOf;
  readonly #confirmed = new Set<string>();

  constructor(idOf: McBlockIdOf) {
    this.#idOf = idOf;
  }

  /**
   * Before the transaction of the batch: asks the chain for indexed blocks that the batch itself does not prove.
   *
   * @throws indexer/other-branch, indexer/broken-link
   */
  async prepare(client: ClientBase, range: SeqnoRange, bundles: readonly BundleRows[]): Promise<void> {
    requireLinks(bundles);
    for (const stored of unproven(await this.#compare(client, range, bundles), range)) {
      if (!this.#confirmed.has(keyOf(stored))) await this.#confirm(stored);
    }
  }

  /**
   * In the transaction of the batch, while no other one is written. Waits for the chain only when the index changed since
   * {@link prepare}.
   *
   * @throws indexer/other-branch
   */
  async require(client: ClientBase, range: SeqnoRange, bundles: readonly BundleRows[]): Promise<void> {
    for (const stored of unproven(await this.#compare(client, range, bundles), range)) {
      if (!this.#confirmed.has(keyOf(stored))) await this.#confirm(stored);
    }
  }

  async #compare(client: ClientBase, range: SeqnoRange, bundles: readonly BundleRows[]): Promise<StoredNeighbours> {
    const outside = previousOutside(bundles);
    const places = outside
      .filter((id) => !isMasterchain(id))
      .map((id) => ({ ...id, shard: BigInt.asIntN(64, id.shard) }));
    const neighbours = await readNeighbours(client, range, places);
    const stored = new Map(
      [...neighbours.shardBlocks, ...(neighbours.below === null ? [] : [neighbours.below])].map((row) => {
        const id = idOfStored(row);
        return [printPosition(id), id];
      }),
    );
    for (const id of outside) {
      const indexed = stored.get(printPosition(id));
      if (indexed !== undefined && !sameBlock(indexed, id)) throw otherBranch(indexed, id);
    }
    return neighbours;
  }

  async #confirm(stored: StoredBlockId): Promise<void> {
    const indexed = idOfStored(stored);
    const found = await this.#idOf(stored.seqno);
    if (found === null) return;
    if (!sameBlock(found, indexed)) throw otherBranch(indexed, found);
    if (this.#confirmed.size >= MAX_CONFIRMED) this.#confirmed.clear();
    this.#confirmed.add(keyOf(stored));
  }
}

/** The error of an indexed block that is not in the chain. */
export function otherBranch(indexed: BlockId, chain: BlockId): TernError {
  return indexerErrors['other-branch']({ indexed: printBlockId(indexed), chain: printBlockId(chain) });
}

/** The id of a stored block. */
export function idOfStored({ workchain, shard, seqno, root_hash, file_hash }: StoredBlockId): BlockId {
  return { workchain, shard: BigInt.asUintN(64, shard), seqno, root_hash, file_hash };
}

function keyOf({ seqno, root_hash }: StoredBlockId): string {
  return `${seqno} ${Buffer.from(root_hash).toString('latin1')}`;
}

/** The indexed blocks next to the range that no `prev_ref` of the batch names. */
function unproven({ below, above }: StoredNeighbours, { from }: SeqnoRange): StoredBlockId[] {
  return [below, above].filter((block) => block !== null && block.seqno !== from - 1) as StoredBlockId[];
}

function linksByPlace(bundles: readonly BundleRows[]): Map<string, BlockId> {
  return new Map(bundles.flatMap(({ links }) => links.map(({ id }): [string, BlockId] => [printPosition(id), id])));
}

/** Previous blocks that are not in the batch; no zerostates. */
function previousOutside(bundles: readonly BundleRows[]): BlockId[] {
  const inside = linksByPlace(bundles);
  const all = bundles.flatMap(({ links }) => links.flatMap(({ prev }) => prev));
  return all.filter((id) => id.seqno > 0 && !inside.has(printPosition(id)));
}

/** Checks the links inside of a batch. @throws indexer/broken-link */
function requireLinks(bundles: readonly { readonly links: readonly BlockParents[] }[]): void {
  const inside = linksByPlace(bundles as readonly BundleRows[]);
  for (const { links } of bundles) {
    for (const { id, prev } of links) {
      for (const each of prev) {
        const found = inside.get(printPosition(each));
        if (found === undefined || sameBlock(found, each)) continue;
        const [block, wanted] = [printBlockId(id), printBlockId(each)];
        throw indexerErrors['broken-link']({ block, prev: wanted, found: printBlockId(found) });
      }
    }
  }
}
