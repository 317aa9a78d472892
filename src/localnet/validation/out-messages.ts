import { InMsg, type MsgEnvelope, type OutMsg } from '#formats/tlb/block-messages.js';
import { encodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import {
  hypercubeRoute,
  inShard,
  interpolatePrefix,
  prefixOf,
  queuedMessage,
  type RoutedMessage,
  samePrefix,
} from '#localnet/validation/routing.js';
import type { MessageBook } from '#localnet/validation/transaction-messages.js';

/** The kind of `InMsg` that belongs to a kind of `OutMsg` with a reference to one. */
const PARTNERS = {
  msg_export_imm: 'msg_import_imm',
  msg_export_deq_imm: 'msg_import_fin',
  msg_export_tr: 'msg_import_tr',
  msg_export_tr_req: 'msg_import_tr',
  msg_export_deferred_tr: 'msg_import_deferred_tr',
} as const;

/** Checks all outbound messages of a block and those that left its queue. @throws validation/broken-rule */
export function checkOutMessages(context: BlockContext, book: MessageBook): void {
  for (const [hash, message] of book.out) new OutMessageCheck(context, book, hash, message).run();
}

class OutMessageCheck {
  readonly #context: BlockContext;
  readonly #book: MessageBook;
  readonly #hex: string;
  readonly #hash: Uint8Array;
  readonly #message: OutMsg;
  readonly #place: { readonly what: string; readonly hash: Uint8Array };

  constructor(context: BlockContext, book: MessageBook, hash: string, message: OutMsg) {
    this.#context = context;
    this.#book = book;
    this.#hex = hash;
    this.#hash = Buffer.from(hash, 'hex');
    this.#message = message;
    this.#place = { what: message.kind, hash: this.#hash };
  }

  run(): void {
    const message = this.#message;
    switch (message.kind) {
      case 'msg_export_ext':
        this.#external(message);
        break;
      case 'msg_export_imm':
        this.#reimported(message.kind, message.reimport);
        this.#arrived(this.#created(message.out_msg, message.transaction));
        break;
      case 'msg_export_new':
        this.#routedOut(this.#created(message.out_msg, message.transaction));
        break;
      case 'msg_export_new_defer':
        this.#putOff(this.#created(message.out_msg, message.transaction));
        break;
      case 'msg_export_deq_imm':
        this.#reimported(message.kind, message.reimport);
        break;
      case 'msg_export_tr':
      case 'msg_export_tr_req':
        this.#reimported(message.kind, message.imported);
        break;
      case 'msg_export_deferred_tr':
        this.#reimported(message.kind, message.imported);
        this.#routedOut(this.#open(message.out_msg));
        break;
      case 'msg_export_deq':
        this.#dequeued(this.#open(message.out_msg).envelope_hash, message.import_block_lt);
        break;
      case 'msg_export_deq_short':
        this.#dequeued(message.msg_env_hash, message.import_block_lt);
        break;
    }
  }

  #external({ msg, transaction }: OutMsg & { kind: 'msg_export_ext' }): void {
    const { rules, shard } = this.#context;
    rules.equal('message-key', this.#hash, msg.cell.hash(), this.#place);
    const { info } = msg.value;
    if (info.kind !== 'ext_out_msg_info')
      throw rules.broken('out-message-kind', 'ext_out_msg_info', info.kind, this.#place);
    rules.require(inShard(shard, prefixOf(info.src)), 'message-src', 'in the shard', 'elsewhere', this.#place);
    this.#createdBy(transaction);
  }

  /** A message that a transaction of the block created. */
  #created(envelope: Lazy<MsgEnvelope>, transaction: Lazy<Transaction>): RoutedMessage {
    const { rules, shard } = this.#context;
    const routed = this.#open(envelope);
    rules.require(inShard(shard, routed.src), 'message-src', 'in the shard', 'elsewhere', this.#place);
    this.#createdBy(transaction);
    rules.equal('envelope-fee', routed.info.fwd_fee, routed.envelope.fwd_fee_remaining, this.#place);
    return routed;
  }

  #arrived({ cur, next, dest }: RoutedMessage): void {
    const { rules, shard } = this.#context;
    rules.require(inShard(shard, dest), 'message-dest', 'in the shard', 'elsewhere', this.#place);
    const there = samePrefix(cur, dest) && samePrefix(next, dest);
    rules.require(there, 'envelope-route', 'at its receiver', 'on its way', this.#place);
  }

  #putOff({ cur, next, src }: RoutedMessage): void {
    const there = samePrefix(cur, src) && samePrefix(next, src);
    this.#context.rules.require(there, 'envelope-route', 'with its sender', 'on its way', this.#place);
  }

  /** A message that enters the queue for the first time. */
  #routedOut({ src, dest, cur, next, lt }: RoutedMessage): void {
    const { rules, shard } = this.#context;
    const route = hypercubeRoute(src, dest, shard);
    const right =
      route !== null &&
      samePrefix(cur, interpolatePrefix(src, dest, route.cur)) &&
      samePrefix(next, interpolatePrefix(src, dest, route.next));
    rules.require(right, 'envelope-route', 'the first step', 'another', this.#place);
    if (inShard(shard, dest)) this.#book.waiting({ lt, hash: this.#hash });
  }

  #createdBy(transaction: Lazy<Transaction>): void {
    const { rules } = this.#context;
    const found = this.#book.creatorOf(this.#hex);
    if (found === undefined) throw rules.broken('message-transaction', 'a transaction', 'none', this.#place);
    rules.equal('message-transaction', found.hash, transaction.cell.hash(), this.#place);
  }

  #open(envelope: Lazy<MsgEnvelope>): RoutedMessage {
    const { rules, shard } = this.#context;
    const routed = this.#book.routed(envelope);
    if (routed === null) throw rules.broken('envelope', 'an internal message', 'another', this.#place);
    rules.equal('message-key', this.#hash, routed.hash, this.#place);
    rules.require(inShard(shard, routed.cur), 'message-src', 'at a place in the shard', 'elsewhere', this.#place);
    return routed;
  }

  #reimported(kind: keyof typeof PARTNERS, reimport: Lazy<InMsg>): void {
    const { rules } = this.#context;
    const found = this.#book.in.get(this.#hex);
    rules.equal('message-pair', PARTNERS[kind], found?.kind ?? 'none', this.#place);
    rules.equal('message-pair', encodeCell(InMsg, found!).hash(), reimport.cell.hash(), this.#place);
  }

  /** A message that a neighbour has received. */
  #dequeued(envelopeHash: Uint8Array, importLt: bigint): void {
    const { rules, before, neighbours, endLt, info, previous } = this.#context;
    const key = this.#book.queueKeyOf(this.#hex);
    const entry = key === null ? undefined : before.queue.get(key);
    const queued = entry === undefined ? null : queuedMessage(entry);
    if (queued === null) throw rules.broken('queue-delivered', 'a message of the queue', 'none', this.#place);
    rules.equal('envelope', queued.envelope_hash, envelopeHash, this.#place);
    const receiver = neighbours.find(({ processed }) => processed.has(queued, endLt));
    if (receiver === undefined) throw rules.broken('queue-delivered', 'received', 'not received', this.#place);
    // After a merge, nodes write the end lt of the left shard for both.
    const ofHalf = info.after_merge && previous.some(({ state }) => state.gen_lt === importLt);
    if (!ofHalf) rules.equal('queue-delivered', receiver.end_lt, importLt, this.#place);
  }
}
