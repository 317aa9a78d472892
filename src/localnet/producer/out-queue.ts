import type { Cell } from '#formats/cells/cell.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import type { MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import {
  DispatchQueue,
  type OutMsgQueue,
  type OutMsgQueueExtra,
  type OutMsgQueueInfo,
  outMsgQueueKey,
} from '#formats/tlb/out-msg-queue.js';
import type { ProcessedMessages } from '#localnet/producer/processed-messages.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';

/** The queue of a shard while a block is made: what comes in and goes out is written at the end. */
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

  /** @param key 44 bytes, of a message that was there before the block */
  remove(key: Uint8Array): void {
    this.#removed.push(key);
  }

  /** How many messages there are now. */
  get size(): number {
    const { extra, out_queue } = this.#before;
    const before = extra?.out_queue_size ?? (out_queue.isEmpty ? 0 : out_queue.count());
    return before + this.#added.length - this.#removed.length;
  }

  /** @param storeSize whether the network's rules want the size to be kept */
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
