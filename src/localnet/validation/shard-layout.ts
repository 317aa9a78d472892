import { type BlockId, blockOfRef, printShard, type Shard, sameBlock } from '#formats/proofs/block-id.js';
import {
  isShardAncestor,
  MAX_SHARD_PREFIX,
  shardPrefixLength,
  shardSibling,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { WorkchainDescr } from '#formats/tlb/config/network.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { type FutureSplitMerge, ShardDescr, type ShardEntry, shardDescrFees } from '#formats/tlb/shard-hashes.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { BlockContext, OpenBlock } from '#localnet/validation/block-context.js';
import { isShardHalf } from '#localnet/validation/routing.js';

/** Maximum number of new blocks per shard in a masterchain block. */
const LONGEST_CHAIN = 8;

/**
 * Checks how a masterchain block changes `ShardHashes`: each new entry matches its block and follows the previous
 * entries, and splits and merges are scheduled as the configuration allows.
 *
 * @param open the shard blocks of this bundle, by root hash in hex
 * @throws validation/broken-rule
 */
export function checkShardLayout(context: BlockContext, open: ReadonlyMap<string, OpenBlock>): void {
  new LayoutCheck(context, open).run();
}

class LayoutCheck {
  readonly #context: BlockContext;
  readonly #open: ReadonlyMap<string, OpenBlock>;
  readonly #entries: readonly ShardEntry[];
  /** Root hashes (hex) of the blocks that entries commit. */
  readonly #listed = new Set<string>();
  readonly #updateAll: boolean;

  constructor(context: BlockContext, open: ReadonlyMap<string, OpenBlock>) {
    const { info, reference, afterView } = context;
    this.#context = context;
    this.#open = open;
    this.#entries = afterView!.shards;
    const lifetime = afterView!.config.catchain.shard_catchain_lifetime;
    const newPeriod = Math.floor(info.gen_utime / lifetime) > Math.floor(reference.state.gen_utime / lifetime);
    this.#updateAll = info.key_block || newPeriod;
  }

  run(): void {
    const { rules, reference, afterView } = this.#context;
    for (const entry of this.#entries) this.#check(entry);
    for (const [hash, { id }] of this.#open)
      rules.require(this.#listed.has(hash), 'shard-chain', 'a block that is listed', id);
    for (const { workchain } of reference.shards)
      rules.require(afterView!.shardHashes.has(workchain), 'shard-list', `shards of workchain ${workchain}`, 'none');
    for (const [workchain, descr] of afterView!.config.workchains) {
      const there = !descr.active || afterView!.shardHashes.has(workchain);
      rules.require(there, 'shard-list', `shards of workchain ${workchain}`, 'none');
    }
    this.#checkFees();
  }

  #check(entry: ShardEntry): void {
    const { rules, reference } = this.#context;
    const { descr } = entry;
    const place = printShard(entry);
    rules.equal('shard-entry', entry.shard, descr.next_validator_shard, `${place} next_validator_shard`);
    const top = blockOfRef(entry, descr);
    const old = reference.shard(entry);
    let catchain: number;
    let ancestor: ShardEntry | null = old;
    if (!reference.shardHashes.has(entry.workchain)) {
      this.#checkCreated(entry, place);
      catchain = 0;
    } else if (old !== null && sameBlock(blockOfRef(old, old.descr), top)) {
      rules.require(sameEntry(old.descr, descr), 'shard-entry', 'the entry before', 'another', place);
      catchain = old.descr.next_catchain_seqno;
    } else {
      const block = this.#checkAdvanced(entry, top, place);
      catchain = block.info.gen_catchain_seqno;
      if (block.info.after_merge || block.info.after_split) ancestor = old;
    }
    checkSplitMergePlan(this.#context, entry, ancestor, place);
    this.#checkSession(entry, ancestor, catchain, place);
  }

  /** All imported fees must be those of new entries. */
  #checkFees(): void {
    const { rules, id, afterView, mcExtra } = this.#context;
    for (const [shard, { fees, create }] of mcExtra!.shard_fees) {
      const place = `${printShard(shard)} in ShardFees`;
      const entry = afterView!.shard(shard);
      rules.equal('shard-fees', id.seqno, entry?.descr.reg_mc_seqno ?? null, place);
      const stated = shardDescrFees(entry!.descr);
      rules.equal('shard-fees', stated.fees_collected, fees, place);
      rules.equal('shard-fees', stated.funds_created, create, place);
    }
  }

  /** The first entry of a workchain. */
  #checkCreated(entry: ShardEntry, place: string): void {
    const { rules, id, info } = this.#context;
    const { descr, shard, workchain } = entry;
    const wanted = this.#workchain(workchain);
    rules.require(wanted?.active === true, 'shard-list', 'an active workchain', 'another', place);
    rules.equal('shard-entry', WHOLE_WORKCHAIN, shard, place);
    rules.equal('shard-entry', 0, descr.seq_no, `${place} seq_no`);
    rules.equal('shard-entry', wanted!.zerostate_root_hash, descr.root_hash, `${place} root_hash`);
    rules.equal('shard-entry', wanted!.zerostate_file_hash, descr.file_hash, `${place} file_hash`);
    rules.equal('shard-entry', id.seqno, descr.reg_mc_seqno, `${place} reg_mc_seqno`);
    rules.require(descr.end_lt < info.start_lt, 'shard-entry', `before ${info.start_lt}`, descr.end_lt, place);
    rules.require(descr.gen_utime <= info.gen_utime, 'shard-entry', `until ${info.gen_utime}`, descr.gen_utime, place);
    rules.equal('shard-entry', 0xffffffff, descr.min_ref_mc_seqno, `${place} min_ref_mc_seqno`);
    const { before_split, before_merge, want_split, want_merge } = descr;
    rules.equal('shard-entry', false, before_split || before_merge || want_split || want_merge, `${place} flags`);
    rules.equal('shard-entry', NO_CURRENCY, shardDescrFees(descr).fees_collected, `${place} fees_collected`);
  }

  /** An entry with new blocks. @returns the last of them */
  #checkAdvanced(entry: ShardEntry, top: BlockId, place: string): OpenBlock {
    const { rules, id, info, mcExtra } = this.#context;
    const { descr } = entry;
    const block = this.#open.get(toHex(top.root_hash));
    if (block === undefined) throw rules.broken('shard-chain', 'a block of this bundle', top, place);
    rules.equal('shard-entry', block.id, top, place);
    const { info: own } = block;
    rules.equal('shard-entry', id.seqno, descr.reg_mc_seqno, `${place} reg_mc_seqno`);
    for (const field of [
      'start_lt',
      'end_lt',
      'gen_utime',
      'before_split',
      'want_split',
      'want_merge',
      'min_ref_mc_seqno',
    ] as const)
      rules.equal('shard-entry', own[field], descr[field], `${place} ${field}`);
    rules.require(own.gen_utime <= info.gen_utime, 'shard-entry', `until ${info.gen_utime}`, own.gen_utime, place);
    rules.require(own.end_lt <= info.start_lt, 'shard-entry', `until ${info.start_lt}`, own.end_lt, place);

    const chain = this.#chain(block, entry, place);
    const sum = (part: (each: OpenBlock) => CurrencyCollection) => chain.map(part).reduce(addCurrency, NO_CURRENCY);
    const fees = sum((each) => each.block.value_flow.value.fees_collected);
    const created = sum((each) => each.block.value_flow.value.fees.value.created);
    const stated = shardDescrFees(descr);
    rules.equal('shard-fees', fees, stated.fees_collected, `${place} fees_collected`);
    rules.equal('shard-fees', created, stated.funds_created, `${place} funds_created`);
    const imported = mcExtra!.shard_fees.get({ workchain: entry.workchain, shard: entry.shard });
    rules.equal('shard-fees', fees, imported?.fees ?? NO_CURRENCY, `${place} in ShardFees`);
    rules.equal('shard-fees', created, imported?.create ?? NO_CURRENCY, `${place} in ShardFees`);
    return block;
  }

  /** The new blocks of an entry, newest first; the oldest follows the previous entry. */
  #chain(top: OpenBlock, entry: Shard, place: string): readonly OpenBlock[] {
    const { rules, reference } = this.#context;
    const chain: OpenBlock[] = [];
    for (let block = top; ; ) {
      chain.push(block);
      this.#listed.add(toHex(block.id.root_hash));
      const [before] = block.previous;
      const next = this.#open.get(toHex(before!.id.root_hash));
      if (next === undefined || block.shard.shard !== before!.id.shard) break;
      block = next;
    }
    rules.require(chain.length <= LONGEST_CHAIN, 'shard-chain', `at most ${LONGEST_CHAIN} blocks`, chain.length, place);
    const first = chain.at(-1)!;
    const olds = reference.shards.filter(
      ({ workchain, shard }) =>
        workchain === entry.workchain && (isShardAncestor(shard, entry.shard) || isShardAncestor(entry.shard, shard)),
    );
    rules.equal('shard-chain', olds.length, first.previous.length, `${place} blocks before`);
    for (const [i, old] of olds.entries()) {
      rules.equal('shard-chain', blockOfRef(old, old.descr), first.previous[i]!.id, `${place} block before`);
      const { before_split, before_merge } = old.descr;
      rules.equal('shard-chain', before_split, first.info.after_split, `${place} after_split`);
      if (first.info.after_merge) rules.equal('shard-chain', true, before_merge, `${place} after_merge`);
      rules.require(
        old.shard === entry.shard || isShardHalf(old.shard, entry.shard) || isShardHalf(entry.shard, old.shard),
        'shard-chain',
        'one split or merge',
        'more',
        place,
      );
    }
    return chain;
  }

  /** Checks `next_catchain_seqno`. */
  #checkSession(entry: ShardEntry, ancestor: ShardEntry | null, catchain: number, place: string): void {
    const { rules } = this.#context;
    const { descr } = entry;
    const cleared = ancestor?.descr.before_merge === true && !descr.before_merge;
    const rises = this.#updateAll || cleared;
    rules.equal(
      'shard-catchain',
      catchain + (rises ? 1 : 0),
      descr.next_catchain_seqno,
      `${place} next_catchain_seqno`,
    );
    rules.equal('shard-catchain', false, descr.nx_cc_updated, `${place} nx_cc_updated`);
  }

  #workchain(workchain: number): WorkchainDescr | undefined {
    return this.#context.afterView!.config.workchains.get(workchain);
  }
}

/** Whether two entries describe the same block, except for fields that each masterchain block sets. */
function sameEntry(a: ShardDescr, b: ShardDescr): boolean {
  return bytesEqual(encodeCell(ShardDescr, plain(a)).hash(), encodeCell(ShardDescr, plain(b)).hash());
}

function plain(descr: ShardDescr): ShardDescr {
  const { fees_collected, funds_created } = shardDescrFees(descr);
  const { next_catchain_seqno: _, ...rest } = descr;
  return {
    ...rest,
    kind: 'shard_descr',
    fees_collected,
    funds_created,
    before_merge: false,
    nx_cc_updated: false,
    next_catchain_seqno: 0,
    split_merge_at: NO_PLAN,
  };
}

/** Defaults in seconds, if the workchain does not set them. */
const DEFAULT_TIMINGS = { min_split_merge_interval: 30, max_split_merge_delay: 1000 };

/** No split or merge is scheduled. */
const NO_PLAN: FutureSplitMerge = { kind: 'fsm_none' };

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
 * Checks a scheduled or starting split or merge: a schedule stays until its interval ends.
 *
 * @param ancestor the same shard before this block; `null` for one that was created, split or merged
 * @throws validation/broken-rule
 */
function checkSplitMergePlan(
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
