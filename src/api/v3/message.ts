import { Type } from '@sinclair/typebox';
import { byProfile } from '#api/http/profile.js';
import {
  addressField,
  answerObject,
  bocField,
  bocText,
  booleanField,
  currenciesField,
  currenciesText,
  decimalField,
  decimalText,
  hash256Field,
  hashText,
  nullableField,
  optionalField,
  optionalMember,
  type ProfileFormat,
  quotedText,
  textField,
} from '#api/v3/answer-type.js';
import type { AddressCollector } from '#api/v3/page.js';
import { decodeMessageBody } from '#domain/message-bodies/decode-message-body.js';
import { accountOf } from '#formats/address/msg-address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { encodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import { type CommonMsgInfo, type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { bytesEqual } from '#kernel/bytes.js';

export const MessageContentJson = answerObject(
  'MessageContent',
  {
    hash: hash256Field('Hash of the cell.'),
    body: bocField('The cell.'),
    decoded: nullableField(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'The body by its layout, with the name of it in `@type`. Not there when the layout is not known.',
        },
      ),
    ),
  },
  'A cell of a message.',
);

const OPCODE = 'First 32 bits of the body; there is none where it has fewer.';

export const MessageJson = answerObject(
  'Message',
  {
    hash: hash256Field('Hash of the message.'),
    source: nullableField(addressField('Sender; messages from outside have none.')),
    destination: nullableField(addressField('Receiver; messages to the outside have none.')),
    value: nullableField(decimalField('Nanotons that it brings.')),
    value_extra_currencies: nullableField(currenciesField),
    fwd_fee: nullableField(decimalField('Nanotons for its way.')),
    ihr_fee: nullableField(decimalField('Nanotons for instant routing; 0 since global version 12.')),
    extra_flags: nullableField(decimalField('Flags about bouncing, since global version 12.')),
    created_lt: nullableField(decimalField('Logical time of its making; messages from outside have none.')),
    created_at: nullableField(decimalField('Unix time of its making, in seconds; messages from outside have none.')),
    opcode: nullableField(
      Type.Any({
        ...byProfile({
          spec: { type: 'integer', description: `${OPCODE} With sign.` },
          toncenter: { type: 'string', description: `${OPCODE} Hexadecimal with 0x.` },
        }),
      }),
    ),
    decoded_opcode: nullableField(textField('What bodies with this opcode are called.')),
    ihr_disabled: nullableField(booleanField('No instant routing.')),
    bounce: nullableField(booleanField('What it brings comes back when the receiver fails.')),
    bounced: nullableField(booleanField('It comes back.')),
    import_fee: nullableField(decimalField('Nanotons; of messages from outside.')),
    in_msg_tx_hash: optionalField(hash256Field('In /messages: the transaction that received it.')),
    out_msg_tx_hash: optionalField(hash256Field('In /messages: the transaction that sent it.')),
    message_content: MessageContentJson,
    init_state: nullableField(MessageContentJson),
    hash_norm: optionalField(
      hash256Field(
        'Of a message from outside: the hash that does not depend on how its sender stored it (TEP-467), if that is another.',
      ),
    ),
  },
  'A message. What its kind does not have is not there.',
);

/** From this global version on, the slot of `ihr_fee` holds `extra_flags`. */
const EXTRA_FLAGS_VERSION = 12;

/** What the message itself does not tell. */
export interface MessageContext {
  /** Of the configuration at its transaction. */
  readonly global_version: number;
  /** Hash of the transaction that received it; only in lists of messages. */
  readonly in_msg_tx_hash?: Uint8Array | null;
  /** Hash of the transaction that sent it. */
  readonly out_msg_tx_hash?: Uint8Array | null;
}

/** A message as JSON; its source and destination are collected. */
export function messageText(
  message: Lazy<Message>,
  surroundings: MessageContext,
  dialect: ProfileFormat,
  addresses: AddressCollector,
): string {
  const { cell, value } = message;
  const { info } = value;
  const hash = cell.hash();
  const body = messageBodyCell(value);
  const { opcodeName, decoded } = decodeMessageBody(body);
  const opcode = opcodeOf(body);
  const { in_msg_tx_hash = null, out_msg_tx_hash = null } = surroundings;
  const [header, flags] = headerTexts(info, surroundings.global_version, dialect, addresses);
  const content =
    `{"hash":${hashText(body.hash())},"body":${bocText(body)}` +
    `${dialect.nullable('decoded', decoded === null ? null : JSON.stringify(decoded))}}`;
  return (
    `{"hash":${hashText(hash)}${header}` +
    dialect.nullable('opcode', opcode === null ? null : dialect.opcode(opcode)) +
    dialect.nullable('decoded_opcode', opcodeName === null ? null : quotedText(opcodeName)) +
    flags +
    optionalMember('in_msg_tx_hash', in_msg_tx_hash === null ? null : hashText(in_msg_tx_hash)) +
    optionalMember('out_msg_tx_hash', out_msg_tx_hash === null ? null : hashText(out_msg_tx_hash)) +
    `,"message_content":${content}` +
    dialect.nullable('init_state', initText(value, dialect)) +
    optionalMember('hash_norm', normalizedHashText(value, hash)) +
    '}'
  );
}

/** The members before and after those of the opcode. */
function headerTexts(
  info: CommonMsgInfo,
  global_version: number,
  dialect: ProfileFormat,
  addresses: AddressCollector,
): readonly [string, string] {
  const source = info.kind === 'ext_in_msg_info' ? null : accountOf(info.src);
  const destination = info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest);
  const ends =
    dialect.nullable('source', source === null ? null : addresses.add(source)) +
    dialect.nullable('destination', destination === null ? null : addresses.add(destination));
  if (info.kind === 'int_msg_info') {
    const hasFlags = global_version >= EXTRA_FLAGS_VERSION;
    const slot = decimalText(info.extra_flags);
    return [
      `${ends},"value":${decimalText(info.value.grams)},"value_extra_currencies":${currenciesText(info.value.other)}` +
        `,"fwd_fee":${decimalText(info.fwd_fee)},"ihr_fee":${hasFlags ? '"0"' : slot}` +
        `${dialect.nullable('extra_flags', hasFlags ? slot : null)}` +
        `,"created_lt":${decimalText(info.created_lt)},"created_at":${decimalText(info.created_at)}`,
      `,"ihr_disabled":${hasFlags || info.ihr_disabled},"bounce":${info.bounce},"bounced":${info.bounced}` +
        dialect.nullable('import_fee', null),
    ];
  }
  const isOut = info.kind === 'ext_out_msg_info';
  return [
    ends +
      NO_VALUE.map((name) => dialect.nullable(name, null)).join('') +
      dialect.nullable('created_lt', isOut ? decimalText(info.created_lt) : null) +
      dialect.nullable('created_at', isOut ? decimalText(info.created_at) : null),
    NO_FLAGS.map((name) => dialect.nullable(name, null)).join('') +
      dialect.nullable('import_fee', isOut ? null : decimalText(info.import_fee)),
  ];
}

/** What messages from and to the outside do not have. */
const NO_VALUE = ['value', 'value_extra_currencies', 'fwd_fee', 'ihr_fee', 'extra_flags'] as const;
const NO_FLAGS = ['ihr_disabled', 'bounce', 'bounced'] as const;

/** The first 32 bits of a body, unsigned; null when it has fewer. */
function opcodeOf(body: Cell): number | null {
  return body.type === CellType.ordinary && body.bits >= 32 ? new Slice(body).loadUint(32) : null;
}

/** What the message deploys, in a cell of its own; null for nothing. */
function initText({ init }: Message, dialect: ProfileFormat): string | null {
  if (init === null) return null;
  const cell = init.kind === 'left' ? encodeCell(StateInit, init.value) : init.value.cell;
  return `{"hash":${hashText(cell.hash())},"body":${bocText(cell)}${dialect.nullable('decoded', null)}}`;
}

/** Of a message from outside, when it is another hash than that of the message. */
function normalizedHashText(message: Message, hash: Uint8Array): string | null {
  if (message.info.kind !== 'ext_in_msg_info') return null;
  const normalized = normalizedExternalHash(message);
  return bytesEqual(normalized, hash) ? null : hashText(normalized);
}
