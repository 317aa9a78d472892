import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { listText, type ProfileFormat, profileFormat } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { messageText } from '#api/v3/message.js';
import { AddressCollector, checkPage, pageAddressesText, pageOf, rowsOf } from '#api/v3/page.js';
import {
  accountOrNullParameter,
  hash256ListParameter,
  hash256Parameter,
  messageDirectionParameter,
  opcodeIn,
  opcodeParameter,
  pageFields,
  sortParameter,
  timeParameters,
} from '#api/v3/parameters.js';
import { MessagesResponse } from '#api/v3/transactions.js';
import type { IndexedMessage, IndexedTransactionCells } from '#drivers/store/read/index-types.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { decodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import type { Message } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';

interface ReadTransaction {
  readonly hash: Uint8Array;
  readonly transaction: Transaction;
}

/** Writes the messages of one answer; a transaction that has several of them is read once. */
export class MessageListWriter {
  readonly #dialect: ProfileFormat;
  readonly #addresses: AddressCollector;
  readonly #read = new Map<bigint, ReadTransaction>();

  constructor(dialect: ProfileFormat, addresses: AddressCollector) {
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

const ACCOUNT_FORMS = 'in raw or user-friendly form';

const messages = v3Endpoint({
  name: 'messages',
  verbs: ['GET'],
  tag: 'Blockchain Data',
  summary: 'Messages',
  description:
    'Messages that meet all conditions given, each once, by the logical time of their making; by unix time where one is a ' +
    'bound. Messages from outside have neither: they count as the last ones, so that falling order begins with them, ' +
    'unless there is a bound or `exclude_externals`.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(hash256ListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      hash: Type.Optional(hash256ListParameter('The same as `msg_hash`: hash of the message')),
      body_hash: Type.Optional(hash256Parameter('Hash of the body')),
      source: Type.Optional(
        accountOrNullParameter(`Sender, ${ACCOUNT_FORMS}; the word null: from outside, without a sender.`),
      ),
      destination: Type.Optional(
        accountOrNullParameter(`Receiver, ${ACCOUNT_FORMS}; the word null: to the outside, without a receiver.`),
      ),
      opcode: opcodeParameter,
      ...timeParameters('created_at', 'created_lt'),
      direction: messageDirectionParameter,
      exclude_externals: Type.Optional(Type.Boolean({ description: 'Without messages from outside.' })),
      only_externals: Type.Optional(Type.Boolean({ description: 'Only messages from outside.' })),
      ...pageFields,
      sort: sortParameter('By time.'),
    },
    { additionalProperties: false },
  ),
  check: (params) => {
    checkPage(params);
    if (params.msg_hash === undefined || params.hash === undefined) return;
    throw v3Errors.parameters({ problem: 'msg_hash and hash mean the same; give one of them' });
  },
  result: MessagesResponse,
  statuses: [422, 504],
  freshness: 'head',
  handle: async (params, context) => {
    const { limit: _, offset: __, cursor: ___, sort: ____, hash, msg_hash = hash, opcode: readings, ...rest } = params;
    const filter = { ...rest, msg_hash, opcode: opcodeIn(context.profile, readings) };
    const listed = await context.network.index.messages(filter, pageOf(params, context), context.query);
    const addresses = new AddressCollector();
    const reader = new MessageListWriter(profileFormat(context.profile), addresses);
    const texts = rowsOf(listed, context).map((row) => reader.textOf(row));
    return jsonText(`{"messages":${listText(texts)},${await pageAddressesText(addresses, context)}}`);
  },
});

/** The method about messages. */
export const messageEndpoints: readonly AnyEndpoint<V3Context>[] = [messages];
