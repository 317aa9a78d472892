import type { Cell } from '#formats/cells/cell.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import type { MessageBook, Point } from '#localnet/validation/message-book.js';
import { compareReceived, ProcessedList } from '#localnet/validation/processed-upto.js';
import { type QueuedMessage, queuedMessage } from '#localnet/validation/queued-message.js';
import { inShard } from '#localnet/validation/routing.js';
import { queueToward } from '#localnet/validation/shard-before.js';

/**
 * Checks what a state says about received messages: that it grows by one entry at most, and that just those messages that it
 * newly covers came in with this block.
 *
 * @throws validation/broken-rule
 */
export function checkProcessedInfo(context: BlockContext, book: MessageBook): void {
  const { rules, shard, after, before } = context;
  const now = ProcessedList.of(shard, after.out_msg_queue_info.value.proc_info);
  rules.require(now.isReduced, 'processed-info', 'no entry that another one covers', 'one');
  rules.require(now.covers(before.processed.entries), 'processed-grows', 'all that was received before', 'less');
  const claimed = newEntry(context, now);
  const last = book.lastProcessed;
  if (last !== null) {
    const covered = claimed !== null && compareReceived(claimed, last) >= 0;
    rules.require(covered, 'processed-justified', `up to ${point(last)}`, claimed === null ? 'none' : point(claimed));
  }
  const waiting = book.firstWaiting;
  if (waiting !== null && claimed !== null) {
    const later = compareReceived(claimed, waiting) < 0;
    rules.require(later, 'processed-justified', `less than ${point(waiting)}, which waits`, point(claimed));
  }
  checkInbound(context, book, now, claimed);
}

function newEntry({ rules, id, shard, before, reference, info }: BlockContext, now: ProcessedList): Point | null {
  const fresh = now.entries.filter((entry) => !before.processed.covers([entry]));
  rules.require(fresh.length <= 1, 'processed-info', 'one new entry at most', fresh.length);
  const [entry] = fresh;
  if (entry === undefined) return null;
  rules.equal('processed-info', shard.shard, entry.shard, 'shard of the new entry');
  const seqno = isMasterchain(id) ? id.seqno : reference.id.seqno;
  rules.equal('processed-info', seqno, entry.mc_seqno, 'masterchain block of the new entry');
  const inside = entry.lt > 0n && entry.lt < info.end_lt;
  rules.require(inside, 'processed-info', `0 < lt < ${info.end_lt}`, entry.lt, 'lt of the new entry');
  return entry;
}

/** All messages on their way to this shard, in their order, up to the first one that is not received. */
function checkInbound(context: BlockContext, book: MessageBook, now: ProcessedList, claimed: Point | null): void {
  const { rules, shard, before, endLt } = context;
  for (const message of inbound(context)) {
    const place = { what: 'message', hash: message.hash };
    const key = toHex(message.hash);
    const arrived = book.in.get(key);
    if (before.processed.has(message, endLt)) {
      // One that came through on its way may come back another way, in another envelope.
      const again = arrived !== undefined && 'in_msg' in arrived && sameEnvelope(arrived.in_msg.cell, message);
      rules.equal('import-once', 'none', again ? arrived.kind : 'none', place);
      if (!inShard(shard, message.cur)) continue;
      const out = book.out.get(key)?.kind ?? 'none';
      const dequeued = out === 'msg_export_deq' || out === 'msg_export_deq_short';
      rules.require(dequeued, 'queue-delivered', 'taken out of the queue', out, place);
      continue;
    }
    if (now.has(message, endLt)) {
      const covered = claimed !== null && compareReceived(claimed, message) >= 0;
      rules.require(covered, 'processed-justified', point(message), claimed === null ? 'none' : point(claimed), place);
      if (arrived?.kind !== 'msg_import_fin' && arrived?.kind !== 'msg_import_tr')
        throw rules.broken('processed-justified', 'a message that came in', arrived?.kind ?? 'none', place);
      rules.equal('import-envelope', message.envelope_hash, arrived.in_msg.cell.hash(), place);
      continue;
    }
    const later = claimed === null || compareReceived(claimed, message) < 0;
    rules.require(later, 'processed-justified', `less than ${point(message)}, which waits`, 'more', place);
    rules.equal('processing-order', 'none', arrived?.kind ?? 'none', place);
    return;
  }
}

function inbound({ rules, neighbours, shard }: BlockContext): readonly QueuedMessage[] {
  const found: QueuedMessage[] = [];
  for (const { queue } of neighbours) {
    for (const [, entry] of queueToward(queue, shard)) {
      const message = queuedMessage(entry);
      if (message === null) throw rules.broken('envelope', 'an internal message', 'another');
      found.push(message);
    }
  }
  return found.sort(compareReceived);
}

function point({ lt, hash }: Point): string {
  return `${lt} ${toHex(hash)}`;
}

function sameEnvelope(envelope: Cell, { envelope_hash }: QueuedMessage): boolean {
  return bytesEqual(envelope.hash(), envelope_hash);
}
