import { type InMsg, InMsg as InMsgCodec, type MsgEnvelope, type OutMsg } from '#formats/tlb/block-messages.js';
import { encodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import type { Message } from '#formats/tlb/message.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import {
  hypercubeRoute,
  inShard,
  interpolatePrefix,
  matchingBits,
  prefixOf,
  queuedMessage,
  queueKey,
  type RoutedMessage,
  samePrefix,
} from '#localnet/validation/routing.js';
import type { MessageBook } from '#localnet/validation/transaction-messages.js';

/** Checks all inbound messages of a block. @throws validation/broken-rule */
export function checkInMessages(context: BlockContext, book: MessageBook): void {
  for (const [hash, message] of book.in) new InMessageCheck(context, book, hash, message).run();
}

class InMessageCheck {
  readonly #context: BlockContext;
  readonly #book: MessageBook;
  readonly #hash: Uint8Array;
  readonly #message: InMsg;
  readonly #place: { readonly what: string; readonly hash: Uint8Array };

  constructor(context: BlockContext, book: MessageBook, key: string, message: InMsg) {
    this.#context = context;
    this.#book = book;
    this.#hash = Buffer.from(key, 'hex');
    this.#message = message;
    this.#place = { what: message.kind, hash: this.#hash };
  }

  run(): void {
    const message = this.#message;
    const { rules } = this.#context;
    switch (message.kind) {
      case 'msg_import_ext':
        this.#external(message.msg, message.transaction);
        break;
      case 'msg_import_imm':
        this.#immediate(message);
        break;
      case 'msg_import_fin':
        this.#final(message);
        break;
      case 'msg_import_tr':
        this.#transit(message);
        break;
      case 'msg_import_deferred_fin':
        this.#deferredFinal(message);
        break;
      case 'msg_import_deferred_tr':
        this.#deferredTransit(message);
        break;
      default:
        throw rules.broken('in-message-kind', 'a kind that is in use', message.kind, this.#place);
    }
  }

  #external(msg: Lazy<Message>, transaction: Lazy<Transaction>): void {
    const { rules, shard } = this.#context;
    rules.equal('message-key', this.#hash, msg.cell.hash(), this.#place);
    const { info } = msg.value;
    if (info.kind !== 'ext_in_msg_info')
      throw rules.broken('in-message-kind', 'ext_in_msg_info', info.kind, this.#place);
    rules.require(inShard(shard, prefixOf(info.dest)), 'message-dest', 'in the shard', 'elsewhere', this.#place);
    this.#processedBy(transaction);
  }

  #immediate({ in_msg, transaction, fwd_fee }: InMsg & { kind: 'msg_import_imm' }): void {
    const { rules, shard } = this.#context;
    const routed = this.#routed(in_msg, true);
    this.#processedBy(transaction);
    rules.require(samePrefix(routed.cur, routed.dest), 'envelope-route', 'at its receiver', 'on its way', this.#place);
    rules.require(inShard(shard, routed.src), 'message-src', 'in the shard', 'elsewhere', this.#place);
    rules.equal('import-fee', routed.envelope.fwd_fee_remaining, fwd_fee, this.#place);
    if (this.#book.isSpecial(this.#hash)) return;
    this.#book.processed(routed);
    const out = this.#out('msg_export_imm');
    this.#sameEnvelope(out.out_msg, routed);
    this.#isReimport(out.reimport);
  }

  #final({ in_msg, transaction, fwd_fee }: InMsg & { kind: 'msg_import_fin' }): void {
    const { rules, shard } = this.#context;
    const routed = this.#routed(in_msg, true);
    this.#processedBy(transaction);
    rules.equal('import-fee', routed.envelope.fwd_fee_remaining, fwd_fee, this.#place);
    const fromQueue = this.#fromQueue(routed);
    if (!inShard(shard, routed.cur) || !fromQueue) return;
    const out = this.#out('msg_export_deq_imm');
    this.#sameEnvelope(out.out_msg, routed);
    this.#isReimport(out.reimport);
  }

  #transit({ in_msg, out_msg, transit_fee }: InMsg & { kind: 'msg_import_tr' }): void {
    const { rules, shard, reference } = this.#context;
    const routed = this.#routed(in_msg, false);
    rules.require(!samePrefix(routed.cur, routed.dest), 'envelope-route', 'on its way', 'at its receiver', this.#place);
    const fromHere = inShard(shard, routed.cur);
    this.#fromQueue(routed);
    const out = this.#out(fromHere ? 'msg_export_tr_req' : 'msg_export_tr');
    this.#isReimport(out.imported);
    rules.equal('envelope', out_msg.cell.hash(), out.out_msg.cell.hash(), this.#place);
    const sent = this.#open(out_msg);
    rules.equal('message-key', this.#hash, sent.hash, this.#place);
    const route = hypercubeRoute(routed.next, routed.dest, shard);
    const cur = interpolatePrefix(routed.next, routed.dest, route?.cur ?? 0);
    const next = interpolatePrefix(routed.next, routed.dest, route?.next ?? 0);
    const right = route !== null && samePrefix(sent.cur, cur) && samePrefix(sent.next, next);
    rules.require(right, 'envelope-route', 'the next step', 'another', this.#place);
    const remaining = routed.envelope.fwd_fee_remaining;
    const part = (remaining * BigInt(reference.config.forwardPrices?.next_frac ?? 0)) >> 16n;
    rules.equal('import-fee', part, transit_fee, this.#place);
    rules.equal('import-fee', remaining - part, sent.envelope.fwd_fee_remaining, this.#place);
  }

  #deferredFinal({ in_msg, transaction, fwd_fee }: InMsg & { kind: 'msg_import_deferred_fin' }): void {
    const { rules, shard } = this.#context;
    const routed = this.#deferred(in_msg);
    this.#processedBy(transaction);
    rules.require(inShard(shard, routed.dest), 'message-dest', 'in the shard', 'elsewhere', this.#place);
    rules.equal('import-fee', routed.envelope.fwd_fee_remaining, fwd_fee, this.#place);
    this.#emitted(routed);
    this.#book.processed(routed);
  }

  /** Opens the envelope of a deferred message: it is still at its sender, with its whole fee. */
  #deferred(envelope: Lazy<MsgEnvelope>): RoutedMessage {
    const { rules, shard } = this.#context;
    const routed = this.#open(envelope);
    rules.equal('message-key', this.#hash, routed.hash, this.#place);
    rules.require(inShard(shard, routed.src), 'message-src', 'in the shard', 'elsewhere', this.#place);
    const there = samePrefix(routed.cur, routed.src) && samePrefix(routed.next, routed.src);
    rules.require(there, 'envelope-route', 'with its sender', 'on its way', this.#place);
    rules.equal('envelope-fee', routed.info.fwd_fee, routed.envelope.fwd_fee_remaining, this.#place);
    return routed;
  }

  #deferredTransit({ in_msg, out_msg }: InMsg & { kind: 'msg_import_deferred_tr' }): void {
    const { rules } = this.#context;
    const routed = this.#deferred(in_msg);
    const out = this.#out('msg_export_deferred_tr');
    this.#isReimport(out.imported);
    rules.equal('envelope', out_msg.cell.hash(), out.out_msg.cell.hash(), this.#place);
    const sent = this.#open(out_msg);
    rules.equal('message-key', this.#hash, sent.hash, this.#place);
    rules.equal('import-fee', routed.envelope.fwd_fee_remaining, sent.envelope.fwd_fee_remaining, this.#place);
    this.#emitted(sent);
  }

  /** The emitted lt of a deferred message must be in this block. */
  #emitted({ envelope }: RoutedMessage): void {
    const { rules, info } = this.#context;
    const lt = envelope.kind === 'msg_envelope_v2' ? envelope.emitted_lt : null;
    const inside = lt !== null && lt > info.start_lt && lt < info.end_lt;
    rules.require(inside, 'emitted-lt', `${info.start_lt} < lt < ${info.end_lt}`, lt, this.#place);
  }

  #open(envelope: Lazy<MsgEnvelope>): RoutedMessage {
    const routed = this.#book.routed(envelope);
    if (routed === null) throw this.#context.rules.broken('envelope', 'an internal message', 'another', this.#place);
    return routed;
  }

  /** Opens the envelope of a message to this shard. */
  #routed(envelope: Lazy<MsgEnvelope>, ends: boolean): RoutedMessage {
    const { rules, shard } = this.#context;
    const routed = this.#open(envelope);
    const { cur, next, dest } = routed;
    rules.equal('message-key', this.#hash, routed.hash, this.#place);
    const nearer = matchingBits(dest, next) >= matchingBits(dest, cur);
    rules.require(nearer, 'envelope-route', 'nearer to the receiver', 'further away', this.#place);
    rules.require(inShard(shard, next), 'message-next-hop', 'in the shard', 'elsewhere', this.#place);
    const moves = !samePrefix(next, cur) || samePrefix(cur, dest);
    rules.require(moves, 'envelope-route', 'a step', 'none', this.#place);
    rules.require(
      inShard(shard, dest) === ends,
      'message-dest',
      ends ? 'in the shard' : 'elsewhere',
      !ends,
      this.#place,
    );
    const { fwd_fee_remaining } = routed.envelope;
    rules.require(
      fwd_fee_remaining <= routed.info.fwd_fee,
      'envelope-fee',
      routed.info.fwd_fee,
      fwd_fee_remaining,
      this.#place,
    );
    return routed;
  }

  /** The transaction must be in the block, belong to the receiver, and have this message. */
  #processedBy(transaction: Lazy<Transaction>): void {
    const { rules } = this.#context;
    const found = this.#book.transactionOf(this.#hash);
    if (found === undefined) throw rules.broken('message-transaction', 'a transaction', 'none', this.#place);
    rules.equal('message-transaction', found.hash, transaction.cell.hash(), this.#place);
  }

  /** Whether a neighbour's queue had the message and it was not received before; `false` for an injected message. */
  #fromQueue(routed: RoutedMessage): boolean {
    const { rules, neighbours, before, endLt, deviations } = this.#context;
    const key = queueKey(routed);
    const source = neighbours.find(({ shard }) => inShard(shard, routed.cur));
    const entry = source?.queue.get(key);
    if (entry === undefined) {
      deviations.push({ kind: 'message-injected', block: rules.block, subject: toHex(this.#hash) });
      return false;
    }
    const queued = queuedMessage(entry)!;
    rules.equal('import-envelope', queued.envelope_hash, routed.envelope_hash, this.#place);
    rules.require(!before.processed.has(queued, endLt), 'import-once', 'not yet received', 'received', this.#place);
    this.#book.processed(queued);
    return true;
  }

  #out<K extends OutMsg['kind']>(kind: K): OutMsg & { kind: K } {
    const out = this.#book.out.get(toHex(this.#hash));
    if (out?.kind === kind) return out as OutMsg & { kind: K };
    throw this.#context.rules.broken('message-pair', kind, out?.kind ?? 'none', this.#place);
  }

  #sameEnvelope(envelope: Lazy<MsgEnvelope>, { envelope_hash }: RoutedMessage): void {
    this.#context.rules.equal('envelope', envelope_hash, envelope.cell.hash(), this.#place);
  }

  /** The `InMsg` that an `OutMsg` refers to must be this one. */
  #isReimport(reimport: Lazy<InMsg>): void {
    const same = bytesEqual(encodeCell(InMsgCodec, this.#message).hash(), reimport.cell.hash());
    this.#context.rules.require(same, 'message-pair', 'this message', 'another', this.#place);
  }
}
