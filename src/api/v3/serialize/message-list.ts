import { v3Errors } from '#api/v3/errors.js';
import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { messageText } from '#api/v3/serialize/message.js';
import type { IndexedMessage, IndexedTransactionCells } from '#drivers/store/read/index-reads.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import type { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes/bytes.js';

interface ReadTransaction {
  readonly hash: Uint8Array;
  readonly transaction: Transaction;
}

/** Writes the messages of one answer; a transaction that has several of them is read once. */
export class MessageReader {
  readonly #dialect: Dialect;
  readonly #addresses: AddressCollector;
  readonly #read = new Map<bigint, ReadTransaction>();

  constructor(dialect: Dialect, addresses: AddressCollector) {
    this.#dialect = dialect;
    this.#addresses = addresses;
  }

  /** A message as `/messages` shows it, with the hashes of both transactions as far as they are given. */
  textOf(indexed: IndexedMessage): string {
    const sender = this.#transactionOf(indexed.sent_by);
    const receiver = this.#transactionOf(indexed.received_by);
    const surroundings = {
      global_version: indexed.global_version,
      in_msg_tx_hash: receiver?.hash ?? null,
      out_msg_tx_hash: sender?.hash ?? null,
    };
    const message = messageIn(indexed, sender, receiver);
    return messageText(message, surroundings, this.#dialect, this.#addresses);
  }

  #transactionOf(cells: IndexedTransactionCells | null): ReadTransaction | null {
    if (cells === null) return null;
    const known = this.#read.get(cells.id);
    if (known !== undefined) return known;
    const cell = parseBocRoot(cells.boc);
    const read = { hash: cell.hash(), transaction: decodeCell(Transaction, cell) };
    this.#read.set(cells.id, read);
    return read;
  }
}

function messageIn(
  { hash, out_index }: IndexedMessage,
  sender: ReadTransaction | null,
  receiver: ReadTransaction | null,
): Lazy<Message> {
  const sent = out_index === null ? undefined : sender?.transaction.out_msgs.get(out_index);
  const message = sent ?? receiver?.transaction.in_msg;
  if (message !== undefined && message !== null) return message;
  throw v3Errors['message-missing']({ hash: toHex(hash) });
}
