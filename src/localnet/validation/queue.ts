import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  AccountDispatchQueue,
  type DispatchQueue,
  type EnqueuedMsg,
  type OutMsgQueue,
} from '#formats/tlb/out-msg-queue.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { dictionariesDiffer } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import {
  type EnqueuedMessage,
  inShard,
  queuedMessage,
  queueKey,
  type RoutedMessage,
} from '#localnet/validation/routing.js';
import { compareReceived, ProcessedList, queueToward } from '#localnet/validation/shard-before.js';
import type { MessageBook, Point } from '#localnet/validation/transaction-messages.js';

/**
 * Checks that the queues are the previous ones, without dequeued and with new messages. @throws validation/broken-rule
 */
export function checkQueues(context: BlockContext, book: MessageBook): void {
  checkQueue(context, book);
  checkDispatchQueue(context, book);
}

function checkQueue(context: BlockContext, book: MessageBook): void {
  const { rules, before, after } = context;
  const { out_queue, extra } = after.out_msg_queue_info.value;
  let queue = before.queue;
  let size = 0;
  const remove = (
    place: { readonly what: string; readonly hash: Uint8Array },
    key: Parameters<OutMsgQueue['get']>[0],
  ) => {
    rules.require(queue.has(key), 'queue-change', 'in the queue before', 'not there', place);
    queue = queue.delete(key);
    size--;
  };
  for (const [hash, message] of book.out) {
    const place = { what: message.kind, hash: Buffer.from(hash, 'hex') };
    switch (message.kind) {
      case 'msg_export_deq':
      case 'msg_export_deq_short':
      case 'msg_export_deq_imm':
        remove(place, book.queueKeyOf(hash)!);
        break;
      case 'msg_export_tr_req': {
        const imported = message.imported.value;
        if (imported.kind === 'msg_import_tr') remove(place, queueKey(book.routed(imported.in_msg)!));
        break;
      }
    }
  }
  for (const [hash, message] of book.out) {
    const place = { what: message.kind, hash: Buffer.from(hash, 'hex') };
    switch (message.kind) {
      case 'msg_export_new':
      case 'msg_export_tr':
      case 'msg_export_tr_req':
      case 'msg_export_deferred_tr': {
        const key = book.queueKeyOf(hash)!;
        const entry = out_queue.get(key);
        rules.require(!queue.has(key), 'queue-change', 'not in the queue before', 'there', place);
        if (entry === undefined) throw rules.broken('queue-change', 'in the queue', 'not there', place);
        rules.equal('queue-change', message.out_msg.cell.hash(), entry.out_msg.cell.hash(), place);
        checkEnqueuedLt(context, entry, message.kind === 'msg_export_new' ? book.routed(message.out_msg) : null);
        queue = queue.set(key, entry);
        size++;
      }
    }
  }
  for (const { key, old } of dictionariesDiffer(queue, out_queue)) {
    const place = { what: 'message', hash: key.hash };
    throw rules.broken(
      'queue-change',
      old === null ? 'not there' : 'as before',
      old === null ? 'there' : 'missing',
      place,
    );
  }
  rules.equal('queue-dictionary', queue.root?.hash() ?? null, out_queue.root?.hash() ?? null);
  rules.equal('queue-dictionary', queue.extra, out_queue.extra, 'extra');
  if (extra?.out_queue_size == null) return;
  rules.equal('queue-size', (before.queueSize ?? before.queue.count()) + size, extra.out_queue_size);
}

/** @param created the message, if it was created in this block */
function checkEnqueuedLt(
  { rules, info }: BlockContext,
  { enqueued_lt }: EnqueuedMsg,
  created: RoutedMessage | null,
): void {
  if (created !== null) rules.equal('enqueued-lt', created.lt, enqueued_lt, { what: 'message', hash: created.hash });
  const inside = enqueued_lt >= info.start_lt && enqueued_lt < info.end_lt;
  rules.require(inside, 'enqueued-lt', `${info.start_lt} <= lt < ${info.end_lt}`, enqueued_lt);
}

/** Deferred messages wait in the dispatch queue of their sender, and leave it in lt order. */
function checkDispatchQueue(context: BlockContext, book: MessageBook): void {
  const { rules, before, after } = context;
  const found = after.out_msg_queue_info.value.extra?.dispatch_queue ?? null;
  let dispatch = before.dispatch;
  for (const { message, routed } of removals(book)) {
    const place = { what: message, hash: routed.hash };
    const { id, messages } = ofSender(dispatch, routed);
    const [first] = messages ?? [];
    rules.equal('dispatch-queue', first?.[0] ?? null, routed.info.created_lt, place);
    const [lt, entry] = first!;
    rules.equal('dispatch-queue', entry.out_msg.value.msg.cell.hash(), routed.hash, place);
    const rest = messages!.delete(lt);
    dispatch = rest.isEmpty
      ? dispatch.delete(id)
      : dispatch.set(id, { messages: rest, count: dispatch.get(id)!.count - 1 });
  }
  for (const [hash, message] of book.out) {
    if (message.kind !== 'msg_export_new_defer') continue;
    const routed = book.routed(message.out_msg)!;
    const { id, messages, count } = ofSender(dispatch, routed);
    const lt = routed.info.created_lt;
    const place = { what: 'message', hash: Buffer.from(hash, 'hex') };
    rules.require(messages?.has(lt) !== true, 'dispatch-queue', 'not there before', 'there', place);
    const entry = { enqueued_lt: lt, out_msg: message.out_msg };
    dispatch = dispatch.set(id, { messages: (messages ?? NO_MESSAGES).set(lt, entry), count: count + 1 });
  }
  if (found === null) {
    rules.require(dispatch.isEmpty, 'dispatch-queue', 'none', 'some');
    return;
  }
  for (const { key } of dictionariesDiffer(dispatch, found))
    throw rules.broken('dispatch-queue', 'what was put off', 'another', { what: 'account', hash: key });
  rules.equal('dispatch-queue', dispatch.root?.hash() ?? null, found.root?.hash() ?? null);
  rules.equal('dispatch-queue', dispatch.extra, found.extra, 'extra');
}

const NO_MESSAGES = decodeCell(AccountDispatchQueue, new Builder().storeUint(0, 49).endCell()).messages;

function ofSender(
  dispatch: DispatchQueue,
  { info }: RoutedMessage,
): { readonly id: Uint8Array; readonly messages: AccountDispatchQueue['messages'] | null; readonly count: number } {
  const { src } = info;
  const id = src instanceof Address ? src.hash : new Uint8Array(32);
  const own = dispatch.get(id);
  return { id, messages: own?.messages ?? null, count: own?.count ?? 0 };
}

/** The deferred messages that this block emits, in lt order. */
function removals(book: MessageBook): readonly { readonly message: string; readonly routed: RoutedMessage }[] {
  const found: { readonly message: string; readonly routed: RoutedMessage }[] = [];
  for (const [, message] of book.in) {
    if (message.kind !== 'msg_import_deferred_fin' && message.kind !== 'msg_import_deferred_tr') continue;
    found.push({ message: message.kind, routed: book.routed(message.in_msg)! });
  }
  return found.sort((a, b) => (a.routed.info.created_lt < b.routed.info.created_lt ? -1 : 1));
}

/**
 * Checks `ProcessedInfo`: that it grows by at most one entry, and that exactly the newly covered messages were received
 * in this block.
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

/** Checks all messages for this shard in processing order, up to the first one that is not received. */
function checkInbound(context: BlockContext, book: MessageBook, now: ProcessedList, claimed: Point | null): void {
  const { rules, shard, before, endLt } = context;
  for (const message of inbound(context)) {
    const place = { what: 'message', hash: message.hash };
    const key = toHex(message.hash);
    const arrived = book.in.get(key);
    if (before.processed.has(message, endLt)) {
      // A transit message may come back by another route, in another envelope.
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

function inbound({ rules, neighbours, shard }: BlockContext): readonly EnqueuedMessage[] {
  const found: EnqueuedMessage[] = [];
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

function sameEnvelope(envelope: Cell, { envelope_hash }: EnqueuedMessage): boolean {
  return bytesEqual(envelope.hash(), envelope_hash);
}
