import { type BlockId, printPosition, printShard } from '#formats/proofs/block-id.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { WorkchainDescr } from '#formats/tlb/config/workchain-descr.js';
import { type CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { type ShardFeeCreated, ShardFees, type ShardKey } from '#formats/tlb/shard-fees.js';
import {
  type FutureSplitMerge,
  type ShardDescr,
  ShardDescrFees,
  type ShardEntry,
  type ShardHashes,
  shardDescrs,
} from '#formats/tlb/shard-hashes.js';
import { WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import { FSM_NONE } from '#localnet/producer/masterchain/adjust-shards.js';
import { masterchainErrors } from '#localnet/producer/masterchain/errors.js';
import { findExact, shardHashesOf, shardsBefore } from '#localnet/producer/masterchain/shard-tree.js';

/** The newest block of a shard in a round, with sums over it and the blocks of the round that it follows. */
export interface ShardTop {
  readonly id: BlockId;
  readonly info: BlockInfo;
  /** `fees_collected` of the blocks' value flows. */
  readonly fees_collected: CurrencyCollection;
  /** `created` of the blocks' value flows. */
  readonly funds_created: CurrencyCollection;
}

/** What a masterchain block registers, before it is known whether it is a key block. */
export interface RegisteredShards {
  /** Not yet those of the block: `adjustShards` makes them. */
  readonly shard_hashes: ShardHashes;
  readonly shard_fees: ShardFees;
}

/** What shards are registered with. */
export interface RegistrationContext {
  /** The configuration in the state before. */
  readonly config: ConfigDictionary;
  /** Of the masterchain block that is made. */
  readonly mc_seqno: number;
  /** Of the masterchain block that is made, unix seconds. */
  readonly gen_utime: number;
}

/** `min_ref_mc_seqno` of what refers to no masterchain block. */
export const NO_MC_SEQNO = 0xffffffff;

/**
 * Registers the newest blocks of shards, and the zerostates of workchains that begin. To be called before the
 * transactions of the masterchain block: the fees of the shards are among what these may recover, and the block's
 * start_lt follows the tops' end_lt.
 *
 * @param before `ShardHashes` of the state before
 * @param tops at most one for each shard; after a split both halves
 * @throws producer/shard-not-next, producer/shard-unknown, producer/shards-incomplete
 */
export function registerShards(
  before: ShardHashes,
  tops: readonly ShardTop[],
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
 * The entries that a top takes the place of: that of its shard, of the shard that it is a half of, or of its halves.
 * @throws producer/shard-not-next, producer/shard-unknown
 */
function registeredBefore(before: ShardHashes, { id, info }: ShardTop): readonly ShardEntry[] {
  const [first, ...others] = shardsBefore(before, id);
  if (first === undefined) throw masterchainErrors['shard-unknown']({ shard: printShard(id) });
  const wrong = (problem: string): Error => masterchainErrors['shard-not-next']({ block: printPosition(id), problem });
  for (const entry of [first, ...others]) {
    const { seq_no, next_catchain_seqno } = entry.descr;
    if (seq_no >= id.seqno) throw wrong(`${printShard(entry)} is at ${seq_no} already`);
    if (next_catchain_seqno > info.gen_catchain_seqno)
      throw wrong(`it is of session ${info.gen_catchain_seqno}, after session ${next_catchain_seqno} has begun`);
  }
  return [first, ...others];
}

/** What the masterchain writes about a shard when it registers a block. */
function registeredDescr({ id, info, ...sums }: ShardTop, planned: FutureSplitMerge, mc_seqno: number): ShardDescr {
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

/** The entry of a workchain that begins. */
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
