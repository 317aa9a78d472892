import { Address } from '#formats/address/address.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { accountPrefix, MASTERCHAIN, shardContains, shardParent, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { emittedLt, type IntermediateAddress, type MsgEnvelope } from '#formats/tlb/block-messages.js';
import type { Lazy } from '#formats/tlb/codec/codec.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';
import type { MsgAddressInt } from '#formats/tlb/msg-address.js';
import type { EnqueuedMsg, OutMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import type { BitString } from '#kernel/bytes.js';

/** What messages are routed by: workchain and the first 64 bits of an account id. */
export interface Prefix {
  readonly workchain: number;
  readonly prefix: bigint;
}

const BITS = 96;
const ALL = (1n << 64n) - 1n;

/** The prefix of an address; anycast replaces its first bits. */
export function prefixOf(address: MsgAddressInt): Prefix {
  if (address instanceof Address) return { workchain: address.workchain, prefix: accountPrefix(address.hash) };
  const { workchain_id: workchain, anycast } = address;
  const own = address.kind === 'addr_std' ? accountPrefix(address.address) : firstBits(address.address);
  if (anycast === null) return { workchain, prefix: own };
  const kept = ALL >> BigInt(anycast.depth);
  return { workchain, prefix: (own & kept) | (firstBits(anycast.rewrite_pfx) & ~kept & ALL) };
}

function firstBits(bits: BitString): bigint {
  let value = 0n;
  for (let i = 0; i < 64; i++) value = (value << 1n) | BigInt(i < bits.length ? bits.at(i) : 0);
  return value;
}

export function samePrefix(a: Prefix, b: Prefix): boolean {
  return a.workchain === b.workchain && a.prefix === b.prefix;
}

/** Whether accounts with this prefix are in the shard. */
export function inShard(shard: Shard, { workchain, prefix }: Prefix): boolean {
  return shard.workchain === workchain && shardContains(shard.shard, prefix);
}

/** Whether a shard is one of the two halves of another one in the same workchain. */
export function isShardHalf(shard: bigint, parent: bigint): boolean {
  return shard !== WHOLE_WORKCHAIN && shardParent(shard) === parent;
}

/**
 * The first `bits` of 96 bits (workchain, then prefix) come from the receiver, the others from the sender. The
 * workchain changes as a whole.
 */
export function interpolatePrefix(src: Prefix, dest: Prefix, bits: number): Prefix {
  if (bits < 32) return src;
  if (bits >= BITS) return dest;
  const own = ALL >> BigInt(bits - 32);
  return { workchain: dest.workchain, prefix: (dest.prefix & ~own & ALL) | (src.prefix & own) };
}

/** Length of the common prefix of two places, of 96 bits. */
export function matchingBits(a: Prefix, b: Prefix): number {
  const workchain = Math.clz32(a.workchain ^ b.workchain);
  if (workchain < 32) return workchain;
  const difference = a.prefix ^ b.prefix;
  return difference === 0n ? BITS : BITS - difference.toString(2).length;
}

/** The place in an envelope; `null` for forms that no node writes. */
function placeOf(address: IntermediateAddress, src: Prefix, dest: Prefix): Prefix | null {
  return address.kind === 'interm_addr_regular' ? interpolatePrefix(src, dest, address.use_dest_bits) : null;
}

/** Current and next hop, in bits of the receiver's address. */
export interface HypercubeRoute {
  readonly cur: number;
  readonly next: number;
}

/**
 * The route of a message that is at `at` in a shard: to or from the masterchain and within a shard directly; to another
 * workchain, that is changed first; otherwise each hop sets the next four bits that differ (and more, until it leaves
 * the shard). `null` when `at` is not in the shard.
 */
export function hypercubeRoute(at: Prefix, dest: Prefix, shard: Shard): HypercubeRoute | null {
  if (!inShard(shard, at)) return null;
  if (inShard(shard, dest)) return { cur: BITS, next: BITS };
  if (isMasterchain(shard) || dest.workchain === MASTERCHAIN) return { cur: 0, next: BITS };
  if (at.workchain !== dest.workchain) return { cur: 0, next: 32 };
  let bits = (matchingBits(at, dest) - 32) & ~3;
  let hop: Prefix;
  do {
    bits += 4;
    hop = interpolatePrefix(at, dest, 32 + bits);
  } while (inShard(shard, hop));
  return { cur: 28 + bits, next: 32 + bits };
}

type InternalInfo = Extract<CommonMsgInfo, { readonly kind: 'int_msg_info' }>;

/** A decoded envelope: the message and its place on the route. */
export interface RoutedMessage {
  readonly envelope: MsgEnvelope;
  /** Of the cell of the envelope. */
  readonly envelope_hash: Uint8Array;
  /** Of the message. */
  readonly hash: Uint8Array;
  readonly info: InternalInfo;
  readonly src: Prefix;
  readonly dest: Prefix;
  readonly cur: Prefix;
  readonly next: Prefix;
  /** The lt that decides the processing order. */
  readonly lt: bigint;
}

/** A queued message. `enqueued_lt` is when it was enqueued. */
export interface EnqueuedMessage extends RoutedMessage {
  readonly enqueued_lt: bigint;
}

/** Decodes an envelope; `null` when it has no internal message, or hop addresses in a form that no node writes. */
export function routedMessage(lazy: Lazy<MsgEnvelope>): RoutedMessage | null {
  const envelope = lazy.value;
  const { info } = envelope.msg.value;
  if (info.kind !== 'int_msg_info') return null;
  const src = prefixOf(info.src);
  const dest = prefixOf(info.dest);
  const cur = placeOf(envelope.cur_addr, src, dest);
  const next = placeOf(envelope.next_addr, src, dest);
  if (cur === null || next === null) return null;
  const hash = envelope.msg.cell.hash();
  return { envelope, envelope_hash: lazy.cell.hash(), hash, info, src, dest, cur, next, lt: emittedLt(envelope) };
}

/** Decodes a queue entry; `null` as {@link routedMessage}. */
export function queuedMessage({ enqueued_lt, out_msg }: EnqueuedMsg): EnqueuedMessage | null {
  const message = routedMessage(out_msg);
  return message === null ? null : { ...message, enqueued_lt };
}

/** The key of a message in a queue. */
export function queueKey({ next, hash }: RoutedMessage): OutMsgQueueKey {
  return { workchain: next.workchain, prefix: next.prefix, hash };
}
