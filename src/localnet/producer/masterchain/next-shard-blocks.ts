import { printShard, type Shard } from '#formats/proofs/block-id.js';
import { type ShardDescr, type ShardEntry, type ShardHashes, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { shardChildren, shardParent, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import { masterchainErrors } from '#localnet/producer/masterchain/errors.js';
import { shardsBefore } from '#localnet/producer/masterchain/shard-tree.js';

/** How the next block of a shard begins, on the newest masterchain block. */
export interface NextShardBlock extends Shard {
  /** The registered blocks that it follows: two after a merge, left one first. */
  readonly prev: readonly ShardEntry[];
  readonly after_split: boolean;
  readonly after_merge: boolean;
  /** Whether it must be the last one before a split. */
  readonly before_split: boolean;
  readonly seq_no: number;
  readonly gen_catchain_seqno: number;
}

/**
 * The next block of each shard: one for most, one for each half after a block with `before_split`, one for both halves
 * when the masterchain has let them merge (`before_merge`).
 *
 * @param hashes of the newest masterchain state, on which the blocks are made
 * @param gen_utime of the blocks, unix seconds
 * @returns in the order of `hashes`, from left to right
 */
export function nextShardBlocks(hashes: ShardHashes, gen_utime: number): readonly NextShardBlock[] {
  const blocks: NextShardBlock[] = [];
  for (const { workchain, shard, descr } of shardDescrs(hashes)) {
    if (descr.before_split) {
      for (const half of shardChildren(shard))
        blocks.push(nextShardBlock(hashes, { workchain, shard: half }, gen_utime));
    } else if (!descr.before_merge) {
      blocks.push(nextShardBlock(hashes, { workchain, shard }, gen_utime));
    } else if (shard !== WHOLE_WORKCHAIN && shard < shardSibling(shard)) {
      blocks.push(nextShardBlock(hashes, { workchain, shard: shardParent(shard) }, gen_utime));
    }
  }
  return blocks;
}

/**
 * How the next block of this shard begins: see {@link nextShardBlocks}.
 * @throws producer/shard-unknown
 */
export function nextShardBlock(hashes: ShardHashes, shard: Shard, gen_utime: number): NextShardBlock {
  const prev = shardsBefore(hashes, shard);
  const [first] = prev;
  if (first === undefined) throw masterchainErrors['shard-unknown']({ shard: printShard(shard) });
  const after_merge = prev.length > 1;
  const after_split = !after_merge && first.shard !== shard.shard;
  return {
    workchain: shard.workchain,
    shard: shard.shard,
    prev,
    after_split,
    after_merge,
    before_split: !after_merge && !after_split && isSplitDue(first.descr, gen_utime),
    seq_no: 1 + Math.max(...prev.map(({ descr }) => descr.seq_no)),
    gen_catchain_seqno: Math.max(...prev.map(({ descr }) => descr.next_catchain_seqno)) + (after_merge ? 1 : 0),
  };
}

/** Whether a planned split is to begin at this time. */
function isSplitDue({ split_merge_at: planned }: ShardDescr, now: number): boolean {
  return planned.kind === 'fsm_split' && now >= planned.split_utime && now < planned.split_utime + planned.interval;
}
