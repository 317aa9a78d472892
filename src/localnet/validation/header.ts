import { type BlockId, blockOfRef, isMasterchain, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import { isShardAncestor, previousBlocks, shardOf, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { emittedLt } from '#formats/tlb/block-messages.js';
import type { ShardDescr, ShardEntry } from '#formats/tlb/shard-hashes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { isShardHalf } from '#localnet/validation/routing.js';
import { ProcessedList } from '#localnet/validation/shard-before.js';
import type { MessageBook } from '#localnet/validation/transaction-messages.js';

/** Start lts are multiples of this. */
const LT_STEP = 1_000_000n;
/** Global version since which blocks may have the time of the previous block. */
const SAME_TIME_VERSION = 13;

/** Checks the header of a block against the previous states. @throws validation/broken-rule */
export function checkHeader(context: BlockContext): void {
  const { rules, id, block, info, mcExtra, reference, after } = context;
  const masterchain = isMasterchain(id);
  rules.equal('global-id', reference.state.global_id, block.global_id);
  if (reference.config.globalId !== undefined) rules.equal('global-id', reference.config.globalId, block.global_id);
  rules.equal('vert-seqno', reference.state.vert_seq_no, info.vert_seq_no);
  rules.equal('vert-seqno', false, info.vert_seqno_incr, 'vert_seqno_incr');
  checkPrevious(context);

  rules.equal('master-extra', masterchain, mcExtra !== null);
  if (masterchain) {
    for (const flag of ['after_merge', 'after_split', 'before_split'] as const)
      rules.equal('split-merge-flags', false, info[flag], flag);
    rules.equal('key-block', info.key_block, mcExtra!.key_block, 'in the extra');
  } else {
    rules.equal('key-block', false, info.key_block);
    rules.require(
      !(info.want_split && info.want_merge),
      'split-merge-flags',
      'one or none',
      'want_split and want_merge',
    );
  }
  checkTimes(context);

  rules.equal('min-ref-mc-seqno', after.min_ref_mc_seqno, info.min_ref_mc_seqno, 'header');
  rules.equal('prev-key-block', reference.lastKeySeqno, info.prev_key_block_seqno);
  const catchain = reference.nextCatchainSeqno(context.shard);
  rules.equal('catchain-seqno', catchain, info.gen_catchain_seqno);
  const { hash } = reference.config.validatorGroup(context.shard, info.gen_catchain_seqno);
  rules.equal('validator-list-hash', hash, info.gen_validator_list_hash_short);
}

function checkPrevious({ rules, id, info, previous, reference }: BlockContext): void {
  const refs = previousBlocks(info.prev_ref.value);
  for (const [i, ref] of refs.entries()) {
    const { state, id: before } = previous[i]!;
    rules.equal('prev-ref', state.gen_lt, ref.end_lt, 'end_lt of the block before');
    rules.equal('prev-ref', info.after_split, state.before_split, 'before_split of the block before');
    rules.require(before.seqno > 0 || (!info.after_split && !info.after_merge), 'prev-ref', 'a block', 'a zerostate');
    const { master_ref } = state.totals.value;
    if (master_ref !== null && info.master_ref !== null) {
      const { seq_no } = info.master_ref.value.master;
      rules.require(seq_no >= master_ref.master.seq_no, 'master-ref', master_ref.master.seq_no, seq_no);
    }
  }
  rules.equal('prev-ref', Math.max(...refs.map(({ seq_no }) => seq_no)) + 1, id.seqno, 'seqno');
  if (info.master_ref === null) return;
  const { master } = info.master_ref.value;
  rules.equal('master-ref', reference.id, blockOfRef(MASTERCHAIN_SHARD, master));
  rules.equal('master-ref', reference.state.gen_lt, master.end_lt, 'end_lt');
}

function checkTimes({ rules, id, info, before, reference, globalVersion, afterView }: BlockContext): void {
  const latest = before.gen_utime > reference.state.gen_utime ? before.gen_utime : reference.state.gen_utime;
  const rising = globalVersion >= SAME_TIME_VERSION ? info.gen_utime >= latest : info.gen_utime > latest;
  rules.require(rising, 'gen-utime', `after ${latest}`, info.gen_utime);

  const ends = [before.gen_lt, reference.state.gen_lt];
  if (isMasterchain(id)) for (const { descr } of afterView!.shards) ends.push(descr.end_lt);
  const bound = ends.reduce((most, lt) => (lt > most ? lt : most));
  const steps = bound === 0n ? 1n : (bound + LT_STEP - 1n) / LT_STEP;
  rules.equal('start-lt', steps * LT_STEP, info.start_lt);
  rules.require(info.end_lt > info.start_lt, 'end-lt', `more than ${info.start_lt}`, info.end_lt);
}

/** The end lt must be the first one after all transactions and emitted messages. */
export function checkEndLt({ rules, info }: BlockContext, book: MessageBook): void {
  let last = info.start_lt;
  const reach = (lt: bigint) => {
    if (lt > last) last = lt;
  };
  for (const { transaction } of book.transactions) reach(transaction.lt + BigInt(transaction.outmsg_cnt));
  for (const [, message] of book.in)
    if (message.kind === 'msg_import_deferred_fin') reach(emittedLt(message.in_msg.value));
  for (const [, message] of book.out)
    if (message.kind === 'msg_export_deferred_tr') reach(emittedLt(message.out_msg.value));
  rules.equal('end-lt', last + 1n, info.end_lt);
}

/** Maximum number of blocks by which a shard may be ahead of its entry in the masterchain. */
const LONGEST_CHAIN = 8;

/**
 * Checks that the masterchain block which a shard block refers to allows this block: that splits and merges are
 * scheduled there, and that the shard is not too far ahead.
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

const ONE = 1n;

/** Checks the fields of the state after a block. @throws validation/broken-rule */
export function checkNewState(context: BlockContext): void {
  const { rules, id, info, block, after, shard, reference, before } = context;
  rules.equal('state-header', block.global_id, after.global_id, 'global_id');
  rules.equal('state-header', id.workchain, after.shard_id.workchain_id, 'workchain_id');
  rules.equal('state-header', id.shard, shardOf(after.shard_id), 'shard');
  rules.equal('state-header', id.seqno, after.seq_no, 'seq_no');
  rules.equal('state-header', info.vert_seq_no, after.vert_seq_no, 'vert_seq_no');
  rules.equal('state-header', info.gen_utime, after.gen_utime, 'gen_utime');
  rules.equal('state-header', info.end_lt, after.gen_lt, 'gen_lt');
  rules.equal('state-header', info.before_split, after.before_split, 'before_split');
  const masterchain = isMasterchain(id);
  rules.equal('state-header', masterchain, after.custom !== null, 'custom');
  const { master_ref, libraries, overload_history, underload_history } = after.totals.value;
  rules.equal('state-header', !masterchain, master_ref !== null, 'master_ref');
  if (master_ref !== null) {
    const found = blockOfRef(MASTERCHAIN_SHARD, master_ref.master);
    rules.equal('state-header', reference.id, found, 'master_ref');
    rules.equal('state-header', reference.state.gen_lt, master_ref.master.end_lt, 'master_ref.end_lt');
    rules.require(libraries.isEmpty, 'libraries', 'none outside of the masterchain', 'some');
  }

  const processed = ProcessedList.of(shard, after.out_msg_queue_info.value.proc_info);
  const seqnos = [masterchain ? id.seqno : reference.id.seqno, processed.leastSeqno];
  for (const { descr } of context.afterView?.shards ?? []) seqnos.push(descr.min_ref_mc_seqno);
  rules.equal('min-ref-mc-seqno', Math.min(...seqnos), after.min_ref_mc_seqno, 'state');

  const both = overload_history & underload_history & ONE;
  rules.equal('load-history', 0n, both, 'overloaded and underloaded at once');
  rules.equal('load-history', shifted(before.overload_history), overload_history & ~ONE, 'overload_history');
  rules.equal('load-history', shifted(before.underload_history), underload_history & ~ONE, 'underload_history');
}

/** The previous history shifted by one block. */
function shifted(history: bigint): bigint {
  return (history << ONE) & ((1n << 64n) - 1n);
}
