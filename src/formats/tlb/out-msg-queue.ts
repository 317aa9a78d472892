import { emittedLt, MsgEnvelope } from '#formats/tlb/block-messages.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { maybe, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import {
  bigUintKey,
  bytesKey,
  type Dictionary,
  hashmapE,
  intKey,
  type KeyCodec,
  uintKey,
} from '#formats/tlb/codec/dictionary.js';
import { bits256, uint, uint64 } from '#formats/tlb/codec/primitives.js';
import { record } from '#formats/tlb/codec/record.js';
import { concatBytes, int32At, uint64At } from '#kernel/bytes.js';

const int32Key = intKey(32);
const uint32Key = uintKey(32);
const uint64Key = bigUintKey(64);
const hashKey = bytesKey(32);

const LAST_LT = (1n << 64n) - 1n;
const least = (left: bigint, right: bigint): bigint => (left < right ? left : right);

/** A message in an out-message queue. `enqueued_lt` is the lt at which it entered the queue. */
export const EnqueuedMsg = record('_ enqueued_lt:uint64 out_msg:^MsgEnvelope = EnqueuedMsg;', {
  enqueued_lt: uint64,
  out_msg: ref(MsgEnvelope),
});
export type EnqueuedMsg = ValueOf<typeof EnqueuedMsg>;

/** Key of an out-message queue: workchain (int32) and first 64 address bits of the next hop, and the message hash. */
export interface OutMsgQueueKey {
  readonly workchain: number;
  readonly prefix: bigint;
  readonly hash: Uint8Array;
}

/** Keys of 352 bits. */
export const outMsgQueueKey: KeyCodec<OutMsgQueueKey> = {
  bits: 352,
  encode: ({ workchain, prefix, hash }) =>
    concatBytes(int32Key.encode(workchain), uint64Key.encode(prefix), hashKey.encode(hash)),
  decode: (bytes) => ({ workchain: int32At(bytes, 0), prefix: uint64At(bytes, 4), hash: bytes.slice(12) }),
};

/**
 * `_ (HashmapAugE 352 EnqueuedMsg uint64) = OutMsgQueue;`
 * Messages to other shards and to this one; the extra of a node is the least {@link emittedLt} of its messages.
 */
export const OutMsgQueue = hashmapAugE(outMsgQueueKey, EnqueuedMsg, uint64, {
  empty: 0n,
  leaf: (message) => emittedLt(message.out_msg.value),
  combine: least,
});
export type OutMsgQueue = AugmentedDictionary<OutMsgQueueKey, EnqueuedMsg, bigint>;

/** The last message, by lt and hash, that was imported from a neighbour. */
export const ProcessedUpto = record('processed_upto$_ last_msg_lt:uint64 last_msg_hash:bits256 = ProcessedUpto;', {
  last_msg_lt: uint64,
  last_msg_hash: bits256,
});
export type ProcessedUpto = ValueOf<typeof ProcessedUpto>;

/** Shard (uint64 with the tag bit) and masterchain sequence number. */
export interface ProcessedInfoKey {
  readonly shard: bigint;
  readonly mc_seqno: number;
}

/** Keys of 96 bits. */
export const processedInfoKey: KeyCodec<ProcessedInfoKey> = {
  bits: 96,
  encode: ({ shard, mc_seqno }) => concatBytes(uint64Key.encode(shard), uint32Key.encode(mc_seqno)),
  decode: (bytes) => ({ shard: uint64At(bytes, 0), mc_seqno: int32At(bytes, 8) >>> 0 }),
};

/** `_ (HashmapE 96 ProcessedUpto) = ProcessedInfo;` — which messages the shard has imported. */
export const ProcessedInfo = hashmapE(processedInfoKey, ProcessedUpto);
export type ProcessedInfo = Dictionary<ProcessedInfoKey, ProcessedUpto>;

/** Deferred messages of one account, by `created_lt`. */
export const AccountDispatchQueue = record(
  '_ messages:(HashmapE 64 EnqueuedMsg) count:uint48 = AccountDispatchQueue;',
  { messages: hashmapE(uint64Key, EnqueuedMsg), count: uint(48) },
);
export type AccountDispatchQueue = ValueOf<typeof AccountDispatchQueue>;

/**
 * `_ (HashmapAugE 256 AccountDispatchQueue uint64) = DispatchQueue;`
 * By the sender's id; the extra of a node is the least `created_lt`.
 */
export const DispatchQueue = hashmapAugE(hashKey, AccountDispatchQueue, uint64, {
  empty: 0n,
  leaf: ({ messages }) => {
    for (const [lt] of messages) return lt;
    return LAST_LT;
  },
  combine: least,
});
export type DispatchQueue = AugmentedDictionary<Uint8Array, AccountDispatchQueue, bigint>;

/** Deferred messages, and the size of the out-message queue. */
export const OutMsgQueueExtra = record(
  'out_msg_queue_extra#0 dispatch_queue:DispatchQueue out_queue_size:(Maybe uint48) = OutMsgQueueExtra;',
  { dispatch_queue: DispatchQueue, out_queue_size: maybe(uint(48)) },
);
export type OutMsgQueueExtra = ValueOf<typeof OutMsgQueueExtra>;

/** The out-message queue of a shard: messages not yet known to be imported, and what it has imported from neighbours. */
export const OutMsgQueueInfo = record(
  '_ out_queue:OutMsgQueue proc_info:ProcessedInfo extra:(Maybe OutMsgQueueExtra) = OutMsgQueueInfo;',
  { out_queue: OutMsgQueue, proc_info: ProcessedInfo, extra: maybe(OutMsgQueueExtra) },
);
export type OutMsgQueueInfo = ValueOf<typeof OutMsgQueueInfo>;
