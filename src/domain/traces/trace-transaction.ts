import { Address } from '#formats/address/address.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';

/** What began a transaction: a message from outside, one that validators made (fees, minted coins), or one of an account. */
export type InboundKind = 'external' | 'system' | 'internal';

export interface InboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  readonly kind: InboundKind;
}

export interface OutboundMessage {
  /** Of the message's cell. */
  readonly hash: Uint8Array;
  /** Whether it leaves the chain (`ext_out_msg_info`), so that nothing on the chain consumes it. */
  readonly external: boolean;
}

/** What assembling traces needs to know of a transaction. Hashes may be views: they are kept until the batch is dropped. */
export interface TraceTransaction {
  /** Its place in the order of the index: masterchain seqno first, then lt, workchain, account. */
  readonly id: bigint;
  readonly hash: Uint8Array;
  readonly lt: bigint;
  /** Unix seconds. */
  readonly now: number;
  /** Of the masterchain block that commits it. */
  readonly mc_seqno: number;
  /** Any number that stands for its account. */
  readonly account_key: bigint;
  /** `null` for tick-tock transactions and those of splits and merges. */
  readonly in_msg: InboundMessage | null;
  readonly out_msgs: readonly OutboundMessage[];
}

/**
 * The kind of an inbound message by its header and the `start_lt` of the block that has the transaction. Validators write
 * account zero of the masterchain as the source of theirs, and this `start_lt` as `created_lt`. The source alone does not
 * tell: that account may send messages of its own, and some networks have a wallet there. They are made after the start of
 * their block, and before the start of the next.
 */
export function inboundKind(info: CommonMsgInfo, start_lt: bigint): InboundKind {
  if (info.kind !== 'int_msg_info') return 'external';
  const { src, created_lt } = info;
  if (created_lt !== start_lt || !(src instanceof Address) || src.workchain !== -1) return 'internal';
  return src.hash.every((byte) => byte === 0) ? 'system' : 'internal';
}
