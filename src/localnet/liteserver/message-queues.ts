import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries, maxEntry, minEntry } from '#formats/cells/dict-read.js';
import { type BlockId, type Shard, sameShard } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl, unsignedShard } from '#formats/tl/block-id.js';
import type {
  LiteServerAccountDispatchQueueInfo,
  LiteServerDispatchQueueMessage,
  TonNodeBlockIdExt,
} from '#formats/tl/lite-api.js';
import { bigUintKey, loadValue } from '#formats/tlb/codec/dictionary.js';
import type { AccountDispatchQueue, DispatchQueue } from '#formats/tlb/out-msg-queue.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import type { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual } from '#kernel/bytes.js';
import {
  headOf,
  isValidId,
  loadBlock,
  MerkleReader,
  openMcState,
  openState,
  refused,
  stateRootProof,
} from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { lowestBit } from '#localnet/liteserver/shard-links.js';
import { envelopeMetadata } from '#localnet/liteserver/transactions.js';

/** Above this queue size a shard accepts no external messages. */
const EXT_MSG_QUEUE_SIZE_LIMIT = 8000;

const SIZE_WITH_PROOF = 1;

/** Sizes of out-message queues. */
export const queueSizeHandlers: LiteHandlers<'liteServer.getOutMsgQueueSizes' | 'liteServer.getBlockOutMsgQueueSize'> =
  {
    'liteServer.getOutMsgQueueSizes': ({ wc, shard }, { ledger }) => {
      const wanted = wc === null || shard === null ? null : { workchain: wc, shard: unsignedShard(shard) };
      const head = headOf(ledger);
      const { extra } = openMcState(ledger.state(head));
      const all = [head.id, ...[...shardDescrs(extra.shard_hashes)].map(blockOfShard)];
      const shards = all
        .filter((id) => wanted === null || intersect(wanted, id))
        .map((id) => ({ id: blockIdToTl(id), size: countOf(stateOf(ledger, id)) }));
      return { shards, ext_msg_queue_size_limit: EXT_MSG_QUEUE_SIZE_LIMIT };
    },

    'liteServer.getBlockOutMsgQueueSize': ({ id: idTl, mode }, { ledger }) => {
      const id = blockIdFromTl(idTl);
      if (!isValidId(id)) throw refused('invalid BlockIdExt');
      const block = loadBlock(ledger, id);
      const reader = new MerkleReader(ledger.state(block));
      const size = sizeOf(openState(reader.root));
      if (size === null) throw refused('no out_msg_queue_size in shard state');
      const proof = (mode & SIZE_WITH_PROOF) === 0 ? null : serializeBoc([stateRootProof(block.root), reader.proof()]);
      return { mode, id: idTl, size: BigInt(size), proof };
    },
  };

function sizeOf(state: ShardStateUnsplit): number | null {
  return state.out_msg_queue_info.value.extra?.out_queue_size ?? null;
}

/** The size in the state, or the number of messages if the state does not have it. */
function countOf(state: ShardStateUnsplit): number {
  return sizeOf(state) ?? state.out_msg_queue_info.value.out_queue.count();
}

function stateOf(ledger: Ledger, id: BlockId): ShardStateUnsplit {
  return openState(ledger.state(loadBlock(ledger, id)));
}

/** Whether two shards intersect. The wanted shard comes from the client and may be any number. */
function intersect(wanted: Shard, id: BlockId): boolean {
  if (wanted.workchain !== id.workchain) return false;
  if (sameShard(wanted, id)) return true;
  const tag = lowestBit(wanted.shard) > lowestBit(id.shard) ? lowestBit(wanted.shard) : lowestBit(id.shard);
  return ((wanted.shard ^ id.shard) & BigInt.asUintN(64, -(tag << 1n))) === 0n;
}

const MAX_ACCOUNTS = 64;
const MAX_MESSAGES = 64;
const MAX_MESSAGES_WITH_BOC = 16;

const WITH_PROOF = 1;
const ltKey = bigUintKey(64);

/** Deferred messages in dispatch queues, by sender account. */
export const dispatchQueueHandlers: LiteHandlers<
  'liteServer.getDispatchQueueInfo' | 'liteServer.getDispatchQueueMessages'
> = {
  'liteServer.getDispatchQueueInfo': ({ mode, id, after_addr, max_accounts }, { ledger }) => {
    if (!isValidId(blockIdFromTl(id))) throw refused('invalid BlockIdExt');
    if (max_accounts <= 0) throw refused('invalid max_accounts');
    const { queue, proof } = openQueue(ledger, id, mode);
    const account_dispatch_queues: LiteServerAccountDispatchQueueInfo[] = [];
    let complete = true;
    for (const [addr, { messages, count }] of accounts(queue, after_addr, false)) {
      if (account_dispatch_queues.length === Math.min(max_accounts, MAX_ACCOUNTS)) {
        complete = false;
        break;
      }
      const min_lt = ltOf(minEntry(messages.root, 64)!.key);
      const max_lt = ltOf(maxEntry(messages.root, 64)!.key);
      account_dispatch_queues.push({ addr, size: BigInt(count), min_lt, max_lt });
    }
    return { mode, id, account_dispatch_queues, complete, proof: proof() };
  },

  'liteServer.getDispatchQueueMessages': (args, { ledger }) => {
    const { mode, id, addr, after_lt, max_messages, one_account, messages_boc: withBoc } = args;
    if (!isValidId(blockIdFromTl(id))) throw refused('invalid BlockIdExt');
    if (max_messages <= 0) throw refused('invalid max_messages');
    const { queue, proof } = openQueue(ledger, id, mode);
    const limit = Math.min(max_messages, withBoc ? MAX_MESSAGES_WITH_BOC : MAX_MESSAGES);
    const messages: LiteServerDispatchQueueMessage[] = [];
    const roots: Cell[] = [];
    let complete = true;
    let after = after_lt > 0n ? after_lt : 0n;
    for (const [account, value] of accounts(queue, addr, true)) {
      if (messages.length === limit) {
        complete = false;
        break;
      }
      if (one_account && !bytesEqual(account, addr)) break;
      complete = takeMessages(account, value, after, limit, messages, roots);
      after = 0n;
      if (!complete) break;
    }
    const messages_boc = !withBoc ? null : roots.length === 0 ? new Uint8Array() : serializeBoc(roots);
    return { mode, id, messages, complete, proof: proof(), messages_boc };
  },
};

/** Appends messages of one account until the limit; false when there are more. */
function takeMessages(
  account: Uint8Array,
  { messages: queued }: AccountDispatchQueue,
  after: bigint,
  limit: number,
  messages: LiteServerDispatchQueueMessage[],
  roots: Cell[],
): boolean {
  const from = { key: ltKey.encode(after), inclusive: false };
  for (const [key, slice] of iterateEntries(queued.root, 64, { from })) {
    if (messages.length === limit) return false;
    const envelope = loadValue(queued.type.value, slice, key).out_msg.value;
    roots.push(envelope.msg.cell);
    const hash = envelope.msg.cell.hash();
    messages.push({ addr: account, lt: ltOf(key), hash, metadata: envelopeMetadata(envelope) });
  }
  return true;
}

function ltOf(key: Uint8Array): bigint {
  return BigInt.asIntN(64, ltKey.decode(key));
}

/** The dispatch queue after a block, and the proof of what was read of it (`null` when not requested). */
function openQueue(ledger: Ledger, id: TonNodeBlockIdExt, mode: number) {
  const block: LedgerBlock = loadBlock(ledger, blockIdFromTl(id));
  const reader = new MerkleReader(ledger.state(block));
  const extra = openState(reader.root).out_msg_queue_info.value.extra;
  return {
    queue: extra?.dispatch_queue ?? null,
    proof: () => ((mode & WITH_PROOF) === 0 ? null : serializeBoc([stateRootProof(block.root), reader.proof()])),
  };
}

/** Accounts with deferred messages, starting at one. */
function* accounts(
  queue: DispatchQueue | null,
  from: Uint8Array | null,
  inclusive: boolean,
): Generator<readonly [Uint8Array, AccountDispatchQueue]> {
  if (queue === null) return;
  const { type, root } = queue;
  const options = from === null ? {} : { from: { key: from, inclusive } };
  for (const [key, slice] of iterateEntries(root, 256, options)) {
    type.extra.load(slice);
    yield [key, loadValue(type.value, slice, key)];
  }
}
