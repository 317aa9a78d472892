import { mergeAugmentedDictionaries, splitAugmentedDictionary } from '#formats/cells/dict-edit.js';
import { openCell } from '#formats/cells/slice.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import {
  isShardAncestor,
  shardChildren,
  shardHex,
  shardIdent,
  shardOf,
  shardParent,
  shardPrefixLength,
  shardSibling,
  shardsIntersect,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/block-id.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { addCurrency, type CurrencyCollection, ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { type OutMsgQueueExtra, OutMsgQueueInfo, type ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardStateTotals, type ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { BitString } from '#kernel/bytes.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { ProcessedMessages } from '#localnet/producer/out-queue.js';
import { contains, intermediatePrefix, routingPrefix } from '#localnet/producer/routing.js';

/**
 * The state of one half of a shard, from which the first block after a split continues. (The Merkle update of that
 * block starts from the parent's whole state.)
 *
 * Accounts are divided by their address, queued messages by their current hop (`cur_addr`); each half gets half of the
 * validator fees, the right one the odd nanoton. The load histories are reset.
 *
 * @param parent the state after the block with `before_split`
 * @param shard the half, uint64 with the tag bit
 * @throws producer/states-apart when it is not a half of the parent
 */
export function splitState(parent: ShardStateUnsplit, shard: bigint): ShardStateUnsplit {
  const { workchain_id } = parent.shard_id;
  if (
    parent.shard_id.shard_pfx_bits + 1 !== shardPrefixLength(shard) ||
    shardParent(shard) !== shardOf(parent.shard_id)
  )
    throw producerErrors['states-apart']({
      problem: `${shardHex(shard)} is no half of ${shardHex(shardOf(parent.shard_id))}`,
    });
  const accounts = partOf(parent.accounts.value, shard);
  const totals = parent.totals.value;
  return {
    ...parent,
    shard_id: shardIdent(workchain_id, shard),
    before_split: false,
    out_msg_queue_info: Lazy.ofValue(
      OutMsgQueueInfo,
      splitQueues(parent.out_msg_queue_info.value, workchain_id, shard),
    ),
    accounts: Lazy.ofValue(ShardAccounts, accounts),
    totals: Lazy.ofValue(ShardStateTotals, {
      ...totals,
      overload_history: 0n,
      underload_history: 0n,
      total_balance: accounts.extra.balance,
      total_validator_fees: halfOf(totals.total_validator_fees, shard > shardSibling(shard)),
    }),
  };
}

function splitQueues(
  { out_queue, proc_info, extra }: OutMsgQueueInfo,
  workchain: number,
  shard: bigint,
): OutMsgQueueInfo {
  let waiting = out_queue;
  let size = 0;
  for (const [key, enqueued] of out_queue) {
    const { cur_addr, msg } = enqueued.out_msg.value;
    const { info } = msg.value;
    if (info.kind !== 'int_msg_info') throw producerErrors['states-apart']({ problem: 'a message to outside waits' });
    const at = intermediatePrefix(cur_addr, routingPrefix(info.src), routingPrefix(info.dest));
    if (contains({ workchain, shard }, at)) size++;
    else waiting = waiting.delete(key);
  }
  return {
    out_queue: waiting,
    proc_info: splitProcessed(proc_info, shard),
    extra:
      extra === null
        ? null
        : {
            dispatch_queue: partOf(extra.dispatch_queue, shard),
            out_queue_size: extra.out_queue_size === null ? null : size,
          },
  };
}

/** The entries of `ProcessedInfo` for one half of the shard. */
function splitProcessed(info: ProcessedInfo, shard: bigint): ProcessedInfo {
  let processed = new ProcessedMessages([]);
  for (const entry of ProcessedMessages.of(info).entries) {
    if (!shardsIntersect(entry.shard, shard)) continue;
    processed = processed.with(isShardAncestor(entry.shard, shard) ? { ...entry, shard } : entry);
  }
  return processed.toInfo();
}

/** The part of a dictionary keyed by account id that belongs to a shard. */
function partOf<V, E>(
  whole: AugmentedDictionary<Uint8Array, V, E>,
  shard: bigint,
): AugmentedDictionary<Uint8Array, V, E> {
  const { type } = whole;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, shard);
  const prefix = new BitString(bytes, shardPrefixLength(shard));
  const { root, extra } = splitAugmentedDictionary(whole.root, type.key.bits, prefix, type.augmentation);
  return new AugmentedDictionary(type, root, type.extra.load(openCell(extra.endCell())));
}

/** Half of an amount; the right half is the greater one if it is odd. */
function halfOf({ grams, other }: CurrencyCollection, right: boolean): CurrencyCollection {
  const half = (amount: bigint): bigint => (amount + (right ? 1n : 0n)) >> 1n;
  const others = [...other].map(([id, amount]) => [id, half(amount)] as const).filter(([, amount]) => amount > 0n);
  return { grams: half(grams), other: ExtraCurrencyCollection.of(others) };
}

/**
 * The merged state of two halves, from which the first block after a merge continues. The load histories are reset.
 * @throws producer/states-apart when they are not the left and the right half of a shard
 */
export function mergeStates(left: ShardStateUnsplit, right: ShardStateUnsplit): ShardStateUnsplit {
  const { workchain_id } = left.shard_id;
  const shard = parentOf(left, right);
  const accounts = unionOf(left.accounts.value, right.accounts.value);
  const [a, b] = [left.totals.value, right.totals.value];
  const newer = left.seq_no < right.seq_no ? right : left;
  return {
    ...newer,
    shard_id: shardIdent(workchain_id, shard),
    gen_utime: Math.max(left.gen_utime, right.gen_utime),
    gen_lt: left.gen_lt < right.gen_lt ? right.gen_lt : left.gen_lt,
    min_ref_mc_seqno: Math.min(left.min_ref_mc_seqno, right.min_ref_mc_seqno),
    before_split: false,
    out_msg_queue_info: Lazy.ofValue(
      OutMsgQueueInfo,
      mergeQueues(left.out_msg_queue_info.value, right.out_msg_queue_info.value),
    ),
    accounts: Lazy.ofValue(ShardAccounts, accounts),
    totals: Lazy.ofValue(ShardStateTotals, {
      ...newer.totals.value,
      overload_history: 0n,
      underload_history: 0n,
      total_balance: addCurrency(a.total_balance, b.total_balance),
      total_validator_fees: addCurrency(a.total_validator_fees, b.total_validator_fees),
    }),
  };
}

/** The parent shard of the two. */
function parentOf({ shard_id: left }: ShardStateUnsplit, { shard_id: right }: ShardStateUnsplit): bigint {
  const [a, b] = [shardOf(left), shardOf(right)];
  const parent = a === WHOLE_WORKCHAIN ? null : shardParent(a);
  const [first, second] = parent === null ? [] : shardChildren(parent);
  if (parent === null || left.workchain_id !== right.workchain_id || a !== first || b !== second)
    throw producerErrors['states-apart']({
      problem: `${shardHex(a)} and ${shardHex(b)} are not the halves of a shard`,
    });
  return parent;
}

function mergeQueues(left: OutMsgQueueInfo, right: OutMsgQueueInfo): OutMsgQueueInfo {
  const [a, b] = [left, right].map(({ proc_info }) => ProcessedMessages.of(proc_info).entries);
  const processed = [...a!, ...b!].reduce((all, entry) => all.with(entry), new ProcessedMessages([]));
  return {
    out_queue: unionOf(left.out_queue, right.out_queue),
    proc_info: processed.toInfo(),
    extra: mergeExtra(left.extra, right.extra),
  };
}

/** Null if one of the two has no size. */
function mergeExtra(left: OutMsgQueueExtra | null, right: OutMsgQueueExtra | null): OutMsgQueueExtra | null {
  if (left === null || right === null) return left ?? right;
  const sizes = [left.out_queue_size, right.out_queue_size];
  return {
    dispatch_queue: unionOf(left.dispatch_queue, right.dispatch_queue),
    out_queue_size: sizes.includes(null) ? null : sizes[0]! + sizes[1]!,
  };
}

/** Not reachable by a state in memory. */
const NO_LIMIT = 2 ** 32;

function unionOf<K, V, E>(
  left: AugmentedDictionary<K, V, E>,
  right: AugmentedDictionary<K, V, E>,
): AugmentedDictionary<K, V, E> {
  const { type } = left;
  const { root, extra } = mergeAugmentedDictionaries(left.root, right.root, type.key.bits, type.augmentation, NO_LIMIT);
  return new AugmentedDictionary(type, root, type.extra.load(openCell(extra.endCell())));
}
