import type { MessagePlace, NewTransaction } from '#drivers/tvm/transaction-runner.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildAugmentedDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import {
  InMsg,
  type InMsgDescr,
  inMsgDescr,
  MsgEnvelope,
  OutMsg,
  type OutMsgDescr,
  outMsgDescr,
} from '#formats/tlb/block-messages.js';
import type { AugmentedCodec, AugmentedDictionary } from '#formats/tlb/codec/augmented-dictionary.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { outMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import { Transaction } from '#formats/tlb/transaction.js';
import type { QueuedMessage } from '#localnet/producer/out-queue.js';
import { ARRIVED, type Route, type RoutingPrefix } from '#localnet/producer/routing.js';

/** An internal message that a transaction of the block created. */
export interface CreatedMessage {
  readonly message: Cell;
  readonly transaction: NewTransaction;
  /** Nanotons. */
  readonly fwd_fee: bigint;
}

/** Collects `InMsgDescr` and `OutMsgDescr` of a block. */
export class BlockMessages {
  readonly #in: [Uint8Array, Builder][] = [];
  readonly #out: [Uint8Array, Builder][] = [];

  /** An external-in message. */
  importExternal(message: Cell, transaction: NewTransaction): void {
    this.#import(message, { kind: 'msg_import_ext', msg: lazyMessage(message), transaction: lazyOf(transaction) });
  }

  /** An external-out message. */
  exportExternal(message: Cell, transaction: NewTransaction): void {
    this.#export(message, { kind: 'msg_export_ext', msg: lazyMessage(message), transaction: lazyOf(transaction) });
  }

  /** Created and received in this block. */
  passImmediately({ message, transaction, fwd_fee }: CreatedMessage, received: NewTransaction): void {
    const out_msg = envelope(message, { current: ARRIVED, next: ARRIVED }, fwd_fee);
    const imported = this.importImmediate(out_msg, received);
    this.#export(message, {
      kind: 'msg_export_imm',
      out_msg,
      transaction: lazyOf(transaction),
      reimport: imported,
    });
  }

  /**
   * Received in this block without having been created by a transaction; also the import part of {@link
   * passImmediately}.
   */
  importImmediate(in_msg: Lazy<MsgEnvelope>, received: NewTransaction): Lazy<InMsg> {
    const { fwd_fee_remaining: fwd_fee, msg } = in_msg.value;
    return this.#import(msg.cell, { kind: 'msg_import_imm', in_msg, transaction: lazyOf(received), fwd_fee });
  }

  /** Received from the queue of another shard, or with `own` dequeued from the queue of this shard. */
  importFinal(queued: QueuedMessage, received: NewTransaction, own: boolean): void {
    const in_msg = Lazy.ofCell(MsgEnvelope, queued.envelope);
    const imported = this.importFrom(in_msg, received);
    if (own) this.#export(queued.message, { kind: 'msg_export_deq_imm', out_msg: in_msg, reimport: imported });
  }

  /** Received as if from another shard, without being in its queue; also the import part of {@link importFinal}. */
  importFrom(in_msg: Lazy<MsgEnvelope>, received: NewTransaction): Lazy<InMsg> {
    const { fwd_fee_remaining: fwd_fee, msg } = in_msg.value;
    return this.#import(msg.cell, { kind: 'msg_import_fin', in_msg, transaction: lazyOf(received), fwd_fee });
  }

  /** A transit message: received and enqueued again. @returns its new envelope */
  pass(queued: QueuedMessage, route: Route, transit_fee: bigint, own: boolean): Lazy<MsgEnvelope> {
    const in_msg = Lazy.ofCell(MsgEnvelope, queued.envelope);
    const out_msg = Lazy.ofValue(MsgEnvelope, {
      ...queued.value,
      cur_addr: { kind: 'interm_addr_regular', use_dest_bits: route.current },
      next_addr: { kind: 'interm_addr_regular', use_dest_bits: route.next },
      fwd_fee_remaining: queued.fwd_fee_remaining - transit_fee,
    });
    const imported = this.#import(queued.message, { kind: 'msg_import_tr', in_msg, out_msg, transit_fee });
    this.#export(queued.message, { kind: own ? 'msg_export_tr_req' : 'msg_export_tr', out_msg, imported });
    return out_msg;
  }

  /** Created and enqueued. @returns its envelope */
  exportNew({ message, transaction, fwd_fee }: CreatedMessage, route: Route): Lazy<MsgEnvelope> {
    const out_msg = envelope(message, route, fwd_fee);
    this.#export(message, { kind: 'msg_export_new', out_msg, transaction: lazyOf(transaction) });
    return out_msg;
  }

  /** Dequeued because a neighbour has received it, in a block with end lt `import_block_lt`. */
  dequeue(key: Uint8Array, envelopeCell: Cell, import_block_lt: bigint): void {
    const { workchain, prefix, hash } = outMsgQueueKey.decode(key);
    const builder = new Builder();
    OutMsg.store(
      {
        kind: 'msg_export_deq_short',
        msg_env_hash: envelopeCell.hash(),
        next_workchain: workchain,
        next_addr_pfx: prefix,
        import_block_lt,
      },
      builder,
    );
    this.#out.push([hash, builder]);
  }

  finish(globalVersion: number): { readonly in: InMsgDescr; readonly out: OutMsgDescr } {
    return {
      in: build(inMsgDescr(globalVersion), this.#in),
      out: build(outMsgDescr(globalVersion), this.#out),
    };
  }

  #import(message: Cell, value: InMsg): Lazy<InMsg> {
    const cell = encodeCell(InMsg, value);
    this.#in.push([message.hash(), new Builder().storeSlice(openCell(cell))]);
    return Lazy.ofCell(InMsg, cell);
  }

  #export(message: Cell, value: OutMsg): void {
    const builder = new Builder();
    OutMsg.store(value, builder);
    this.#out.push([message.hash(), builder]);
  }
}

/** `msg_envelope` around a message. */
export function envelope(message: Cell, route: Route, fwd_fee_remaining: bigint): Lazy<MsgEnvelope> {
  return Lazy.ofValue(MsgEnvelope, {
    kind: 'msg_envelope',
    cur_addr: { kind: 'interm_addr_regular', use_dest_bits: route.current },
    next_addr: { kind: 'interm_addr_regular', use_dest_bits: route.next },
    fwd_fee_remaining,
    msg: lazyMessage(message),
  });
}

function lazyMessage(message: Cell): Lazy<Message> {
  return Lazy.ofCell(Message, message);
}

function lazyOf({ cell }: NewTransaction): Lazy<Transaction> {
  return Lazy.ofCell(Transaction, cell);
}

function build<V, E>(
  { dictionaryType: type, load }: AugmentedCodec<Uint8Array, V, E>,
  entries: readonly [Uint8Array, Builder][],
): AugmentedDictionary<Uint8Array, V, E> {
  const { root, extra } = buildAugmentedDictionary(type.key.bits, entries, type.augmentation);
  const builder = new Builder().storeBit(root !== null);
  if (root !== null) builder.storeRef(root);
  return load(openCell(builder.storeBuilder(extra).endCell()));
}

/** A message that was created in the block that is produced. */
export interface NewMessage extends CreatedMessage {
  readonly place: MessagePlace;
  readonly src: RoutingPrefix;
  readonly dest: RoutingPrefix;
}
