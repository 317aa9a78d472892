import { type BlockId, printPosition, printShard, type Shard } from '#formats/proofs/block-id.js';
import type { BlockInfo } from '#formats/tlb/block.js';
import {
  isShardAncestor,
  MAX_SHARD_PREFIX,
  shardChildren,
  shardHex,
  shardParent,
  shardPrefixLength,
  shardSibling,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/block-id.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { WcSplitMergeTimings, WorkchainDescr } from '#formats/tlb/config/network.js';
import { type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import {
  type FutureSplitMerge,
  findShard,
  type ShardDescr,
  ShardDescrFees,
  type ShardEntry,
  type ShardFeeCreated,
  ShardFees,
  ShardHashes,
  type ShardKey,
  ShardTree,
  shardDescrFees,
  shardDescrs,
} from '#formats/tlb/shard-hashes.js';
import { producerErrors } from '#localnet/producer/errors.js';

/** The newest block of a shard in a bundle, with sums over it and the blocks of the bundle that it follows. */
export interface ShardTopBlock {
  readonly id: BlockId;
  readonly info: BlockInfo;
  /** `fees_collected` of the blocks' value flows. */
  readonly fees_collected: CurrencyCollection;
  /** `created` of the blocks' value flows. */
  readonly funds_created: CurrencyCollection;
}

/** What a masterchain block registers, before it is known whether it is a key block. */
export interface RegisteredShards {
  /** Not final: `adjustShards` completes them. */
  readonly shard_hashes: ShardHashes;
  readonly shard_fees: ShardFees;
}

/** Inputs of the registration. */
export interface RegistrationContext {
  /** The configuration in the previous state. */
  readonly config: ConfigDictionary;
  /** Of the masterchain block that is produced. */
  readonly mc_seqno: number;
  /** Of the masterchain block that is produced, unix seconds. */
  readonly gen_utime: number;
}

/** `min_ref_mc_seqno` of a block that refers to no masterchain block. */
const NO_MC_SEQNO = 0xffffffff;

/**
 * Registers the newest shard blocks, and the zerostates of workchains that start. Call it before the transactions of
 * the masterchain block: these may recover the fees of the shards, and the block's start_lt follows the tops' end_lt.
 *
 * @param before `ShardHashes` of the previous state
 * @param tops at most one per shard; after a split both halves
 * @throws producer/shard-not-next, producer/shard-unknown, producer/shards-incomplete
 */
export function registerShards(
  before: ShardHashes,
  tops: readonly ShardTopBlock[],
  context: RegistrationContext,
): RegisteredShards {
  const shards = new Map<string, ShardEntry>();
  for (const entry of shardDescrs(before)) shards.set(printShard(entry), entry);
  const fees: (readonly [ShardKey, ShardFeeCreated])[] = [];
  const known = new Set([...shards.values()].map(({ workchain }) => workchain));
  for (const [workchain, descr] of configParam(context.config, 12) ?? []) {
    if (known.has(workchain) || !descr.active || descr.enabled_since > context.gen_utime) continue;
    const entry = { workchain, shard: WHOLE_WORKCHAIN, descr: zerostateDescr(descr, context.mc_seqno) };
    shards.set(printShard(entry), entry);
    fees.push([entry, { fees: NO_CURRENCY, create: NO_CURRENCY }]);
  }
  for (const top of tops) {
    for (const entry of registeredBefore(before, top)) shards.delete(printShard(entry));
  }
  for (const top of tops) {
    const { workchain, shard } = top.id;
    const planned = findExact(before, top.id)?.descr.split_merge_at ?? FSM_NONE;
    const entry = { workchain, shard, descr: registeredDescr(top, planned, context.mc_seqno) };
    shards.set(printShard(entry), entry);
    fees.push([entry, { fees: top.fees_collected, create: top.funds_created }]);
  }
  return { shard_hashes: shardHashesOf(shards.values()), shard_fees: ShardFees.of(fees) };
}

/**
 * The entries that a top block replaces: of its shard, of its parent shard, or of both halves.
 * @throws producer/shard-not-next, producer/shard-unknown
 */
function registeredBefore(before: ShardHashes, { id, info }: ShardTopBlock): readonly ShardEntry[] {
  const [first, ...others] = shardsBefore(before, id);
  if (first === undefined) throw producerErrors['shard-unknown']({ shard: printShard(id) });
  const wrong = (problem: string): Error => producerErrors['shard-not-next']({ block: printPosition(id), problem });
  for (const entry of [first, ...others]) {
    const { seq_no, next_catchain_seqno } = entry.descr;
    if (seq_no >= id.seqno) throw wrong(`${printShard(entry)} is at ${seq_no} already`);
    if (next_catchain_seqno > info.gen_catchain_seqno)
      throw wrong(`it is of session ${info.gen_catchain_seqno}, after session ${next_catchain_seqno} has begun`);
  }
  return [first, ...others];
}

/** The `ShardDescr` of a registered block. */
function registeredDescr(
  { id, info, ...sums }: ShardTopBlock,
  planned: FutureSplitMerge,
  mc_seqno: number,
): ShardDescr {
  const { fees_collected, funds_created } = sums;
  return {
    kind: 'shard_descr_new',
    seq_no: id.seqno,
    reg_mc_seqno: mc_seqno,
    start_lt: info.start_lt,
    end_lt: info.end_lt,
    root_hash: id.root_hash,
    file_hash: id.file_hash,
    before_split: info.before_split,
    before_merge: false,
    want_split: info.want_split,
    want_merge: info.want_merge,
    nx_cc_updated: false,
    flags: 0,
    next_catchain_seqno: info.gen_catchain_seqno,
    next_validator_shard: id.shard,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    gen_utime: info.gen_utime,
    split_merge_at: planned,
    fees: Lazy.ofValue(ShardDescrFees, { fees_collected, funds_created }),
  };
}

/** The `ShardDescr` of a workchain that starts. */
function zerostateDescr(workchain: WorkchainDescr, mc_seqno: number): ShardDescr {
  return {
    kind: 'shard_descr',
    seq_no: 0,
    reg_mc_seqno: mc_seqno,
    start_lt: 0n,
    end_lt: 0n,
    root_hash: workchain.zerostate_root_hash,
    file_hash: workchain.zerostate_file_hash,
    before_split: false,
    before_merge: false,
    want_split: false,
    want_merge: false,
    nx_cc_updated: false,
    flags: 0,
    next_catchain_seqno: 0,
    next_validator_shard: WHOLE_WORKCHAIN,
    min_ref_mc_seqno: NO_MC_SEQNO,
    gen_utime: 0,
    split_merge_at: FSM_NONE,
    fees_collected: NO_CURRENCY,
    funds_created: NO_CURRENCY,
  };
}

/** Inputs of the adjustment. */
export interface AdjustmentContext {
  /** The configuration in the new state; in a key block, the block's own. */
  readonly config: ConfigDictionary;
  readonly key_block: boolean;
  /** Of the masterchain block that is produced, unix seconds. */
  readonly gen_utime: number;
  /** Of the previous masterchain block or zerostate. */
  readonly prev_utime: number;
}

/** Neither a split nor a merge is scheduled. */
const FSM_NONE: FutureSplitMerge = { kind: 'fsm_none' };

/** Default of nodes for the older `workchain#a6`. */
const DEFAULT_TIMINGS: WcSplitMergeTimings = {
  split_merge_delay: 100,
  split_merge_interval: 100,
  min_split_merge_interval: 30,
  max_split_merge_delay: 1000,
};

/**
 * Schedules, starts and cancels splits and merges, and starts new validator sessions (`next_catchain_seqno`): the last
 * step to the `ShardHashes` of a masterchain block and the state after it.
 *
 * A session ends with a key block and when the time passes a multiple of `shard_catchain_lifetime`. Unchanged entries
 * keep their form, others become `shard_descr_new`.
 */
export function adjustShards(registered: ShardHashes, context: AdjustmentContext): ShardHashes {
  const { config, key_block, gen_utime: now, prev_utime } = context;
  const lifetime = catchainLifetimes(config).shard_catchain_lifetime;
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
 * The schedule of a shard of this depth; `sibling` is `null` when the other half is split further. A schedule stays
 * valid until its interval ends, even when shards no longer want it: validators accept no other change of it.
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

/** The description with another schedule and possibly a new session; the same object when nothing changes. */
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

/** How the next block of a shard starts, on the newest masterchain block. */
export interface NextShardBlock extends Shard {
  /** The registered blocks that it follows: two after a merge, the left one first. */
  readonly prev: readonly ShardEntry[];
  readonly after_split: boolean;
  readonly after_merge: boolean;
  /** Whether it must be the last block before a split. */
  readonly before_split: boolean;
  readonly seq_no: number;
  readonly gen_catchain_seqno: number;
}

/**
 * The next block of each shard: usually one; one for each half after a block with `before_split`; one for both halves
 * when the masterchain has approved their merge (`before_merge`).
 *
 * @param hashes of the newest masterchain state, which the blocks refer to
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
 * How the next block of this shard starts: see {@link nextShardBlocks}.
 * @throws producer/shard-unknown
 */
export function nextShardBlock(hashes: ShardHashes, shard: Shard, gen_utime: number): NextShardBlock {
  const prev = shardsBefore(hashes, shard);
  const [first] = prev;
  if (first === undefined) throw producerErrors['shard-unknown']({ shard: printShard(shard) });
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

/** Whether a scheduled split is due. */
function isSplitDue({ split_merge_at: planned }: ShardDescr, now: number): boolean {
  return planned.kind === 'fsm_split' && now >= planned.split_utime && now < planned.split_utime + planned.interval;
}

/**
 * `ShardHashes` of these entries, in any order; the entries of each workchain must be the leaves of one tree.
 * @throws producer/shards-incomplete
 */
export function shardHashesOf(entries: Iterable<ShardEntry>): ShardHashes {
  const workchains = new Map<number, Map<bigint, ShardEntry>>();
  for (const entry of entries) {
    const shards = workchains.get(entry.workchain) ?? new Map<bigint, ShardEntry>();
    workchains.set(entry.workchain, shards.set(entry.shard, entry));
  }
  return ShardHashes.of([...workchains].map(([workchain, shards]) => [workchain, treeOf({ workchain }, shards)]));
}

function treeOf({ workchain }: Pick<Shard, 'workchain'>, shards: ReadonlyMap<bigint, ShardEntry>): Lazy<ShardTree> {
  const above = new Set<bigint>();
  for (let shard of shards.keys()) {
    while (shard !== WHOLE_WORKCHAIN && !above.has(shardParent(shard))) {
      shard = shardParent(shard);
      above.add(shard);
    }
  }
  let leaves = 0;
  const tree = (shard: bigint): Lazy<ShardTree> => {
    if (above.has(shard)) {
      const [left, right] = shardChildren(shard);
      return Lazy.ofValue(ShardTree, { kind: 'bt_fork', left: tree(left), right: tree(right) });
    }
    const entry = shards.get(shard);
    if (entry === undefined) throw producerErrors['shards-incomplete']({ workchain, shard: shardHex(shard) });
    leaves++;
    return Lazy.ofValue(ShardTree, { kind: 'bt_leaf', leaf: entry.descr });
  };
  const root = tree(WHOLE_WORKCHAIN);
  if (leaves !== shards.size) throw producerErrors['shards-incomplete']({ workchain, shard: 'overlapping ones' });
  return root;
}

/** The entry of exactly this shard. */
function findExact(hashes: ShardHashes, { workchain, shard }: Shard): ShardEntry | null {
  const found = findShard(hashes, workchain, shard);
  return found?.shard === shard ? found : null;
}

/**
 * The entries that a block of this shard follows: that of the shard; that of its parent, if it has `before_split`; or
 * those of both its halves, the left one first, if they have `before_merge`. Empty when it follows none.
 */
function shardsBefore(hashes: ShardHashes, { workchain, shard }: Shard): readonly ShardEntry[] {
  const found = findShard(hashes, workchain, shard);
  if (found === null) return [];
  if (found.shard === shard) return found.descr.before_split || found.descr.before_merge ? [] : [found];
  if (isShardAncestor(found.shard, shard))
    return found.shard === shardParent(shard) && found.descr.before_split ? [found] : [];
  const halves = shardChildren(shard).map((half) => findExact(hashes, { workchain, shard: half }));
  return halves.every((half) => half?.descr.before_merge === true) ? (halves as ShardEntry[]) : [];
}

/** Durations of validator sessions, in seconds. */
export interface CatchainLifetimes {
  readonly mc_catchain_lifetime: number;
  readonly shard_catchain_lifetime: number;
}

/** Default of nodes without parameter 28. */
const DEFAULT_LIFETIMES: CatchainLifetimes = { mc_catchain_lifetime: 200, shard_catchain_lifetime: 200 };

/** The catchain lifetimes of parameter 28. @throws cells/*, tlb/* */
export function catchainLifetimes(config: ConfigDictionary): CatchainLifetimes {
  return configParam(config, 28) ?? DEFAULT_LIFETIMES;
}

/** Whether a multiple of `lifetime` lies between two times: then a session ends. */
export function passesMultiple(lifetime: number, before: number, now: number): boolean {
  return Math.floor(now / lifetime) > Math.floor(before / lifetime);
}
