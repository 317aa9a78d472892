import { loadTransaction } from '#drivers/store/encode/stored-transaction.js';
import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { type Message, messageBody, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';

/** A message in a stored transaction, read as far as it is asked for. */
export class StoredMessage {
  readonly #message: Lazy<Message>;
  /** 0: the transaction received it; n: its n-th out message. */
  readonly position: number;

  constructor(message: Lazy<Message>, position: number) {
    this.#message = message;
    this.position = position;
  }

  get hash(): Uint8Array {
    return this.#message.cell.hash(0);
  }
  /** As it is, and normalised where it comes from outside. */
  get hashes(): readonly Uint8Array[] {
    const { value } = this.#message;
    return this.isFromOutside ? [this.hash, normalizedExternalHash(value)] : [this.hash];
  }
  get bodyHash(): Uint8Array {
    return messageBodyCell(this.#message.value).hash(0);
  }
  get isFromOutside(): boolean {
    return this.#message.value.info.kind === 'ext_in_msg_info';
  }
  get isToOutside(): boolean {
    return this.#message.value.info.kind === 'ext_out_msg_info';
  }
  get source(): Address | null {
    return accountOf(this.#message.value.info.src);
  }
  get destination(): Address | null {
    return accountOf(this.#message.value.info.dest);
  }
  /** The first 32 bits of the body, unsigned; null where it is shorter or no ordinary cell. */
  get opcode(): number | null {
    const { body } = this.#message.value;
    if (body.kind === 'right' && body.value.type !== 0) return null;
    const slice = messageBody(this.#message.value);
    return slice.remainingBits < 32 ? null : slice.loadUint(32);
  }
}

/** The messages of a transaction as it is stored. Codes that are stored apart are not needed: hashes look through them. */
export class StoredMessages {
  readonly #root: Cell;
  readonly #transaction: Transaction;

  constructor(stored: Uint8Array) {
    this.#root = loadTransaction(stored, () => null);
    this.#transaction = decodeCell(Transaction, this.#root);
  }

  /** Of the transaction. */
  get hash(): Uint8Array {
    return this.#root.hash(0);
  }
  get received(): StoredMessage | null {
    const { in_msg } = this.#transaction;
    return in_msg === null ? null : new StoredMessage(in_msg, 0);
  }
  get sent(): readonly StoredMessage[] {
    return [...this.#transaction.out_msgs].map(([key, message]) => new StoredMessage(message, key + 1));
  }
  /** The message at a position as `messages.position` has it; null when there is none. */
  at(position: number): StoredMessage | null {
    if (position === 0) return this.received;
    const message = this.#transaction.out_msgs.get(position - 1);
    return message === undefined ? null : new StoredMessage(message, position);
  }
}
