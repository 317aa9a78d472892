import type { FutureSplitMerge, ShardDescr, ShardEntry } from '#formats/tlb/shard-hashes.js';
import { MAX_SHARD_PREFIX, shardPrefixLength, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import type { BlockContext } from '#localnet/validation/block-context.js';

/** Seconds, where the workchain does not set them. */
const DEFAULT_TIMINGS = { min_split_merge_interval: 30, max_split_merge_delay: 1000 };

/** The plan of who has none. */
export const NO_PLAN: FutureSplitMerge = { kind: 'fsm_none' };

function startOf(plan: FutureSplitMerge): number {
  return plan.kind === 'fsm_none' ? 0 : plan.kind === 'fsm_split' ? plan.split_utime : plan.merge_utime;
}

function endOf(plan: FutureSplitMerge): number {
  return plan.kind === 'fsm_none' ? 0 : startOf(plan) + plan.interval;
}

function samePlan(a: FutureSplitMerge, b: FutureSplitMerge): boolean {
  return a.kind === b.kind && startOf(a) === startOf(b) && endOf(a) === endOf(b);
}

/**
 * Checks a split or merge that is announced, or begins: what is planned stays so until its time is over.
 *
 * @param ancestor the same shard before this block; `null` for one that was created, split or merged
 * @throws validation/broken-rule
 */
export function checkSplitMergePlan(
  context: BlockContext,
  entry: ShardEntry,
  ancestor: ShardEntry | null,
  place: string,
): void {
  const { rules, info, afterView } = context;
  const { descr } = entry;
  const plan = descr.split_merge_at;
  const now = info.gen_utime;
  const known = ancestor?.descr.split_merge_at ?? NO_PLAN;
  const sibling = siblingOf(entry, afterView!.shards);
  const inherited = known.kind !== 'fsm_none' && samePlan(known, plan);
  if (ancestor === null) rules.equal('split-merge-plan', false, descr.before_split, `${place} before_split`);
  else if (known.kind !== 'fsm_none' && !inherited) {
    const impossible = known.kind === 'fsm_merge' && (sibling === null || sibling.before_split);
    const over = now >= endOf(known) || descr.before_split || impossible;
    rules.require(over, 'split-merge-plan', 'the plan before', 'another', place);
  }
  if (inherited) {
    const holds = now <= endOf(known) && !descr.before_split;
    rules.require(holds, 'split-merge-plan', 'a plan whose time is not over', endOf(known), place);
  }
  const workchain = afterView!.config.workchains.get(entry.workchain);
  const depth = shardPrefixLength(entry.shard);
  const min = workchain?.min_split ?? 0;
  const max = workchain?.max_split ?? 0;
  const maySplit = (descr.want_split || depth < min) && depth < max && depth < MAX_SHARD_PREFIX;
  const mayMerge =
    !descr.before_split &&
    depth > min &&
    (descr.want_merge || depth > max) &&
    sibling !== null &&
    !sibling.before_split &&
    (sibling.want_merge || depth > max);
  if (!inherited && plan.kind !== 'fsm_none') {
    const timings = workchain?.kind === 'workchain_v2' ? workchain.split_merge_timings : DEFAULT_TIMINGS;
    const from = startOf(plan);
    const until = endOf(plan);
    const right =
      from >= now && until - from >= timings.min_split_merge_interval && until <= now + timings.max_split_merge_delay;
    rules.require(right, 'split-merge-plan', `an interval after ${now}`, `${from} to ${until}`, place);
    const may = plan.kind === 'fsm_split' ? maySplit : mayMerge;
    rules.require(may, 'split-merge-plan', 'a shard that wants it', plan.kind, place);
  }
  if (plan.kind === 'fsm_merge') {
    const possible = sibling !== null && !sibling.before_split;
    rules.require(possible, 'split-merge-plan', 'a sibling', 'none', place);
  }
  if (!descr.before_merge) return;
  const both = sibling?.before_merge === true && plan.kind === 'fsm_merge' && mayMerge;
  rules.require(both, 'split-merge-plan', 'two shards with a plan to merge', plan.kind, `${place} before_merge`);
}

function siblingOf({ workchain, shard }: ShardEntry, entries: readonly ShardEntry[]): ShardDescr | null {
  if (shard === WHOLE_WORKCHAIN) return null;
  const other = shardSibling(shard);
  return entries.find((each) => each.workchain === workchain && each.shard === other)?.descr ?? null;
}
