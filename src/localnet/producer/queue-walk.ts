import type { Cell } from '#formats/cells/cell.js';
import { copyBits, putBit } from '#formats/cells/dict-bits.js';
import { openNode } from '#formats/cells/dict-node.js';
import { splitAugmentedDictionary } from '#formats/cells/dict-split.js';
import type { Slice } from '#formats/cells/slice.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import { OutMsgQueue, outMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import { shardPrefixLength } from '#formats/tlb/shard-ident.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { compareBytes } from '#kernel/bytes/bytes.js';
import { producerErrors } from '#localnet/producer/errors.js';
import type { WaitingMessage } from '#localnet/producer/processed-messages.js';
import { intermediatePrefix, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

const KEY_BITS = outMsgQueueKey.bits;
const KEY_BYTES = KEY_BITS / 8;
const HASH_AT = 12;
const NO_HASH = new Uint8Array(32);

/** A message of a queue, decoded. */
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

/** A node of a queue that is still to be visited. */
interface Node {
  readonly source: number;
  /** Least lt below. */
  readonly lt: bigint;
  /** The bits of the way to it; for an entry its key. */
  readonly path: Uint8Array;
  readonly depth: number;
  readonly cell: Cell;
  /** At the value of an entry; null for a fork. */
  readonly entry: Slice | null;
}

const { augmentation } = OutMsgQueue.dictionaryType;

/**
 * The messages of several queues in the order in which they are received: by lt, then by hash. Queues are opened only as
 * far as they are read, along the least lt that each node carries.
 */
export class QueueWalk {
  /** A heap: each node before the two at double its place. */
  readonly #heap: Node[] = [];

  /**
   * @param queue root of an `OutMsgQueue` @param to only messages whose next hop is in this shard; null for all
   * @param source handed back with its messages
   */
  add(queue: Cell | null, to: Shard | null, source: number): void {
    const root = to === null ? queue : splitAugmentedDictionary(queue, KEY_BITS, keyPrefix(to), augmentation).root;
    if (root !== null) this.#push(open(root, new Uint8Array(KEY_BYTES), 0, source));
  }

  /** The next message and the source of its queue; null when there are no more. */
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

  /** Where the next message stands at the earliest; null when there are no more. */
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

/** Forks come before entries with the same lt: below them there may be a smaller hash. */
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

/** The first bits of keys whose next hop is in a shard. */
function keyPrefix({ workchain, shard }: Shard): BitString {
  const length = 32 + shardPrefixLength(shard);
  const key = outMsgQueueKey.encode({ workchain, prefix: shard & (shard - 1n), hash: NO_HASH });
  return new BitString(key.subarray(0, (length + 7) >> 3), length);
}

/** Decodes an entry of a queue. @throws what decoding throws */
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
