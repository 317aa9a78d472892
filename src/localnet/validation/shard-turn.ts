import { type BlockId, blockOfRef, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import type { ShardDescr, ShardEntry } from '#formats/tlb/shard-hashes.js';
import { isShardAncestor, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { isShardHalf } from '#localnet/validation/routing.js';

/** How far a shard may run ahead of what the masterchain has listed. */
const LONGEST_CHAIN = 8;

/**
 * Checks that the masterchain block which a shard's block refers to lets this shard have a block here: that splits and
 * merges are as planned there, and that the shard does not run too far ahead.
 *
 * @throws validation/broken-rule
 */
export function checkShardTurn(context: BlockContext): void {
  if (isMasterchain(context.id)) return;
  const { rules, shard, reference, info, previous } = context;
  const listed = reference.shards.filter(
    (entry) =>
      entry.workchain === shard.workchain &&
      (isShardAncestor(entry.shard, shard.shard) || isShardAncestor(shard.shard, entry.shard)),
  );
  const [left, right] = listed;
  if (left === undefined) throw rules.broken('shard-turn', 'a listed shard', 'none');
  const before = previous.map(({ id }) => id);
  let plan: ShardDescr['split_merge_at'] | null = null;
  if (left.shard === shard.shard) {
    rules.equal('shard-turn', false, info.after_split || info.after_merge, 'after a split or merge');
    rules.equal('shard-turn', false, left.descr.before_split, 'before_split in the list');
    if (shard.shard !== WHOLE_WORKCHAIN && left.descr.before_merge) {
      const sibling = reference.shard({ ...shard, shard: shardSibling(shard.shard) });
      rules.require(sibling?.descr.before_merge !== true, 'shard-turn', 'a merge', 'none');
    }
    plan = left.descr.split_merge_at;
    checkChain(context, left, before[0]!);
  } else if (isShardHalf(left.shard, shard.shard)) {
    rules.require(right !== undefined && isShardHalf(right.shard, shard.shard), 'shard-turn', 'two halves', 'one');
    rules.require(left.descr.before_merge && right!.descr.before_merge, 'shard-turn', 'a merge that is due', 'none');
    if (info.after_merge) {
      rules.equal('shard-turn', blockOfRef(left, left.descr), before[0]!, 'block before');
      rules.equal('shard-turn', blockOfRef(right!, right!.descr), before[1]!, 'block before');
    } else {
      rules.equal('shard-turn', false, info.after_split, 'after_split');
      const latest = Math.max(left.descr.seq_no, right!.descr.seq_no);
      const { seqno } = before[0]!;
      rules.require(seqno > latest && seqno < latest + LONGEST_CHAIN, 'shard-turn', `soon after ${latest}`, seqno);
    }
  } else if (isShardHalf(shard.shard, left.shard)) {
    rules.equal('shard-turn', true, left.descr.before_split, 'before_split in the list');
    rules.equal('shard-turn', false, info.after_merge, 'after_merge');
    if (info.after_split) rules.equal('shard-turn', blockOfRef(left, left.descr), before[0]!, 'block before');
    else checkChain(context, left, before[0]!);
  } else {
    throw rules.broken(
      'shard-turn',
      'this shard, its parent or its halves',
      printPosition({ ...left, seqno: left.descr.seq_no }),
    );
  }
  if (!info.before_split) return;
  const now = info.gen_utime;
  const planned = plan?.kind === 'fsm_split' && now >= plan.split_utime && now < plan.split_utime + plan.interval;
  rules.require(planned, 'before-split', 'a plan to split now', plan?.kind ?? 'none');
}

function checkChain({ rules }: BlockContext, listed: ShardEntry, before: BlockId): void {
  const { seq_no } = listed.descr;
  const { seqno } = before;
  rules.require(seqno >= seq_no && seqno < seq_no + LONGEST_CHAIN, 'shard-turn', `soon after ${seq_no}`, seqno);
  if (seqno === seq_no) rules.equal('shard-turn', blockOfRef(listed, listed.descr), before, 'block before');
}
