import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-iterate.js';
import { maxEntry, minEntry } from '#formats/cells/dict-lookup.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import type {
  LiteServerAccountDispatchQueueInfo,
  LiteServerDispatchQueueMessage,
} from '#formats/tl/generated/lite-server.js';
import type { TonNodeBlockIdExt } from '#formats/tl/generated/ton-node.js';
import { loadValue } from '#formats/tlb/codec/dictionary.js';
import { bigUintKey } from '#formats/tlb/codec/dictionary-key.js';
import type { AccountDispatchQueue, DispatchQueue } from '#formats/tlb/out-msg-queue.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { openState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { isValidId, loadBlock, refused } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';
import { envelopeMetadata } from '#localnet/liteserver/message-metadata.js';

const MAX_ACCOUNTS = 64;
const MAX_MESSAGES = 64;
const MAX_MESSAGES_WITH_BOC = 16;

const WITH_PROOF = 1;
const ltKey = bigUintKey(64);

/** Deferred messages: those that wait to come into a shard's queue, by the account that sent them. */
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

/** The queue in the state after a block, and the proof of what has been read of it (`null` when none is wanted). */
function openQueue(ledger: Ledger, id: TonNodeBlockIdExt, mode: number) {
  const block: LedgerBlock = loadBlock(ledger, blockIdFromTl(id));
  const reader = new MerkleReader(ledger.state(block));
  const extra = openState(reader.root).out_msg_queue_info.value.extra;
  return {
    queue: extra?.dispatch_queue ?? null,
    proof: () => ((mode & WITH_PROOF) === 0 ? null : serializeBoc([stateRootProof(block.root), reader.proof()])),
  };
}

/** Accounts with deferred messages, from one on. */
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
