import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { byProfile } from '#api/http/openapi-schemas.js';
import { accountDependency, messageDependency, messagesToDependency } from '#api/v3/answer-keys.js';
import {
  AddressCollector,
  type AnswerPage,
  type AnswerValue,
  address,
  answerType,
  answerValue,
  anyObject,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  nullable,
  optional,
  required,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { NEEDS_HISTORY } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { MessageText, type TextsOfProfile, type WrittenMessage } from '#api/v3/kept-texts.js';
import { checkPage, filterOf, listAnswer, type PiecedRow, pageOf } from '#api/v3/page.js';
import {
  accountOrNullParameter,
  excludeSystemParameter,
  messageDirectionParameter,
  opcodeIn,
  opcodeParameter,
  pageFields,
  sortParameter,
  timeParameters,
  v3HashListParameter,
  v3HashParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { type DecodedObject, decodedText } from '#domain/message-bodies/body-cursor.js';
import { type DecodedMessageBody, decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import type {
  HeldMessage,
  IndexedMessage,
  IndexedTransactionCells,
  ReadMessage,
} from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell, encodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import { type CommonMsgInfo, type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toBase64, toHex } from '#kernel/bytes.js';

/** From this global version on, the bits of `ihr_fee` hold `extra_flags`. */
const EXTRA_FLAGS_VERSION = 12;

type InternalInfo = Extract<CommonMsgInfo, { readonly kind: 'int_msg_info' }>;

/** What a message is written from. */
interface MessageSource {
  readonly message: Message;
  readonly hash: Uint8Array;
  /** Null for external messages. */
  readonly internal: InternalInfo | null;
  readonly hasExtraFlags: boolean;
  /** Of a transaction that is not indexed yet. */
  readonly isLive: boolean;
  readonly body: Cell;
  readonly decoded: DecodedMessageBody;
  /** Hash of the transaction that received it; only in lists of messages. */
  readonly in_msg_tx_hash: Uint8Array | null;
  /** Hash of the transaction that sent it; only in lists of messages. */
  readonly out_msg_tx_hash: Uint8Array | null;
}

/** @param global_version of the configuration at its transaction */
function messageSource(
  { cell, value: message }: Lazy<Message>,
  global_version: number,
  in_msg_tx_hash: Uint8Array | null = null,
  out_msg_tx_hash: Uint8Array | null = null,
  isLive = false,
): MessageSource {
  const { info } = message;
  const body = messageBodyCell(message);
  return {
    message,
    hash: cell.hash(),
    internal: info.kind === 'int_msg_info' ? info : null,
    hasExtraFlags: global_version >= EXTRA_FLAGS_VERSION,
    isLive,
    body,
    decoded: decodeMessageBody(body),
    in_msg_tx_hash,
    out_msg_tx_hash,
  };
}

interface ContentSource {
  readonly cell: Cell;
  readonly decoded: DecodedObject | null;
}

const decodedBody: AnswerValue<DecodedObject> = answerValue(
  anyObject('The message body by its layout, whose name is in `@type`. Without a value if the layout is unknown.')
    .schema,
  decodedText,
);

const MessageContent = answerType(
  'MessageContent',
  {
    hash: required(hash('Hash of the cell.'), ({ cell }: ContentSource) => cell.hash()),
    body: required(boc('The cell.'), 'cell'),
    decoded: nullable(decodedBody),
  },
  'A cell of a message.',
);

const OPCODE = 'First 32 bits of the message body; none if it has fewer.';

/** The opcode, unsigned. */
const opcode: AnswerValue<number> = {
  schema: Type.Any({
    ...byProfile({
      spec: { type: 'integer', description: `${OPCODE} Signed.` },
      toncenter: { type: 'string', description: `${OPCODE} Hexadecimal with 0x.` },
    }),
  }),
  write: {
    spec: (value) => String(value | 0),
    toncenter: (value) => `"0x${value.toString(16).padStart(8, '0')}"`,
  },
};

export const MessageAnswer = answerType(
  'Message',
  {
    hash: hash('Hash of the message.'),
    source: nullable(address('Sender; external-in messages have none.'), ({ message: { info } }: MessageSource) =>
      info.kind === 'ext_in_msg_info' ? null : accountOf(info.src),
    ),
    destination: nullable(
      address('Receiver; external-out messages have none.'),
      ({ message: { info } }: MessageSource) => (info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest)),
    ),
    value: nullable(decimal('Nanotons that it carries.'), ({ internal }: MessageSource) => internal?.value.grams),
    value_extra_currencies: nullable(currencies, ({ internal }: MessageSource) => internal?.value.other),
    fwd_fee: nullable(decimal('Forward fee in nanotons.'), ({ internal }: MessageSource) => internal?.fwd_fee),
    ihr_fee: nullable(
      decimal('Fee for instant hypercube routing in nanotons; 0 since global version 12.'),
      ({ internal, hasExtraFlags }: MessageSource) => (hasExtraFlags && internal ? 0n : internal?.extra_flags),
    ),
    extra_flags: nullable(
      decimal('Flags of the bounce format, since global version 12.'),
      ({ internal, hasExtraFlags }: MessageSource) => (hasExtraFlags ? internal?.extra_flags : null),
    ),
    created_lt: nullable(
      decimal('Logical time of its creation; external-in messages have none.'),
      ({ message: { info } }: MessageSource) => (info.kind === 'ext_in_msg_info' ? null : info.created_lt),
    ),
    created_at: nullable(
      decimal('Unix time of its creation, in seconds; external-in messages have none.'),
      ({ message: { info } }: MessageSource) => (info.kind === 'ext_in_msg_info' ? null : info.created_at),
    ),
    opcode: nullable(opcode, ({ body }: MessageSource) => opcodeOf(body)),
    decoded_opcode: nullable(
      word('Name of message bodies with this opcode.'),
      ({ decoded }: MessageSource) => decoded.opcodeName,
    ),
    ihr_disabled: nullable(
      flag('Instant hypercube routing is disabled.'),
      ({ internal, hasExtraFlags }: MessageSource) => internal && (hasExtraFlags || internal.ihr_disabled),
    ),
    bounce: nullable(flag('It bounces if the receiver fails.'), ({ internal }: MessageSource) => internal?.bounce),
    bounced: nullable(flag('It is a bounced message.'), ({ internal }: MessageSource) => internal?.bounced),
    import_fee: nullable(
      decimal('Import fee of external-in messages in nanotons.'),
      ({ message: { info } }: MessageSource) => (info.kind === 'ext_in_msg_info' ? info.import_fee : null),
    ),
    in_msg_tx_hash: optional(hash('In /messages: the transaction that received it.')),
    out_msg_tx_hash: optional(hash('In /messages: the transaction that sent it.')),
    message_content: required(MessageContent, ({ body, decoded }: MessageSource) => ({
      cell: body,
      decoded: decoded.decoded,
    })),
    init_state: nullable(MessageContent, ({ message: { init } }: MessageSource) => {
      if (init === null) return null;
      return { cell: init.kind === 'left' ? encodeCell(StateInit, init.value) : init.value.cell, decoded: null };
    }),
    hash_norm: optional(
      hash('Of external-in messages: the normalised hash (TEP-467); of indexed ones, if it differs from the hash.'),
      normalizedHashOf,
    ),
  },
  'A message. Members that its kind does not have are left out.',
);

/**
 * Writes a message of a transaction: once for its sender and its receiver, where the page keeps that.
 *
 * @param isLive the transaction is not indexed yet
 */
export function writeMessage(
  message: Lazy<Message>,
  global_version: number,
  isLive: boolean,
  page: AnswerPage,
): WrittenMessage {
  const hash = toBase64(message.cell.hash());
  const hasExtraFlags = global_version >= EXTRA_FLAGS_VERSION;
  const key = hasExtraFlags && !isLive ? hash : `${hash} ${hasExtraFlags} ${isLive}`;
  let written = page.messages?.get(key);
  if (written === undefined) {
    const own = new AddressCollector();
    const source = messageSource(message, global_version, null, null, isLive);
    const json = writeAnswerJson(MessageAnswer, source, { ...page, addresses: own });
    written = { json, hash, addresses: [...own.byRaw] };
    page.messages?.set(key, written);
  }
  page.addresses.addWritten(written.addresses);
  return written;
}

/** The first 32 bits of a body, unsigned; null when it has fewer. */
function opcodeOf(body: Cell): number | null {
  return body.type === CellType.ordinary && body.bits >= 32 ? new Slice(body).loadUint(32) : null;
}

function normalizedHashOf({ message, hash, isLive }: MessageSource): Uint8Array | null {
  if (message.info.kind !== 'ext_in_msg_info') return null;
  const normalized = normalizedExternalHash(message);
  return !isLive && bytesEqual(normalized, hash) ? null : normalized;
}

interface DecodedTransaction {
  readonly hash: Uint8Array;
  readonly transaction: Transaction;
}

/** The messages of one page; a transaction that holds several of them is decoded once. */
export class MessagesOfPage {
  readonly #decoded = new Map<bigint, DecodedTransaction>();

  /** @throws v3/message-missing */
  source(indexed: IndexedMessage): MessageSource {
    const sender = this.#transactionOf(indexed.sent_by);
    const receiver = this.#transactionOf(indexed.received_by);
    const message = messageIn(indexed, sender, receiver);
    return messageSource(message, indexed.global_version, receiver?.hash ?? null, sender?.hash ?? null);
  }

  #transactionOf(cells: IndexedTransactionCells | null): DecodedTransaction | null {
    if (cells === null) return null;
    const known = this.#decoded.get(cells.id);
    if (known !== undefined) return known;
    const { cell } = cells;
    const decoded = { hash: cell.hash(), transaction: decodeCell(Transaction, cell) };
    this.#decoded.set(cells.id, decoded);
    return decoded;
  }
}

function messageIn(
  { hash, out_index }: IndexedMessage,
  sender: DecodedTransaction | null,
  receiver: DecodedTransaction | null,
): Lazy<Message> {
  const sent = out_index === null ? undefined : sender?.transaction.out_msgs.get(out_index);
  const message = sent ?? receiver?.transaction.in_msg;
  if (message !== undefined && message !== null) return message;
  throw v3Errors['message-missing']({ hash: toHex(hash) });
}

/** A message of the index, or its text, and the page that it is on. */
interface MessageRow {
  readonly message: HeldMessage | IndexedMessage;
  readonly messages: MessagesOfPage;
  /** Where its text is kept; null: nowhere. */
  readonly texts: ReturnType<TextsOfProfile['messages']> | null;
}

const messageRow: PiecedRow<MessageRow> = {
  schema: MessageAnswer.schema,
  pieces: ({ message, messages, texts }, page) => {
    if (message instanceof MessageText) {
      page.addresses.addWritten(message.addresses);
      return [message.json];
    }
    // All messages that are held are texts; the others were read to be held where there are texts.
    if (texts === null) return [writeAnswerJson(MessageAnswer, messages.source(message as IndexedMessage), page)];
    const read = message as ReadMessage;
    const own = new AddressCollector();
    const json = writeAnswerJson(MessageAnswer, messages.source(read), { ...page, addresses: own });
    const text = new MessageText(read, json, [...own.byRaw]);
    texts.add(text);
    page.addresses.addWritten(text.addresses);
    return [text.json];
  },
};

const Messages = listAnswer('MessagesResponse', 'messages', messageRow, { metadata: true });

const ACCOUNT_FORMS = 'in raw or user-friendly form';

const messages = v3Endpoint({
  name: 'messages',
  verbs: ['GET'],
  tag: 'Blockchain Data',
  summary: 'Messages',
  description:
    'Messages that match all given conditions, each once, ordered by the logical time of their creation; by unix time if the ' +
    'request bounds that. External-in messages have neither and count as the newest: descending order starts with them, ' +
    'unless there is a bound or `exclude_externals`.',
  params: Type.Object(
    {
      msg_hash: Type.Optional(v3HashListParameter('Hash of the message, as it is or normalised (TEP-467)')),
      hash: Type.Optional(v3HashListParameter('Alias of `msg_hash`: hash of the message')),
      body_hash: Type.Optional(v3HashParameter('Hash of the body')),
      source: Type.Optional(
        accountOrNullParameter(`Sender, ${ACCOUNT_FORMS}; the word null: external-in messages, without a sender.`),
      ),
      destination: Type.Optional(
        accountOrNullParameter(`Receiver, ${ACCOUNT_FORMS}; the word null: external-out messages, without a receiver.`),
      ),
      opcode: opcodeParameter,
      ...timeParameters('created_at', 'created_lt'),
      direction: messageDirectionParameter,
      exclude_externals: Type.Optional(Type.Boolean({ description: 'Without external-in messages.' })),
      exclude_system: excludeSystemParameter('special messages of the masterchain, which pay validators and mint'),
      only_externals: Type.Optional(Type.Boolean({ description: 'Only external-in messages.' })),
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
  result: Messages.schema,
  statuses: [422, 504],
  price: pagePrice(ROW_PRICE.message),
  coverage: NEEDS_HISTORY,
  freshness: 'head',
  depends: ({ msg_hash, hash = msg_hash, source, destination, direction }) => {
    if (hash !== undefined) return hash.map(messageDependency);
    if (source instanceof Address && direction !== 'in') return [accountDependency(source)];
    if (!(destination instanceof Address)) return null;
    return [direction === 'in' ? accountDependency(destination) : messagesToDependency(destination)];
  },
  handle: async (params, context) => {
    const { hash: same, msg_hash = same, opcode: readings, ...rest } = filterOf(params);
    const filter = { ...rest, msg_hash, opcode: opcodeIn(context.profile, readings) };
    const { index, texts: kept } = context.network;
    const page = pageOf(params, context);
    const texts = kept?.of(context.profile).messages(filter.direction) ?? null;
    const { rows, next } =
      texts === null
        ? await index.messages(filter, page, context.query)
        : await index.messagesBesideHeld(filter, page, texts, context.query);
    // Its receiver is told when that is indexed.
    for (const row of rows) {
      const isReceived = 'isReceived' in row ? row.isReceived : row.received_by !== null;
      if (!isReceived) context.dependsOn(messageDependency('hash' in row ? row.hash : row.facts.hash));
    }
    const messages = new MessagesOfPage();
    return Messages.write({ rows: rows.map((message) => ({ message, messages, texts })), next }, context);
  },
});

/** The method about messages. */
export const messageEndpoints: readonly AnyEndpoint<V3Context>[] = [messages];
