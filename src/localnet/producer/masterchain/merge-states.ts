import type { Cell } from '#formats/cells/cell.js';
import { mergeAugmentedDictionaries } from '#formats/cells/dict-split.js';
import { openCell } from '#formats/cells/slice.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import type { Codec } from '#formats/tlb/codec/codec.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { addCurrency } from '#formats/tlb/currency.js';
import { type OutMsgQueueExtra, OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardAccounts } from '#formats/tlb/shard-account.js';
import {
  shardChildren,
  shardHex,
  shardIdent,
  shardOf,
  shardParent,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/shard-ident.js';
import { ShardState, ShardStateTotals, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { masterchainErrors } from '#localnet/producer/masterchain/errors.js';
import { ProcessedMessages } from '#localnet/producer/processed-messages.js';

/**
 * The state that two halves start from as one: what the first block after a merge works on. All is put together; the
 * histories of load begin anew.
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

/** The `split_state` that the Merkle update of the first block after a merge leads on from. */
export function splitStateCell(left: Cell, right: Cell): Cell {
  const codec = ShardStateUnsplit as Codec<ShardStateUnsplit>;
  return encodeCell(ShardState, {
    kind: 'split_state',
    left: Lazy.ofCell(codec, left),
    right: Lazy.ofCell(codec, right),
  });
}

/** The shard whose halves the two are. */
function parentOf({ shard_id: left }: ShardStateUnsplit, { shard_id: right }: ShardStateUnsplit): bigint {
  const [a, b] = [shardOf(left), shardOf(right)];
  const parent = a === WHOLE_WORKCHAIN ? null : shardParent(a);
  const [first, second] = parent === null ? [] : shardChildren(parent);
  if (parent === null || left.workchain_id !== right.workchain_id || a !== first || b !== second)
    throw masterchainErrors['states-apart']({
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

/** Without a size where one of the two has none. */
function mergeExtra(left: OutMsgQueueExtra | null, right: OutMsgQueueExtra | null): OutMsgQueueExtra | null {
  if (left === null || right === null) return left ?? right;
  const sizes = [left.out_queue_size, right.out_queue_size];
  return {
    dispatch_queue: unionOf(left.dispatch_queue, right.dispatch_queue),
    out_queue_size: sizes.includes(null) ? null : sizes[0]! + sizes[1]!,
  };
}

/** No limit that a state in memory could reach. */
const NO_LIMIT = 2 ** 32;

function unionOf<K, V, E>(
  left: AugmentedDictionary<K, V, E>,
  right: AugmentedDictionary<K, V, E>,
): AugmentedDictionary<K, V, E> {
  const { type } = left;
  const { root, extra } = mergeAugmentedDictionaries(left.root, right.root, type.key.bits, type.augmentation, NO_LIMIT);
  return new AugmentedDictionary(type, root, type.extra.load(openCell(extra.endCell())));
}
