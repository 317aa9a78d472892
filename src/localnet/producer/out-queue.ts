import { comparePlaces, type MessagePlace } from '#drivers/tvm/transaction-runner.js';
import type { Cell } from '#formats/cells/cell.js';
import { openNode } from '#formats/cells/dict-build.js';
import { splitAugmentedDictionary } from '#formats/cells/dict-edit.js';
import { copyBits, putBit } from '#formats/cells/dict-label.js';
import type { Slice } from '#formats/cells/slice.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { isShardAncestor, shardContains, shardPrefixLength } from '#formats/tlb/block-id.js';
import { MsgEnvelope } from '#formats/tlb/block-messages.js';
import { decodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import {
  DispatchQueue,
  OutMsgQueue,
  type OutMsgQueueExtra,
  type OutMsgQueueInfo,
  outMsgQueueKey,
  ProcessedInfo,
} from '#formats/tlb/out-msg-queue.js';
import { BitString, compareBytes } from '#kernel/bytes.js';
import type { MasterchainView } from '#localnet/producer/block-context.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { intermediatePrefix, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

/** The out-message queue of a shard while a block is produced; changes are written at the end. */
export class OutQueue {
  readonly #before: OutMsgQueueInfo;
  readonly #added: {
    readonly next: RoutingPrefix;
    readonly envelope: Lazy<MsgEnvelope>;
    readonly enqueued_lt: bigint;
  }[] = [];
  readonly #removed: Uint8Array[] = [];

  constructor(before: OutMsgQueueInfo) {
    this.#before = before;
  }

  /** Root of the queue before the block. */
  get root(): Cell | null {
    return this.#before.out_queue.root;
  }

  add(envelope: Lazy<MsgEnvelope>, next: RoutingPrefix, enqueued_lt: bigint): void {
    this.#added.push({ envelope, next, enqueued_lt });
  }

  /** @param key 44 bytes, of a message that was in the queue before the block */
  remove(key: Uint8Array): void {
    this.#removed.push(key);
  }

  /** Current number of messages. */
  get size(): number {
    const { extra, out_queue } = this.#before;
    const before = extra?.out_queue_size ?? (out_queue.isEmpty ? 0 : out_queue.count());
    return before + this.#added.length - this.#removed.length;
  }

  /** @param storeSize whether the capabilities require the queue size in the state */
  finish(processed: ProcessedMessages, storeSize: boolean): OutMsgQueueInfo {
    let queue: OutMsgQueue = this.#before.out_queue;
    for (const key of this.#removed) queue = queue.delete(outMsgQueueKey.decode(key));
    for (const { next, envelope, enqueued_lt } of this.#added) {
      const hash = envelope.value.msg.cell.hash();
      const key = { workchain: next.workchain, prefix: next.prefix, hash };
      queue = queue.set(key, { enqueued_lt, out_msg: Lazy.ofCell(envelope.codec, envelope.cell) });
    }
    return { out_queue: queue, proc_info: processed.toInfo(), extra: this.#extra(storeSize) };
  }

  #extra(storeSize: boolean): OutMsgQueueExtra | null {
    const dispatch_queue = this.#before.extra?.dispatch_queue ?? DispatchQueue.of([]);
    if (!storeSize && dispatch_queue.isEmpty) return null;
    return { dispatch_queue, out_queue_size: storeSize ? this.size : null };
  }
}

const KEY_BITS = outMsgQueueKey.bits;
const KEY_BYTES = KEY_BITS / 8;
const HASH_AT = 12;
const NO_HASH = new Uint8Array(32);

/** A decoded queue entry. */
export interface QueuedMessage extends WaitingMessage {
  /** Key in the queue, 44 bytes. */
  readonly key: Uint8Array;
  readonly envelope: Cell;
  readonly message: Cell;
  /** Nanotons. */
  readonly fwd_fee_remaining: bigint;
  readonly dest: RoutingPrefix;
  readonly value: MsgEnvelope;
}

/** A dictionary node that has not been visited yet. */
interface Node {
  readonly source: number;
  /** Least lt in its subtree. */
  readonly lt: bigint;
  /** Key bits on the path to it; for an entry, its key. */
  readonly path: Uint8Array;
  readonly depth: number;
  readonly cell: Cell;
  /** Slice at the entry's value; null for a fork. */
  readonly entry: Slice | null;
}

const { augmentation } = OutMsgQueue.dictionaryType;

/**
 * Merges several out-message queues in processing order: by lt, then by hash. Queues are read only as far as needed,
 * guided by the least lt that each fork carries.
 */
export class OutQueueMerge {
  /** A binary heap. */
  readonly #heap: Node[] = [];

  /**
   * @param queue root of an `OutMsgQueue` @param to only messages whose next hop is in this shard; null for all
   * @param source returned with its messages
   */
  add(queue: Cell | null, to: Shard | null, source: number): void {
    const root = to === null ? queue : splitAugmentedDictionary(queue, KEY_BITS, keyPrefix(to), augmentation).root;
    if (root !== null) this.#push(open(root, new Uint8Array(KEY_BYTES), 0, source));
  }

  /** The next message and the source of its queue; null at the end. */
  next(): { readonly source: number; readonly key: Uint8Array; readonly lt: bigint; readonly entry: Slice } | null {
    for (let node = this.#pop(); node !== null; node = this.#pop()) {
      const { source, path, depth, cell, entry, lt } = node;
      if (entry !== null) return { source, key: path, lt, entry };
      for (let bit = 0; bit < 2; bit++) {
        const way = path.slice();
        putBit(way, depth, bit);
        this.#push(open(cell.ref(bit), way, depth + 1, source));
      }
    }
    return null;
  }

  /** Lower bound of the next message's lt; null at the end. */
  peekLt(): bigint | null {
    return this.#heap[0]?.lt ?? null;
  }

  #push(node: Node): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(node);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (before(heap[above]!, node)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = node;
  }

  #pop(): Node | null {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = at * 2 + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below++;
      if (before(last, heap[below]!)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

/** Forks precede entries with the same lt, since they may contain a smaller hash. */
function before(a: Node, b: Node): boolean {
  if (a.lt !== b.lt) return a.lt < b.lt;
  if (a.entry === null || b.entry === null) return a.entry === null;
  return compareBytes(a.path.subarray(HASH_AT), b.path.subarray(HASH_AT)) <= 0;
}

function open(cell: Cell, path: Uint8Array, depth: number, source: number): Node {
  const { label, isLeaf, rest } = openNode(cell, KEY_BITS - depth, true);
  copyBits(path, depth, label.bytes, 0, label.length);
  const lt = isLeaf ? rest.loadUintBig(64) : forkExtra(rest);
  return { source, lt, path, depth: depth + label.length, cell, entry: isLeaf ? rest : null };
}

function forkExtra(rest: Slice): bigint {
  rest.take(0, 2);
  return rest.loadUintBig(64);
}

/** Key prefix of messages whose next hop is in a shard. */
function keyPrefix({ workchain, shard }: Shard): BitString {
  const length = 32 + shardPrefixLength(shard);
  const key = outMsgQueueKey.encode({ workchain, prefix: shard & (shard - 1n), hash: NO_HASH });
  return new BitString(key.subarray(0, (length + 7) >> 3), length);
}

/** Decodes a queue entry. @throws what decoding throws */
export function readQueued(key: Uint8Array, lt: bigint, entry: Slice): QueuedMessage {
  const enqueued_lt = entry.loadUintBig(64);
  const envelope = entry.loadRef();
  entry.end();
  const value = decodeCell(MsgEnvelope, envelope);
  const { info } = value.msg.value;
  if (info.kind !== 'int_msg_info')
    throw producerErrors['transaction-mismatch']({ account: 'a queue', problem: `${info.kind} waits in it` });
  const src = routingPrefix(info.src);
  const dest = routingPrefix(info.dest);
  return {
    key,
    lt,
    hash: key.subarray(HASH_AT),
    enqueued_lt,
    envelope,
    message: value.msg.cell,
    value,
    fwd_fee_remaining: value.fwd_fee_remaining,
    current: intermediatePrefix(value.cur_addr, src, dest),
    next: intermediatePrefix(value.next_addr, src, dest),
    dest,
  };
}

/** The fields of a queued message that decide whether it was received. */
export interface WaitingMessage extends MessagePlace {
  readonly enqueued_lt: bigint;
  /** Current and next hop. */
  readonly current: RoutingPrefix;
  readonly next: RoutingPrefix;
}

/** An entry of `ProcessedInfo`. */
export interface ProcessedEntry extends MessagePlace {
  readonly shard: bigint;
  readonly mc_seqno: number;
}

/** The greatest hash. */
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

  /** The last place up to which messages were received; null when none was. */
  get last(): MessagePlace | null {
    let last: MessagePlace | null = null;
    for (const entry of this.entries) if (last === null || comparePlaces(last, entry) < 0) last = entry;
    return last;
  }

  /** The oldest masterchain block that an entry refers to. */
  get minSeqno(): number {
    return this.entries.reduce((least, { mc_seqno }) => Math.min(least, mc_seqno), 0xffffffff);
  }

  /** Whether a message was received. @param workchain of the shard that owns the entries */
  has(message: WaitingMessage, workchain: number, view: MasterchainView): boolean {
    return this.entries.some((entry) => {
      if (message.lt > entry.lt || !shardContains(entry.shard, message.next.prefix)) return false;
      if (comparePlaces(entry, message) < 0) return false;
      const { current } = message;
      if (current.workchain === workchain && shardContains(entry.shard, current.prefix)) return true;
      return message.enqueued_lt < view.endLt(entry.mc_seqno, current);
    });
  }

  /** Adds an entry and removes entries that others cover. */
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
