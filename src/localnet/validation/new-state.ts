import { blockOfRef, isMasterchain, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { shardOf } from '#formats/tlb/shard-ident.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { ProcessedList } from '#localnet/validation/processed-upto.js';

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

/** The history of the block before, without the oldest bit, and with room for a new one. */
function shifted(history: bigint): bigint {
  return (history << ONE) & ((1n << 64n) - 1n);
}
