import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { shardContains, shardHex } from '#formats/tlb/shard-ident.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';

/** The blocks of one shard by rising seqno, and so also by rising lt, and by time that does not fall. */
interface ShardBlocks {
  readonly shard: bigint;
  readonly blocks: LedgerBlock[];
}

/** Finds blocks by what an account's chain of blocks looks like: seqno, lt, time. */
export class BlockIndex {
  readonly #workchains = new Map<number, Map<string, ShardBlocks>>();

  /** Adds a block; those of a shard come in their order. */
  add(block: LedgerBlock): void {
    const { workchain, shard } = block.id;
    let shards = this.#workchains.get(workchain);
    if (shards === undefined) {
      shards = new Map();
      this.#workchains.set(workchain, shards);
    }
    const key = shardHex(shard);
    const known = shards.get(key);
    if (known === undefined) shards.set(key, { shard, blocks: [block] });
    else known.blocks.push(block);
  }

  hasWorkchain(workchain: number): boolean {
    return this.#workchains.has(workchain);
  }

  /** The first block, in the chain of the shards that a prefix belongs to, that the question is about. */
  find(query: BlockQuery): LedgerBlock | null {
    const reaches = test(query);
    let first: LedgerBlock | null = null;
    for (const { shard, blocks } of this.#workchains.get(query.workchain)?.values() ?? []) {
      if (!shardContains(shard, query.shard)) continue;
      const found = blocks[firstIndex(blocks, reaches)];
      if (found !== undefined && (first === null || found.id.seqno < first.id.seqno)) first = found;
    }
    if (query.by === 'seqno' && first?.id.seqno !== query.seqno) return null;
    return first;
  }
}

/** Says of a block whether it or one before it is looked for. */
function test(query: BlockQuery): (block: LedgerBlock) => boolean {
  switch (query.by) {
    case 'seqno':
      return ({ id }) => id.seqno >= query.seqno;
    case 'lt':
      return ({ end_lt }) => end_lt >= query.lt;
    case 'utime':
      return ({ gen_utime }) => gen_utime >= query.utime;
  }
}

/** The least index whose block passes; the length when none does. */
function firstIndex(blocks: readonly LedgerBlock[], passes: (block: LedgerBlock) => boolean): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(blocks[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
