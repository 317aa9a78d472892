import type { Shard } from '#formats/proofs/block-id.js';
import type { ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { isShardAncestor, shardContains, shardParent, shardsIntersect } from '#formats/tlb/shard-ident.js';
import { compareBytes } from '#kernel/bytes/bytes.js';
import type { QueuedMessage } from '#localnet/validation/queued-message.js';
import { inShard, type Prefix } from '#localnet/validation/routing.js';

/** An entry of a `ProcessedInfo`: what came in up to (lt, hash), as far as a masterchain block knew of it. */
export interface ProcessedEntry {
  /** uint64 with the tag bit: the part of the owner that it is about. */
  readonly shard: bigint;
  readonly mc_seqno: number;
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** Up to which lt messages of the shard with a prefix were known to a masterchain block. */
export type KnownEndLt = (mc_seqno: number, prefix: Prefix) => bigint;

/** The messages that a shard has received, as its state tells: a `ProcessedInfo` with its owner. */
export class ProcessedList {
  readonly owner: Shard;
  readonly entries: readonly ProcessedEntry[];

  constructor(owner: Shard, entries: readonly ProcessedEntry[]) {
    this.owner = owner;
    this.entries = entries;
  }

  static of(owner: Shard, info: ProcessedInfo): ProcessedList {
    const entries = [...info].map(([{ shard, mc_seqno }, { last_msg_lt, last_msg_hash }]) => {
      return { shard, mc_seqno, lt: last_msg_lt, hash: last_msg_hash };
    });
    return new ProcessedList(owner, entries);
  }

  /** What a half of the owner has received. */
  split(half: Shard): ProcessedList {
    const entries = this.entries
      .filter(({ shard }) => shardsIntersect(shard, half.shard))
      .map((entry) => (isShardAncestor(entry.shard, half.shard) ? { ...entry, shard: half.shard } : entry));
    return new ProcessedList(half, reduce(entries));
  }

  /** What the parent of two shards has received. */
  merge(sibling: ProcessedList): ProcessedList {
    const owner = { workchain: this.owner.workchain, shard: shardParent(this.owner.shard) };
    return new ProcessedList(owner, reduce([...this.entries, ...sibling.entries]));
  }

  /** Whether no entry makes another one needless. */
  get isReduced(): boolean {
    return reduce(this.entries).length === this.entries.length;
  }

  get leastSeqno(): number {
    return this.entries.reduce((least, { mc_seqno }) => Math.min(least, mc_seqno), 0xffffffff);
  }

  /** Whether all that the other list says has been received has been received by this one, too. */
  covers(other: readonly ProcessedEntry[]): boolean {
    return other.every((entry) => this.entries.some((own) => contains(own, entry)));
  }

  /** Whether a message from a queue has been received. */
  has(message: QueuedMessage, endLt: KnownEndLt): boolean {
    return inShard(this.owner, message.next) && this.entries.some((entry) => received(entry, message, endLt));
  }
}

function contains(entry: ProcessedEntry, other: ProcessedEntry): boolean {
  if (!isShardAncestor(entry.shard, other.shard) || entry.mc_seqno < other.mc_seqno) return false;
  return compareReceived(entry, other) >= 0;
}

/** Messages are received in the order of lt, then hash. */
export function compareReceived(
  a: { readonly lt: bigint; readonly hash: Uint8Array },
  b: { readonly lt: bigint; readonly hash: Uint8Array },
): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return compareBytes(a.hash, b.hash);
}

function reduce(entries: readonly ProcessedEntry[]): readonly ProcessedEntry[] {
  return entries.filter(
    (entry, i) => !entries.some((other, j) => j !== i && contains(other, entry) && !(contains(entry, other) && j > i)),
  );
}

function received(entry: ProcessedEntry, message: QueuedMessage, endLt: KnownEndLt): boolean {
  if (compareReceived(entry, message) < 0 || !shardContains(entry.shard, message.next.prefix)) return false;
  const { cur, next } = message;
  // Its own messages a shard knows before the masterchain does.
  if (cur.workchain === next.workchain && shardContains(entry.shard, cur.prefix)) return true;
  return message.enqueued_lt < endLt(entry.mc_seqno, cur);
}
