import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { applyMerkleUpdate, createMerkleUpdate } from '#formats/cells/merkle-update.js';
import { type BlockId, type BlockPosition, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import type { ValidatorGroup } from '#formats/proofs/validators.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import {
  Block,
  BlockExtra,
  BlockInfo,
  McBlockExtra,
  merkleUpdate,
  ValueFlow,
  ValueFlowBalances,
  ValueFlowFees,
  valueFlowSums,
} from '#formats/tlb/block.js';
import { BlkMasterInfo, type BlkPrevInfo, blkPrevInfo, ExtBlkRef, shardIdent } from '#formats/tlb/block-id.js';
import { InMsgDescr, OutMsgDescr } from '#formats/tlb/block-messages.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { addCurrency, type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { McStateExtra, ShardState, ShardStateTotals, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { ShardAccountBlocks } from '#formats/tlb/transaction.js';
import type { NewBlock } from '#localnet/ledger/block-bundle.js';
import type { AccountsAfter } from '#localnet/producer/block-accounts.js';
import { CAPABILITY, fillOf, isFrequent, type LoadHistory, withBlock } from '#localnet/producer/block-context.js';
import type { Collation } from '#localnet/producer/collation.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { burnedOfFees, printCurrency, sameCurrency, subtractCurrency } from '#localnet/producer/value-flow.js';

/** A previous block, as the next block refers to it. */
export interface PrevBlock {
  readonly id: BlockId;
  readonly end_lt: bigint;
}

/** What is known of a block before its content. */
export interface BlockFrame {
  readonly seq_no: number;
  /** Two after a merge, the left one first. */
  readonly prev: readonly PrevBlock[];
  /** Root of the previous state; after a merge a `split_state`. */
  readonly before: Cell;
  readonly gen_utime: number;
  readonly after_split: boolean;
  readonly after_merge: boolean;
  readonly before_split: boolean;
  readonly session: ValidatorGroup;
  readonly prev_key_block_seqno: number;
  readonly rand_seed: Uint8Array;
  readonly created_by: Uint8Array;
  /** Load of the previous blocks; empty after a split or merge. */
  readonly history: LoadHistory;
  /** Flags that a developer has requested for the shard. */
  readonly wants: { readonly split: boolean; readonly merge: boolean };
}

/** What only masterchain blocks have. */
export interface MasterchainPart {
  readonly extra: McBlockExtra;
  readonly state: McStateExtra;
  readonly min_ref_mc_seqno: number;
  readonly libraries: ShardStateTotals['libraries'];
}

/** A block that was just produced, with what the masterchain needs to register it. */
export interface MadeBlock extends NewBlock {
  readonly info: BlockInfo;
  readonly fees_collected: CurrencyCollection;
  readonly created: CurrencyCollection;
  readonly created_by: Uint8Array;
  /** The decoded state. */
  readonly stateValue: ShardStateUnsplit;
}

/** Maximum number of messages in the queue of a shard that wants to split or to merge. */
const QUEUE_LIMITS = { split: 100_000, merge: 2_047 } as const;

/** Assembles the block and the state after it. @throws producer/value-flow */
export function blockCells(
  collation: Collation,
  frame: BlockFrame,
  content: BlockContent,
  values: BlockValues,
  masterchain: MasterchainPart | null,
): MadeBlock {
  const { base, runner } = collation;
  const { shard, rules, before, view, start_lt } = base;
  const { after, in_msg_descr, out_msg_descr, fees_collected } = content;
  const { capabilities } = rules.version;
  const { seq_no, gen_utime } = frame;
  const end_lt = runner.end_lt;
  const flow = valueFlow(values, content, {
    from_prev_blk: before.totals.value.total_balance,
    to_next_blk: after.accounts.extra.balance,
    imported: addCurrency(in_msg_descr.extra.value_imported, values.gained),
    exported: out_msg_descr.extra,
  });
  checkFlow(flow, { ...shard, seqno: seq_no });

  const processed = collation.processed();
  const min_ref_mc_seqno = Math.min(base.mc_seqno, processed.minSeqno, masterchain?.min_ref_mc_seqno ?? base.mc_seqno);
  const history = withBlock(frame.history, fillOf(collation.load(), rules.limits));
  const queueSize = collation.queue.size;
  const overloaded = isFrequent(history.overload);
  const want_split = frame.wants.split || (overloaded && queueSize <= QUEUE_LIMITS.split);
  const want_merge =
    !want_split &&
    (frame.wants.merge || (!overloaded && isFrequent(history.underload) && queueSize <= QUEUE_LIMITS.merge));
  const master: ExtBlkRef = {
    end_lt: view.end_lt,
    seq_no: view.id.seqno,
    root_hash: view.id.root_hash,
    file_hash: view.id.file_hash,
  };
  const master_ref = masterchain === null ? Lazy.ofValue(BlkMasterInfo, { master }) : null;
  const reports = (capabilities & CAPABILITY.reportVersion) !== 0n;
  const shard_id = shardIdent(shard.workchain, shard.shard);
  const info: BlockInfo = {
    version: 0,
    not_master: masterchain === null,
    after_merge: frame.after_merge,
    before_split: frame.before_split,
    after_split: frame.after_split,
    want_split,
    want_merge,
    key_block: masterchain?.extra.key_block ?? false,
    vert_seqno_incr: false,
    flags: reports ? 1 : 0,
    seq_no,
    vert_seq_no: before.vert_seq_no,
    shard: shard_id,
    gen_utime,
    start_lt,
    end_lt,
    gen_validator_list_hash_short: frame.session.hash,
    gen_catchain_seqno: frame.session.catchain_seqno,
    min_ref_mc_seqno,
    prev_key_block_seqno: frame.prev_key_block_seqno,
    gen_software: reports ? rules.version : null,
    master_ref,
    prev_ref: prevRef(frame.prev),
    prev_vert_ref: null,
  };

  const state: ShardStateUnsplit = {
    kind: 'shard_state',
    global_id: before.global_id,
    shard_id,
    seq_no,
    vert_seq_no: before.vert_seq_no,
    gen_utime,
    gen_lt: end_lt,
    min_ref_mc_seqno,
    out_msg_queue_info: Lazy.ofValue(
      OutMsgQueueInfo,
      collation.queue.finish(processed, (capabilities & CAPABILITY.storeOutQueueSize) !== 0n),
    ),
    before_split: frame.before_split,
    accounts: Lazy.ofValue(ShardAccounts, after.accounts),
    totals: Lazy.ofValue(ShardStateTotals, {
      overload_history: history.overload,
      underload_history: history.underload,
      total_balance: after.accounts.extra.balance,
      total_validator_fees: subtractCurrency(
        addCurrency(before.totals.value.total_validator_fees, fees_collected),
        values.recovered,
      ),
      libraries: masterchain?.libraries ?? before.totals.value.libraries,
      master_ref: master_ref === null ? null : { master },
    }),
    custom: masterchain === null ? null : Lazy.ofValue(McStateExtra, masterchain.state),
  };
  const update = createMerkleUpdate(frame.before, encodeCell(ShardStateUnsplit, state));

  const root = encodeCell(Block, {
    global_id: before.global_id,
    info: Lazy.ofValue(BlockInfo, info),
    value_flow: Lazy.ofValue(ValueFlow, flow),
    state_update: Lazy.ofCell(merkleUpdate(ShardState), update),
    extra: Lazy.ofValue(BlockExtra, {
      in_msg_descr: Lazy.ofValue(InMsgDescr, in_msg_descr),
      out_msg_descr: Lazy.ofValue(OutMsgDescr, out_msg_descr),
      account_blocks: Lazy.ofValue(ShardAccountBlocks, after.blocks),
      rand_seed: frame.rand_seed,
      created_by: frame.created_by,
      custom: masterchain === null ? null : Lazy.ofValue(McBlockExtra, masterchain.extra),
    }),
  });
  const bytes = serializeBoc(root, BLOCK_FILE);
  return {
    id: { ...shard, seqno: seq_no, root_hash: root.hash(), file_hash: sha256(bytes) },
    // Derived from the previous state, the new state shares all equal cells with it, and keeps no other cells alive.
    state: applyMerkleUpdate(frame.before, update),
    stateValue: state,
    bytes,
    root,
    prev: frame.prev.map(({ id }) => id),
    gen_utime,
    end_lt,
    info,
    fees_collected,
    created: values.created,
    created_by: frame.created_by,
  };
}

function prevRef(prev: readonly PrevBlock[]): Lazy<BlkPrevInfo> {
  const [first, second] = prev.map(
    ({ id, end_lt }): ExtBlkRef => ({
      end_lt,
      seq_no: id.seqno,
      root_hash: id.root_hash,
      file_hash: id.file_hash,
    }),
  );
  if (second === undefined)
    return Lazy.ofValue(blkPrevInfo(false), { kind: 'prev_blk_info', prev: first as ExtBlkRef });
  return Lazy.ofValue(blkPrevInfo(true), {
    kind: 'prev_blks_info',
    prev1: Lazy.ofValue(ExtBlkRef, first as ExtBlkRef),
    prev2: Lazy.ofValue(ExtBlkRef, second),
  });
}

/** Values that do not come or go with messages. */
export interface BlockValues {
  readonly created: CurrencyCollection;
  readonly minted: CurrencyCollection;
  readonly recovered: CurrencyCollection;
  /** Fees that the shards sent with their blocks. */
  readonly fees_imported: CurrencyCollection;
  /** The part of `fees_imported` that is burned. */
  readonly feesBurned: CurrencyCollection;
  /** Value that counts as imported, besides messages. */
  readonly gained: CurrencyCollection;
  /** Other value that is burned. */
  readonly burned: CurrencyCollection;
}

/** Sums over the content of a block. */
export interface BlockContent {
  readonly after: AccountsAfter;
  readonly in_msg_descr: InMsgDescr;
  readonly out_msg_descr: OutMsgDescr;
  readonly fees_collected: CurrencyCollection;
  readonly burned: CurrencyCollection;
}

/** Sums up a collation. */
export function blockContent({ accounts, messages, base }: Collation, values: BlockValues): BlockContent {
  const { shard, rules } = base;
  const after = accounts.finish();
  const descr = messages.finish(rules.version.version);
  const own = addCurrency(after.total_fees, onlyGrams(descr.in.extra.fees_collected));
  // Shard blocks burn no fees.
  const ownBurned = onlyGrams(isMasterchain(shard) ? burnedOfFees(rules.config, own.grams) : 0n);
  return {
    after,
    in_msg_descr: descr.in,
    out_msg_descr: descr.out,
    fees_collected: [
      values.created,
      subtractCurrency(values.fees_imported, values.feesBurned),
      subtractCurrency(own, ownBurned),
    ].reduce(addCurrency),
    burned: [values.feesBurned, ownBurned, values.burned].reduce(addCurrency),
  };
}

/** The value flow of a block. */
function valueFlow(values: BlockValues, content: BlockContent, balances: ValueFlowBalances): ValueFlow {
  const { fees_imported, recovered, created, minted } = values;
  const { fees_collected, burned } = content;
  const parts = {
    balances: Lazy.ofValue(ValueFlowBalances, balances),
    fees_collected,
    fees: Lazy.ofValue(ValueFlowFees, { fees_imported, recovered, created, minted }),
  };
  if (burned.grams === 0n && burned.other.isEmpty) return { kind: 'value_flow', ...parts };
  return { kind: 'value_flow_v2', ...parts, burned };
}

/** @throws producer/value-flow when inflow and outflow differ */
function checkFlow(flow: ValueFlow, block: BlockPosition): void {
  const sums = valueFlowSums(flow);
  if (sameCurrency(sums.in, sums.out)) return;
  throw producerErrors['value-flow']({
    block: printPosition(block),
    in: printCurrency(sums.in),
    out: printCurrency(sums.out),
  });
}
