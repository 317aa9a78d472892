import { mergeAugmentedDictionaries, splitAugmentedDictionary } from '#formats/cells/dict-split.js';
import { openCell } from '#formats/cells/slice.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { AugmentedDictionary, type AugmentedType } from '#formats/tlb/codec/augmented-dictionary.js';
import { addCurrency, type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import { DispatchQueue, type OutMsgQueue } from '#formats/tlb/out-msg-queue.js';
import type { ShardAccounts } from '#formats/tlb/shard-account.js';
import { shardOf, shardPrefixLength } from '#formats/tlb/shard-ident.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { ProcessedList } from '#localnet/validation/processed-upto.js';
import { queuedMessage } from '#localnet/validation/queued-message.js';
import { inShard } from '#localnet/validation/routing.js';

/** What a block starts from: the state before it, split or merged as its shard is. */
export interface ShardBefore {
  readonly shard: Shard;
  readonly accounts: ShardAccounts;
  readonly queue: OutMsgQueue;
  readonly dispatch: DispatchQueue;
  /** How many messages are in the queue; `null` when the state did not say. */
  readonly queueSize: number | null;
  readonly processed: ProcessedList;
  readonly total_validator_fees: CurrencyCollection;
  readonly gen_lt: bigint;
  readonly gen_utime: number;
  readonly overload_history: bigint;
  readonly underload_history: bigint;
}

const NO_DISPATCH: DispatchQueue = DispatchQueue.of([]);

/** What the next block of the same shard starts from. */
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

/** What the first block of a half starts from. Messages belong to the half that they are in; fees are shared. */
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

/** What the first block after a merge starts from. */
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
export function queueOfHalf(queue: OutMsgQueue, half: Shard): OutMsgQueue {
  let rest = queue;
  for (const [key, entry] of queue) {
    const message = queuedMessage(entry);
    if (message === null || !inShard(half, message.cur)) rest = rest.delete(key);
  }
  return rest;
}

/** The messages of a queue whose next step leads into a shard. */
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
