import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import type { ValidatorGroup } from '#formats/proofs/validators.js';
import type { InMsg } from '#formats/tlb/block-messages.js';
import type { Lazy } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { addCurrency, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { librariesAfter, publishForever } from '#localnet/producer/block-accounts.js';
import {
  type BlockFrame,
  type BlockValues,
  blockCells,
  blockContent,
  type MadeBlock,
  type PrevBlock,
} from '#localnet/producer/block-cells.js';
import { NO_HISTORY, type ProductionContext, rulesOf, runnerOf, startLt } from '#localnet/producer/block-context.js';
import type { ExternalInOutcome, PendingExternalIn, StateOverride } from '#localnet/producer/block-request.js';
import { Collation, type Neighbour } from '#localnet/producer/collation.js';
import {
  configOfAccounts,
  mcBlockExtra,
  nextMcStateExtra,
  prevKeyBlockSeqno,
} from '#localnet/producer/mc-state-extra.js';
import { type NextShardBlock, registerShards } from '#localnet/producer/shard-config.js';
import { sessionOf } from '#localnet/producer/sign-block.js';
import { applyOverrides, type FailedOverride } from '#localnet/producer/state-overrides.js';
import {
  blackholeCoins,
  createdValue,
  globalBalanceAfter,
  importedFees,
  specialMessage,
  specialValues,
} from '#localnet/producer/value-flow.js';

/** Inputs of the next masterchain block. */
export interface MasterchainBlockPlan {
  /** Root of the previous state. */
  readonly root: Cell;
  /** The newest block of each shard, which the block registers. */
  readonly tops: readonly MadeBlock[];
  /** The shards as the block will list them. */
  readonly neighbours: readonly Neighbour[];
  readonly externals: readonly PendingExternalIn[];
  readonly overrides: readonly StateOverride[];
}

export interface ProducedMasterchain extends Produced {
  readonly key_block: boolean;
  readonly session: ValidatorGroup;
}

/** Produces the next masterchain block. */
export async function makeMasterchainBlock(
  context: ProductionContext,
  plan: MasterchainBlockPlan,
): Promise<ProducedMasterchain> {
  const { view, gen_utime, modules, key, full } = context;
  const shard = MASTERCHAIN_SHARD;
  const before = view.state;
  const mc_seqno = view.id.seqno + 1;
  const rules = rulesOf(context, shard.workchain);
  const { config } = rules;
  const registered = registerShards(
    view.extra.shard_hashes,
    plan.tops.map(({ id, info, fees_collected, created: funds_created }) => ({
      id,
      info,
      fees_collected,
      funds_created,
    })),
    { config, mc_seqno, gen_utime },
  );
  const start_lt = startLt(view.end_lt, ...plan.tops.map(({ end_lt }) => end_lt));
  const rand_seed = modules.randomBytes(32);
  const runner = runnerOf(context, rules, start_lt, rand_seed);
  const collation = new Collation(
    {
      shard,
      before,
      rules,
      start_lt,
      view,
      mc_seqno,
      prev_end_lt: view.end_lt,
      neighbours: plan.neighbours,
      gen_utime,
      full,
      faults: context.faults,
      forkedAccount: context.forkedAccount,
    },
    runner,
  );
  const { total_validator_fees } = before.totals.value;
  const special = specialValues(
    config,
    { total_validator_fees, global_balance: view.extra.global_balance },
    registered.shard_fees,
  );
  const receive = async (dest: Uint8Array | null, value: typeof special.minted): Promise<Lazy<InMsg> | null> =>
    dest === null ? null : collation.special(specialMessage(dest, value, start_lt, gen_utime));

  await collation.tickTock('tick');
  const recover_create_msg = await receive(special.collector, special.recovered);
  const mint_msg = await receive(special.minter, special.minted);
  collation.dequeueReceived();
  await collation.receiveQueued();
  const failed = await applyOverrides(collation, plan.overrides);
  await collation.receiveExternals(plan.externals);
  await collation.tickTock('tock');
  collation.queueNew();

  const blackhole = configParam(config, 5)?.blackhole_addr ?? null;
  const vanished = blackhole === null ? 0n : blackholeCoins(collation.accounts.get(blackhole));
  const { fees_imported, burned: feesBurned } = importedFees(config, registered.shard_fees);
  const values: BlockValues = {
    created: createdValue(config, shard),
    minted: special.minted,
    gained: collation.receiver.gained,
    recovered: special.recovered,
    fees_imported,
    feesBurned,
    burned: addCurrency(collation.receiver.burned, onlyGrams(vanished)),
  };
  const content = blockContent(collation, values);
  const next = nextMcStateExtra({
    before: view.extra,
    previous: { id: view.id, end_lt: view.end_lt, gen_utime: before.gen_utime },
    registered: registered.shard_hashes,
    config: configOfAccounts(content.after.accounts, view.extra.config),
    gen_utime,
    global_balance: globalBalanceAfter(view.extra.global_balance, {
      created: values.created,
      minted: values.minted,
      shard_fees: registered.shard_fees,
    }),
    creators: { masterchain: key.publicKey, shards: plan.tops.map(({ created_by }) => created_by) },
  });
  const session = sessionOf(view.extra, shard, view.extra.info.value.validator_info.catchain_seqno);
  const { overload_history: overload, underload_history: underload } = before.totals.value;
  const frame: BlockFrame = {
    seq_no: mc_seqno,
    prev: [{ id: view.id, end_lt: view.end_lt }],
    before: plan.root,
    gen_utime,
    after_split: false,
    after_merge: false,
    before_split: false,
    session,
    prev_key_block_seqno: prevKeyBlockSeqno(view.extra, view.id),
    rand_seed,
    created_by: key.publicKey,
    history: { overload, underload },
    wants: { split: false, merge: false },
  };
  const block = blockCells(collation, frame, content, values, {
    extra: mcBlockExtra(next, registered, { recover_create_msg, mint_msg }),
    state: next.extra,
    min_ref_mc_seqno: leastReference(next.extra.shard_hashes, mc_seqno),
    libraries: plan.overrides.reduce(
      (libraries, each) => (each.kind === 'library' ? publishForever(libraries, each.library) : libraries),
      librariesAfter(before.totals.value.libraries, collation.accounts.opened()),
    ),
  });
  return {
    block,
    key_block: next.key_block,
    session,
    externals: collation.outcomes,
    failed,
    transactions: runner.count,
    emulateMs: runner.emulateMs,
  };
}

/** The oldest masterchain block that a registered shard refers to. */
function leastReference(hashes: Parameters<typeof shardDescrs>[0], own: number): number {
  let least = own;
  for (const { descr } of shardDescrs(hashes)) least = Math.min(least, descr.min_ref_mc_seqno);
  return least;
}

/** Inputs of the next block of a shard. */
export interface ShardBlockPlan {
  readonly next: NextShardBlock;
  readonly prev: readonly PrevBlock[];
  /** Root of the previous state; after a merge a `split_state`. */
  readonly root: Cell;
  /** The state to work on: of one half after a split, of both halves merged after a merge. */
  readonly before: ShardStateUnsplit;
  readonly neighbours: readonly Neighbour[];
  readonly externals: readonly PendingExternalIn[];
  readonly overrides: readonly StateOverride[];
  readonly wants: { readonly split: boolean; readonly merge: boolean };
}

/** A produced block and the outcomes of external-in messages and overrides. */
export interface Produced {
  readonly block: MadeBlock;
  readonly externals: readonly ExternalInOutcome[];
  readonly failed: readonly FailedOverride[];
  readonly transactions: number;
  readonly emulateMs: number;
}

/** Produces the next block of a shard. */
export async function makeShardBlock(context: ProductionContext, plan: ShardBlockPlan): Promise<Produced> {
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
      forkedAccount: context.forkedAccount,
    },
    runner,
  );
  collation.dequeueReceived();
  await collation.receiveQueued();
  const failed = await applyOverrides(collation, plan.overrides);
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
