import { mergeAugmentedDictionaries, splitAugmentedDictionary } from '#formats/cells/dict-edit.js';
import { openCell } from '#formats/cells/slice.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { ShardAccounts } from '#formats/tlb/account.js';
import {
  isShardAncestor,
  shardContains,
  shardOf,
  shardParent,
  shardPrefixLength,
  shardSibling,
  shardsIntersect,
} from '#formats/tlb/block-id.js';
import { AugmentedDictionary, type AugmentedType } from '#formats/tlb/codec/augmented-dictionary.js';
import { addCurrency, type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { DispatchQueue, type OutMsgQueue, type ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { BitString, compareBytes } from '#kernel/bytes.js';
import {
  type EnqueuedMessage,
  inShard,
  isShardHalf,
  type Prefix,
  queuedMessage,
} from '#localnet/validation/routing.js';

/** The state before a block, split or merged as its shard is. */
export interface ShardBefore {
  readonly shard: Shard;
  readonly accounts: ShardAccounts;
  readonly queue: OutMsgQueue;
  readonly dispatch: DispatchQueue;
  /** Number of messages in the queue; `null` when the state does not have it. */
  readonly queueSize: number | null;
  readonly processed: ProcessedList;
  readonly total_validator_fees: CurrencyCollection;
  readonly gen_lt: bigint;
  readonly gen_utime: number;
  readonly overload_history: bigint;
  readonly underload_history: bigint;
}

const NO_DISPATCH: DispatchQueue = DispatchQueue.of([]);

/** The previous state of the same shard. */
export function unchanged(state: ShardStateUnsplit): ShardBefore {
  const { out_queue, proc_info, extra } = state.out_msg_queue_info.value;
  const { total_validator_fees, overload_history, underload_history } = state.totals.value;
  const shard = { workchain: state.shard_id.workchain_id, shard: shardOf(state.shard_id) };
  return {
    shard,
    accounts: state.accounts.value,
    queue: out_queue,
    dispatch: extra?.dispatch_queue ?? NO_DISPATCH,
    queueSize: extra?.out_queue_size ?? null,
    processed: ProcessedList.of(shard, proc_info),
    total_validator_fees,
    gen_lt: state.gen_lt,
    gen_utime: state.gen_utime,
    overload_history,
    underload_history,
  };
}

/** The state before the first block of a half. Messages belong to the half of their current hop; fees are halved. */
export function splitOff(state: ShardStateUnsplit, half: Shard): ShardBefore {
  const whole = unchanged(state);
  const queue = queueOfHalf(whole.queue, half);
  const lower = onlyGrams(whole.total_validator_fees.grams / 2n);
  const isRight = half.shard > whole.shard.shard;
  const upper = onlyGrams(whole.total_validator_fees.grams - lower.grams);
  return {
    ...whole,
    shard: half,
    accounts: accountsOf(whole.accounts, half),
    queue,
    dispatch: accountsOf(whole.dispatch, half),
    queueSize: whole.queueSize === null ? null : queue.count(),
    processed: whole.processed.split(half),
    total_validator_fees: isRight ? upper : lower,
    overload_history: 0n,
    underload_history: 0n,
  };
}

/** The state before the first block after a merge. */
export function mergeBoth(left: ShardStateUnsplit, right: ShardStateUnsplit, parent: Shard): ShardBefore {
  const a = unchanged(left);
  const b = unchanged(right);
  return {
    shard: parent,
    accounts: union(a.accounts, b.accounts),
    queue: union(a.queue, b.queue),
    dispatch: union(a.dispatch, b.dispatch),
    queueSize: a.queueSize === null || b.queueSize === null ? null : a.queueSize + b.queueSize,
    processed: a.processed.merge(b.processed),
    total_validator_fees: addCurrency(a.total_validator_fees, b.total_validator_fees),
    gen_lt: a.gen_lt > b.gen_lt ? a.gen_lt : b.gen_lt,
    gen_utime: Math.max(a.gen_utime, b.gen_utime),
    overload_history: 0n,
    underload_history: 0n,
  };
}

/** The messages of a queue that are in one half of its shard. */
function queueOfHalf(queue: OutMsgQueue, half: Shard): OutMsgQueue {
  let rest = queue;
  for (const [key, entry] of queue) {
    const message = queuedMessage(entry);
    if (message === null || !inShard(half, message.cur)) rest = rest.delete(key);
  }
  return rest;
}

/** The messages of a queue whose next hop is in a shard. */
export function queueToward(queue: OutMsgQueue, { workchain, shard }: Shard): OutMsgQueue {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, workchain);
  view.setBigUint64(4, shard);
  return part(queue, new BitString(bytes, 32 + shardPrefixLength(shard)));
}

/** The part of a dictionary by account id that belongs to a shard. */
function accountsOf<V, E>(
  dictionary: AugmentedDictionary<Uint8Array, V, E>,
  { shard }: Shard,
): AugmentedDictionary<Uint8Array, V, E> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, shard);
  return part(dictionary, new BitString(bytes, shardPrefixLength(shard)));
}

function part<K, V, E>(dictionary: AugmentedDictionary<K, V, E>, prefix: BitString): AugmentedDictionary<K, V, E> {
  const { type, root } = dictionary;
  return rooted(type, splitAugmentedDictionary(root, type.key.bits, prefix, type.augmentation));
}

function union<K, V, E>(
  a: AugmentedDictionary<K, V, E>,
  b: AugmentedDictionary<K, V, E>,
): AugmentedDictionary<K, V, E> {
  const { type } = a;
  return rooted(type, mergeAugmentedDictionaries(a.root, b.root, type.key.bits, type.augmentation));
}

function rooted<K, V, E>(
  type: AugmentedType<K, V, E>,
  { root, extra }: ReturnType<typeof splitAugmentedDictionary>,
): AugmentedDictionary<K, V, E> {
  return new AugmentedDictionary(type, root, type.extra.load(openCell(extra.endCell())));
}

/**
 * An entry of `ProcessedInfo`: messages up to (lt, hash) were received, as far as a masterchain block has seen them.
 */
export interface ProcessedUptoEntry {
  /** uint64 with the tag bit: the part of the owner that the entry is about. */
  readonly shard: bigint;
  readonly mc_seqno: number;
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** Up to which lt a masterchain block has seen the messages of the shard that contains a prefix. */
export type KnownEndLt = (mc_seqno: number, prefix: Prefix) => bigint;

/** A `ProcessedInfo` with its owner. */
export class ProcessedList {
  readonly owner: Shard;
  readonly entries: readonly ProcessedUptoEntry[];

  constructor(owner: Shard, entries: readonly ProcessedUptoEntry[]) {
    this.owner = owner;
    this.entries = entries;
  }

  static of(owner: Shard, info: ProcessedInfo): ProcessedList {
    const entries = [...info].map(([{ shard, mc_seqno }, { last_msg_lt, last_msg_hash }]) => {
      return { shard, mc_seqno, lt: last_msg_lt, hash: last_msg_hash };
    });
    return new ProcessedList(owner, entries);
  }

  /** The entries for one half of the owner. */
  split(half: Shard): ProcessedList {
    const entries = this.entries
      .filter(({ shard }) => shardsIntersect(shard, half.shard))
      .map((entry) => (isShardAncestor(entry.shard, half.shard) ? { ...entry, shard: half.shard } : entry));
    return new ProcessedList(half, reduce(entries));
  }

  /** The entries for the parent of two shards. */
  merge(sibling: ProcessedList): ProcessedList {
    const owner = { workchain: this.owner.workchain, shard: shardParent(this.owner.shard) };
    return new ProcessedList(owner, reduce([...this.entries, ...sibling.entries]));
  }

  /** Whether no entry covers another one. */
  get isReduced(): boolean {
    return reduce(this.entries).length === this.entries.length;
  }

  get leastSeqno(): number {
    return this.entries.reduce((least, { mc_seqno }) => Math.min(least, mc_seqno), 0xffffffff);
  }

  /** Whether it covers all entries of the other list. */
  covers(other: readonly ProcessedUptoEntry[]): boolean {
    return other.every((entry) => this.entries.some((own) => contains(own, entry)));
  }

  /** Whether a queued message was received. */
  has(message: EnqueuedMessage, endLt: KnownEndLt): boolean {
    return inShard(this.owner, message.next) && this.entries.some((entry) => received(entry, message, endLt));
  }
}

function contains(entry: ProcessedUptoEntry, other: ProcessedUptoEntry): boolean {
  if (!isShardAncestor(entry.shard, other.shard) || entry.mc_seqno < other.mc_seqno) return false;
  return compareReceived(entry, other) >= 0;
}

/** Processing order: by lt, then by hash. */
export function compareReceived(
  a: { readonly lt: bigint; readonly hash: Uint8Array },
  b: { readonly lt: bigint; readonly hash: Uint8Array },
): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return compareBytes(a.hash, b.hash);
}

function reduce(entries: readonly ProcessedUptoEntry[]): readonly ProcessedUptoEntry[] {
  return entries.filter(
    (entry, i) => !entries.some((other, j) => j !== i && contains(other, entry) && !(contains(entry, other) && j > i)),
  );
}

function received(entry: ProcessedUptoEntry, message: EnqueuedMessage, endLt: KnownEndLt): boolean {
  if (compareReceived(entry, message) < 0 || !shardContains(entry.shard, message.next.prefix)) return false;
  const { cur, next } = message;
  // A shard knows its own messages before the masterchain does.
  if (cur.workchain === next.workchain && shardContains(entry.shard, cur.prefix)) return true;
  return message.enqueued_lt < endLt(entry.mc_seqno, cur);
}

/** A shard whose messages a block may receive: its queue and its `ProcessedInfo`. */
export interface NeighbourQueue {
  readonly shard: Shard;
  readonly end_lt: bigint;
  readonly queue: OutMsgQueue;
  readonly processed: ProcessedList;
}

/** The newest block of a shard that the masterchain lists, and the state after it. */
export interface ListedShard {
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
}

/**
 * All shards from which a block may receive messages. The own shard is taken as it is before the block, which may be
 * newer than the listed one. If the parent is listed, the other half is derived from it; if the halves are listed, the
 * merged shard replaces them.
 *
 * @param listed the newest blocks of all shards; only needed states are read
 * @param sibling for the first block after a split, the state before the other half
 */
export function neighboursOf(
  listed: readonly BlockId[],
  stateAfter: (block: BlockId) => ListedShard,
  before: ShardBefore,
  sibling: ShardBefore | null,
): readonly NeighbourQueue[] {
  const { shard } = before;
  const all: NeighbourQueue[] = [ownQueue(before)];
  for (const id of listed) {
    if (id.workchain !== shard.workchain || !shardsIntersect(id.shard, shard.shard))
      all.push(listedQueue(stateAfter(id)));
    else if (isShardHalf(shard.shard, id.shard))
      all.push(sibling === null ? otherHalf(listedQueue(stateAfter(id)), shard) : ownQueue(sibling));
  }
  return all;
}

function listedQueue({ id, state }: ListedShard): NeighbourQueue {
  const { out_queue, proc_info } = state.out_msg_queue_info.value;
  const shard = { workchain: id.workchain, shard: id.shard };
  return { shard, end_lt: state.gen_lt, queue: out_queue, processed: ProcessedList.of(shard, proc_info) };
}

function ownQueue({ shard, gen_lt, queue, processed }: ShardBefore): NeighbourQueue {
  return { shard, end_lt: gen_lt, queue, processed };
}

function otherHalf(parent: NeighbourQueue, { workchain, shard }: Shard): NeighbourQueue {
  const half = { workchain, shard: shardSibling(shard) };
  return {
    shard: half,
    end_lt: parent.end_lt,
    queue: queueOfHalf(parent.queue, half),
    processed: parent.processed.split(half),
  };
}
