import type { Cell } from '#formats/cells/cell.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import type { InMsg } from '#formats/tlb/in-msg.js';
import type { MsgEnvelope } from '#formats/tlb/msg-envelope.js';
import type { OutMsg } from '#formats/tlb/out-msg.js';
import type { OutMsgQueueKey } from '#formats/tlb/out-msg-queue.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { BlockTransaction, ChangedAccount } from '#localnet/validation/accounts.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { compareReceived } from '#localnet/validation/processed-upto.js';
import { queueKey, type RoutedMessage, routedMessage } from '#localnet/validation/queued-message.js';

/** A point in the order in which messages are received. */
export interface Point {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** All messages of a block, found by hash (hex), and what is learnt of them while they are checked. */
export class MessageBook {
  readonly in: ReadonlyMap<string, InMsg>;
  readonly out: ReadonlyMap<string, OutMsg>;
  readonly transactions: readonly BlockTransaction[];
  readonly #byInMessage = new Map<string, BlockTransaction>();
  readonly #byOutMessage = new Map<string, BlockTransaction>();
  readonly #special = new Set<string>();
  readonly #routed = new Map<Cell, RoutedMessage | null>();
  #lastProcessed: Point | null = null;
  #firstWaiting: Point | null = null;

  constructor({ extra, mcExtra }: BlockContext, accounts: readonly ChangedAccount[]) {
    this.in = new Map([...extra.in_msg_descr.value].map(([hash, message]) => [toHex(hash), message]));
    this.out = new Map([...extra.out_msg_descr.value].map(([hash, message]) => [toHex(hash), message]));
    this.transactions = accounts.flatMap(({ transactions }) => transactions);
    for (const each of this.transactions) {
      const { in_msg, out_msgs } = each.transaction;
      if (in_msg !== null) this.#byInMessage.set(toHex(in_msg.cell.hash()), each);
      for (const [, message] of out_msgs) this.#byOutMessage.set(toHex(message.cell.hash()), each);
    }
    if (mcExtra === null) return;
    const { recover_create_msg, mint_msg } = mcExtra.messages.value;
    for (const special of [recover_create_msg, mint_msg]) {
      const message = special?.value;
      if (message?.kind === 'msg_import_imm') this.#special.add(toHex(message.in_msg.value.msg.cell.hash()));
    }
  }

  /** The transaction that a message caused. @param hash of the message */
  transactionOf(hash: Uint8Array): BlockTransaction | undefined {
    return this.#byInMessage.get(toHex(hash));
  }

  /** The transaction that sent a message. @param hash of the message, hex */
  creatorOf(hash: string): BlockTransaction | undefined {
    return this.#byOutMessage.get(hash);
  }

  /** Under which key a message that was taken out of the queue stood there; `null` when it is of another kind. */
  queueKeyOf(hash: string): OutMsgQueueKey | null {
    const message = this.out.get(hash);
    if (message === undefined) return null;
    if (message.kind === 'msg_export_deq_short') {
      const { next_workchain: workchain, next_addr_pfx: prefix } = message;
      return { workchain, prefix, hash: Buffer.from(hash, 'hex') };
    }
    if (message.kind === 'msg_export_ext') return null;
    const routed = this.routed(message.out_msg);
    return routed === null ? null : queueKey(routed);
  }

  /** Whether it is the message with the fees or with new currencies. */
  isSpecial(hash: Uint8Array): boolean {
    return this.#special.size > 0 && this.#special.has(toHex(hash));
  }

  /** Reads an envelope, each only once. */
  routed(envelope: Lazy<MsgEnvelope>): RoutedMessage | null {
    const known = this.#routed.get(envelope.cell);
    if (known !== undefined) return known;
    const routed = routedMessage(envelope);
    this.#routed.set(envelope.cell, routed);
    return routed;
  }

  /** Notes a message that was received. */
  processed({ lt, hash }: Point): void {
    if (this.#lastProcessed === null || compareReceived(this.#lastProcessed, { lt, hash }) < 0)
      this.#lastProcessed = { lt, hash };
  }

  /** Notes a message of this shard to itself that was put into the queue. */
  waiting({ lt, hash }: Point): void {
    if (this.#firstWaiting === null || compareReceived(this.#firstWaiting, { lt, hash }) > 0)
      this.#firstWaiting = { lt, hash };
  }

  /** The last message that was received, of those that must be received in order. */
  get lastProcessed(): Point | null {
    return this.#lastProcessed;
  }

  /** The first message to this shard itself that this block made and did not receive. */
  get firstWaiting(): Point | null {
    return this.#firstWaiting;
  }
}
