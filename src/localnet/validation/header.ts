import { blockOfRef, isMasterchain, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { previousBlocks } from '#formats/tlb/block-ref.js';
import { emittedLt } from '#formats/tlb/msg-envelope.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import type { MessageBook } from '#localnet/validation/message-book.js';

/** Start lts are multiples of this. */
const LT_STEP = 1_000_000n;
/** From this version of the rules on, blocks may have the time of the block before. */
const SAME_TIME_VERSION = 13;

/** Checks the fields of a block's header against the states before it. @throws validation/broken-rule */
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

/** The end lt is the first one that is after all transactions, and all messages that were sent on. */
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
