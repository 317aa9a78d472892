import { ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { isShardAncestor, shardContains } from '#formats/tlb/shard-ident.js';
import { compareBytes } from '#kernel/bytes/bytes.js';
import type { MasterchainView } from '#localnet/producer/masterchain-view.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';

/** A place in the order in which messages are received: by lt, then by the message's hash. */
export interface MessagePlace {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

export function comparePlaces(a: MessagePlace, b: MessagePlace): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return compareBytes(a.hash, b.hash);
}

/** A message in a queue, as far as it matters for whether it was received. */
export interface WaitingMessage extends MessagePlace {
  readonly enqueued_lt: bigint;
  /** Where it is, and where it goes next. */
  readonly current: RoutingPrefix;
  readonly next: RoutingPrefix;
}

/** One entry of `ProcessedInfo`. */
export interface ProcessedEntry extends MessagePlace {
  readonly shard: bigint;
  readonly mc_seqno: number;
}

/** The hash that comes after all others. */
export const LAST_HASH: Uint8Array = new Uint8Array(32).fill(0xff);

/** Which messages a shard has received (`ProcessedInfo`). */
export class ProcessedMessages {
  readonly entries: readonly ProcessedEntry[];

  constructor(entries: readonly ProcessedEntry[]) {
    this.entries = entries;
  }

  static of(info: ProcessedInfo): ProcessedMessages {
    return new ProcessedMessages(
      [...info].map(([{ shard, mc_seqno }, { last_msg_lt: lt, last_msg_hash: hash }]) => ({
        shard,
        mc_seqno,
        lt,
        hash,
      })),
    );
  }

  toInfo(): ProcessedInfo {
    return ProcessedInfo.of(
      this.entries.map(
        ({ shard, mc_seqno, lt, hash }) =>
          [
            { shard, mc_seqno },
            { last_msg_lt: lt, last_msg_hash: hash },
          ] as const,
      ),
    );
  }

  /** The place up to which some message was received; null when none was. */
  get last(): MessagePlace | null {
    let last: MessagePlace | null = null;
    for (const entry of this.entries) if (last === null || comparePlaces(last, entry) < 0) last = entry;
    return last;
  }

  /** The oldest masterchain block that an entry refers to. */
  get minSeqno(): number {
    return this.entries.reduce((least, { mc_seqno }) => Math.min(least, mc_seqno), 0xffffffff);
  }

  /** Whether a message was received. @param workchain of the shard whose entries these are */
  has(message: WaitingMessage, workchain: number, view: MasterchainView): boolean {
    return this.entries.some((entry) => {
      if (message.lt > entry.lt || !shardContains(entry.shard, message.next.prefix)) return false;
      if (comparePlaces(entry, message) < 0) return false;
      const { current } = message;
      if (current.workchain === workchain && shardContains(entry.shard, current.prefix)) return true;
      return message.enqueued_lt < view.endLt(entry.mc_seqno, current);
    });
  }

  /** With another entry, without those that others say already. */
  with(added: ProcessedEntry): ProcessedMessages {
    const all = [...this.entries, added];
    const needed = all.filter(
      (entry, i) => !all.some((other, j) => i !== j && covers(other, entry) && (j < i || !covers(entry, other))),
    );
    return new ProcessedMessages(needed);
  }
}

function covers(a: ProcessedEntry, b: ProcessedEntry): boolean {
  return isShardAncestor(a.shard, b.shard) && a.mc_seqno >= b.mc_seqno && comparePlaces(a, b) >= 0;
}
