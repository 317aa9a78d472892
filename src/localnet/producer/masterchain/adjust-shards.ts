import { Lazy } from '#formats/tlb/codec/lazy.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { WcSplitMergeTimings, WorkchainDescr } from '#formats/tlb/config/workchain-descr.js';
import {
  type FutureSplitMerge,
  type ShardDescr,
  ShardDescrFees,
  type ShardHashes,
  shardDescrFees,
  shardDescrs,
} from '#formats/tlb/shard-hashes.js';
import { MAX_SHARD_PREFIX, shardPrefixLength, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import { passesMultiple, sessionLifetimes } from '#localnet/producer/masterchain/session-lifetimes.js';
import { findExact, shardHashesOf } from '#localnet/producer/masterchain/shard-tree.js';

/** What shards are adjusted with. */
export interface AdjustmentContext {
  /** The configuration in the state after: that of the block if it is a key block. */
  readonly config: ConfigDictionary;
  readonly key_block: boolean;
  /** Of the masterchain block that is made, unix seconds. */
  readonly gen_utime: number;
  /** Of the masterchain block (or zerostate) before. */
  readonly prev_utime: number;
}

/** Neither a split nor a merge is planned. */
export const FSM_NONE: FutureSplitMerge = { kind: 'fsm_none' };

/** What nodes assume where the configuration has the older `workchain#a6`. */
const DEFAULT_TIMINGS: WcSplitMergeTimings = {
  split_merge_delay: 100,
  split_merge_interval: 100,
  min_split_merge_interval: 30,
  max_split_merge_delay: 1000,
};

/**
 * Plans, begins and calls off splits and merges, and goes over to new sessions of validators (`next_catchain_seqno`):
 * the last step to the `ShardHashes` of a masterchain block and of the state after it.
 *
 * A session ends with a key block and when the clock passes a multiple of `shard_catchain_lifetime`. Entries of which
 * nothing changes keep their form, others become a `shard_descr_new`.
 */
export function adjustShards(registered: ShardHashes, context: AdjustmentContext): ShardHashes {
  const { config, key_block, gen_utime: now, prev_utime } = context;
  const lifetime = sessionLifetimes(config).shard_catchain_lifetime;
  const newSession = key_block || passesMultiple(lifetime, prev_utime, now);
  const workchains = configParam(config, 12);
  const entries = [...shardDescrs(registered)];
  const adjusted = entries.map(({ workchain, shard, descr }) => {
    const other = shard === WHOLE_WORKCHAIN ? null : findExact(registered, { workchain, shard: shardSibling(shard) });
    const sibling = other?.descr ?? null;
    const rules = workchains?.get(workchain);
    const plan = replan(descr, sibling, rules, shardPrefixLength(shard), now);
    return { workchain, shard, descr: withPlan(descr, plan, newSession) };
  });
  const same = adjusted.every(({ descr }, i) => descr === entries[i]!.descr);
  return same ? registered : shardHashesOf(adjusted);
}

interface Plan {
  readonly split_merge_at: FutureSplitMerge;
  readonly before_merge: boolean;
}

/**
 * What is now planned for a shard of this depth; `sibling` is `null` when the other half is split further. A plan holds until
 * its time is over, also when shards no longer want it: validators accept no other change of it.
 */
function replan(
  descr: ShardDescr,
  sibling: ShardDescr | null,
  rules: WorkchainDescr | undefined,
  depth: number,
  now: number,
): Plan {
  let planned = descr.split_merge_at;
  if (planned.kind !== 'fsm_none' && (descr.before_split || isOver(planned, now))) planned = FSM_NONE;
  const mate = sibling?.before_split === false ? sibling : null;
  if (planned.kind === 'fsm_merge' && mate === null) planned = FSM_NONE;
  if (rules === undefined || descr.before_split) return { split_merge_at: planned, before_merge: false };

  const { min_split, max_split } = rules;
  const split = (descr.want_split || depth < min_split) && depth < max_split && depth < MAX_SHARD_PREFIX;
  const tooDeep = depth > max_split;
  const bothWant = mate !== null && (tooDeep || (descr.want_merge && mate.want_merge));
  const merge = !split && depth > min_split && bothWant;
  if (planned.kind === 'fsm_none' && (split || merge)) planned = planFrom(now, split, rules);
  const before_merge = bothWant && isMergeDue(planned, now) && isMergeDue(mate.split_merge_at, now);
  return { split_merge_at: planned, before_merge };
}

function planFrom(now: number, split: boolean, rules: WorkchainDescr): FutureSplitMerge {
  const timings = rules.kind === 'workchain_v2' ? rules.split_merge_timings : DEFAULT_TIMINGS;
  const begins = now + timings.split_merge_delay;
  const interval = timings.split_merge_interval;
  return split
    ? { kind: 'fsm_split', split_utime: begins, interval }
    : { kind: 'fsm_merge', merge_utime: begins, interval };
}

function isMergeDue(planned: FutureSplitMerge, now: number): boolean {
  return planned.kind === 'fsm_merge' && now >= planned.merge_utime;
}

function isOver(planned: Exclude<FutureSplitMerge, { readonly kind: 'fsm_none' }>, now: number): boolean {
  const begins = planned.kind === 'fsm_split' ? planned.split_utime : planned.merge_utime;
  return now >= begins + planned.interval;
}

/** The description with another plan and perhaps a new session; the same object when nothing changes. */
function withPlan(descr: ShardDescr, plan: Plan, newSession: boolean): ShardDescr {
  const { split_merge_at, before_merge } = plan;
  if (!newSession && split_merge_at === descr.split_merge_at && before_merge === descr.before_merge) return descr;
  return {
    ...descr,
    kind: 'shard_descr_new',
    split_merge_at,
    before_merge,
    next_catchain_seqno: descr.next_catchain_seqno + (newSession ? 1 : 0),
    fees: Lazy.ofValue(ShardDescrFees, shardDescrFees(descr)),
  };
}
