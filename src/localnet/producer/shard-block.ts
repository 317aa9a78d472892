import type { Cell } from '#formats/cells/cell.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { NO_CURRENCY } from '#formats/tlb/currency.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type BlockFrame, blockCells, type MadeBlock, type PrevBlock } from '#localnet/producer/block-cells.js';
import { type BlockValues, blockContent } from '#localnet/producer/block-content.js';
import { type RoundContext, rulesOf, runnerOf, startLt } from '#localnet/producer/block-source.js';
import { Collation, type Neighbour } from '#localnet/producer/collation.js';
import { type FailedIntervention, intervene } from '#localnet/producer/interventions.js';
import { NO_HISTORY } from '#localnet/producer/load-history.js';
import { prevKeyBlockSeqno } from '#localnet/producer/masterchain/mc-state-extra.js';
import type { NextShardBlock } from '#localnet/producer/masterchain/next-shard-blocks.js';
import { sessionOf } from '#localnet/producer/masterchain/sign-block.js';
import { createdValue } from '#localnet/producer/masterchain/value-rules.js';
import type { ExternalMessage, ExternalOutcome, Intervention } from '#localnet/producer/round-request.js';

/** What the next block of a shard is made of. */
export interface ShardBlockPlan {
  readonly next: NextShardBlock;
  readonly prev: readonly PrevBlock[];
  /** Root of the state before; after a merge a `split_state`. */
  readonly root: Cell;
  /** The state to work on: of a half after a split, of both after a merge. */
  readonly before: ShardStateUnsplit;
  readonly neighbours: readonly Neighbour[];
  readonly externals: readonly ExternalMessage[];
  readonly interventions: readonly Intervention[];
  readonly wants: { readonly split: boolean; readonly merge: boolean };
}

/** A block, and what became of the messages from outside. */
export interface Produced {
  readonly block: MadeBlock;
  readonly externals: readonly ExternalOutcome[];
  readonly failed: readonly FailedIntervention[];
  readonly transactions: number;
  readonly emulateMs: number;
}

/** Makes the next block of a shard. */
export async function makeShardBlock(context: RoundContext, plan: ShardBlockPlan): Promise<Produced> {
  const { view, gen_utime, modules, key, full } = context;
  const { next, prev, before } = plan;
  const shard: Shard = { workchain: next.workchain, shard: next.shard };
  const rules = rulesOf(context, shard.workchain);
  const prev_end_lt = prev.reduce((latest, { end_lt }) => (end_lt > latest ? end_lt : latest), 0n);
  const start_lt = startLt(view.end_lt, prev_end_lt);
  const rand_seed = modules.randomBytes(32);
  const runner = runnerOf(context, rules, start_lt, rand_seed);
  const collation = new Collation(
    {
      shard,
      before,
      rules,
      start_lt,
      view,
      mc_seqno: view.id.seqno,
      prev_end_lt,
      neighbours: plan.neighbours,
      gen_utime,
      full,
      faults: context.faults,
      foreignAccount: context.foreignAccount,
    },
    runner,
  );
  collation.dequeueReceived();
  await collation.receiveQueued();
  const failed = await intervene(collation, plan.interventions);
  await collation.receiveExternals(plan.externals);
  collation.queueNew();

  const values: BlockValues = {
    created: createdValue(rules.config, shard),
    minted: NO_CURRENCY,
    gained: collation.receiver.gained,
    recovered: NO_CURRENCY,
    fees_imported: NO_CURRENCY,
    feesBurned: NO_CURRENCY,
    burned: collation.receiver.burned,
  };
  const { overload_history: overload, underload_history: underload } = before.totals.value;
  const frame: BlockFrame = {
    seq_no: next.seq_no,
    prev,
    before: plan.root,
    gen_utime,
    after_split: next.after_split,
    after_merge: next.after_merge,
    before_split: next.before_split,
    session: sessionOf(view.extra, shard, next.gen_catchain_seqno),
    prev_key_block_seqno: prevKeyBlockSeqno(view.extra, view.id),
    rand_seed,
    created_by: key.publicKey,
    history: next.after_split || next.after_merge ? NO_HISTORY : { overload, underload },
    wants: plan.wants,
  };
  const block = blockCells(collation, frame, blockContent(collation, values), values, null);
  return { block, externals: collation.outcomes, failed, transactions: runner.count, emulateMs: runner.emulateMs };
}
