import type { Lazy } from '#formats/tlb/codec/lazy.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';
import { emittedLt, type MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import type { EnqueuedMsg, OutMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { type Prefix, placeOf, prefixOf } from '#localnet/validation/routing.js';

export type InternalInfo = Extract<CommonMsgInfo, { readonly kind: 'int_msg_info' }>;

/** An envelope, read: which message is in it, and where it is on its way. */
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
  /** By which messages are put in order: the lt at which it was sent on. */
  readonly lt: bigint;
}

/** A message in a queue. `enqueued_lt` is when it came there. */
export interface QueuedMessage extends RoutedMessage {
  readonly enqueued_lt: bigint;
}

/** Reads an envelope; `null` when it holds no internal message, or its addresses are of a form that no node writes. */
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

/** Reads an entry of a queue; `null` as {@link routedMessage}. */
export function queuedMessage({ enqueued_lt, out_msg }: EnqueuedMsg): QueuedMessage | null {
  const message = routedMessage(out_msg);
  return message === null ? null : { ...message, enqueued_lt };
}

/** The key under which a message stands in a queue. */
export function queueKey({ next, hash }: RoutedMessage): OutMsgQueueKey {
  return { workchain: next.workchain, prefix: next.prefix, hash };
}

export function sameQueueKey(a: OutMsgQueueKey, b: OutMsgQueueKey): boolean {
  return a.workchain === b.workchain && a.prefix === b.prefix && bytesEqual(a.hash, b.hash);
}
