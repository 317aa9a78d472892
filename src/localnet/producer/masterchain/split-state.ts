import { splitAugmentedDictionary } from '#formats/cells/dict-split.js';
import { openCell } from '#formats/cells/slice.js';
import { AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { OutMsgQueueInfo, type ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardAccounts } from '#formats/tlb/shard-account.js';
import {
  isShardAncestor,
  shardHex,
  shardIdent,
  shardOf,
  shardParent,
  shardPrefixLength,
  shardSibling,
  shardsIntersect,
} from '#formats/tlb/shard-ident.js';
import { ShardStateTotals, type ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { masterchainErrors } from '#localnet/producer/masterchain/errors.js';
import { ProcessedMessages } from '#localnet/producer/processed-messages.js';
import { contains, intermediatePrefix, routingPrefix } from '#localnet/producer/routing.js';

/**
 * The state that a half of a shard starts from: what the first block after a split works on. (The Merkle update of that
 * block leads on from the whole state of the parent.)
 *
 * Accounts go by their address, waiting messages by where they are (`cur_addr`), and of the validators' fees each half
 * gets a half, the right one the odd nanoton. The histories of load begin anew.
 *
 * @param parent the state after the block with `before_split`
 * @param shard the half, uint64 with the tag bit
 * @throws producer/states-apart when it is no half of the parent
 */
export function splitState(parent: ShardStateUnsplit, shard: bigint): ShardStateUnsplit {
  const { workchain_id } = parent.shard_id;
  if (
    parent.shard_id.shard_pfx_bits + 1 !== shardPrefixLength(shard) ||
    shardParent(shard) !== shardOf(parent.shard_id)
  )
    throw masterchainErrors['states-apart']({
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
    if (info.kind !== 'int_msg_info')
      throw masterchainErrors['states-apart']({ problem: 'a message to outside waits' });
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

/** What was received of messages to a half of the shard. */
function splitProcessed(info: ProcessedInfo, shard: bigint): ProcessedInfo {
  let processed = new ProcessedMessages([]);
  for (const entry of ProcessedMessages.of(info).entries) {
    if (!shardsIntersect(entry.shard, shard)) continue;
    processed = processed.with(isShardAncestor(entry.shard, shard) ? { ...entry, shard } : entry);
  }
  return processed.toInfo();
}

/** The part of a dictionary by account id that belongs to a shard. */
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

/** One of two parts of an amount; the right one is the bigger if it is odd. */
function halfOf({ grams, other }: CurrencyCollection, right: boolean): CurrencyCollection {
  const half = (amount: bigint): bigint => (amount + (right ? 1n : 0n)) >> 1n;
  const others = [...other].map(([id, amount]) => [id, half(amount)] as const).filter(([, amount]) => amount > 0n);
  return { grams: half(grams), other: ExtraCurrencyCollection.of(others) };
}
