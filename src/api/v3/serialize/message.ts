import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { bocText, currenciesText, decimal, hashText, quoted } from '#api/v3/serialize/texts.js';
import { decodeBody } from '#domain/bodies/decode-body.js';
import { accountOf } from '#formats/address/msg-address.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { type CommonMsgInfo, type Message, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { StateInit } from '#formats/tlb/state-init.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';

/** From this global version on, the slot of `ihr_fee` holds `extra_flags`. */
const EXTRA_FLAGS_VERSION = 12;

/** What the message itself does not tell. */
export interface MessageSurroundings {
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
  surroundings: MessageSurroundings,
  dialect: Dialect,
  addresses: AddressCollector,
): string {
  const { cell, value } = message;
  const { info } = value;
  const hash = cell.hash();
  const body = messageBodyCell(value);
  const { opcodeName, decoded } = decodeBody(body);
  const opcode = opcodeOf(body);
  const { in_msg_tx_hash = null, out_msg_tx_hash = null } = surroundings;
  const [header, flags] = headerTexts(info, surroundings.global_version, dialect, addresses);
  const content =
    `{"hash":${hashText(body.hash())},"body":${bocText(body)}` +
    `${dialect.nullable('decoded', decoded === null ? null : JSON.stringify(decoded))}}`;
  return (
    `{"hash":${hashText(hash)}${header}` +
    dialect.nullable('opcode', opcode === null ? null : dialect.opcode(opcode)) +
    dialect.nullable('decoded_opcode', opcodeName === null ? null : quoted(opcodeName)) +
    flags +
    optional('in_msg_tx_hash', in_msg_tx_hash === null ? null : hashText(in_msg_tx_hash)) +
    optional('out_msg_tx_hash', out_msg_tx_hash === null ? null : hashText(out_msg_tx_hash)) +
    `,"message_content":${content}` +
    dialect.nullable('init_state', initText(value, dialect)) +
    optional('hash_norm', normalizedHashText(value, hash)) +
    '}'
  );
}

/** The members before and after those of the opcode. */
function headerTexts(
  info: CommonMsgInfo,
  global_version: number,
  dialect: Dialect,
  addresses: AddressCollector,
): readonly [string, string] {
  const source = info.kind === 'ext_in_msg_info' ? null : accountOf(info.src);
  const destination = info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest);
  const ends =
    dialect.nullable('source', source === null ? null : addresses.add(source)) +
    dialect.nullable('destination', destination === null ? null : addresses.add(destination));
  if (info.kind === 'int_msg_info') {
    const hasFlags = global_version >= EXTRA_FLAGS_VERSION;
    const slot = decimal(info.extra_flags);
    return [
      `${ends},"value":${decimal(info.value.grams)},"value_extra_currencies":${currenciesText(info.value.other)}` +
        `,"fwd_fee":${decimal(info.fwd_fee)},"ihr_fee":${hasFlags ? '"0"' : slot}` +
        `${dialect.nullable('extra_flags', hasFlags ? slot : null)}` +
        `,"created_lt":${decimal(info.created_lt)},"created_at":${decimal(info.created_at)}`,
      `,"ihr_disabled":${hasFlags || info.ihr_disabled},"bounce":${info.bounce},"bounced":${info.bounced}` +
        dialect.nullable('import_fee', null),
    ];
  }
  const isOut = info.kind === 'ext_out_msg_info';
  return [
    ends +
      NO_VALUE.map((name) => dialect.nullable(name, null)).join('') +
      dialect.nullable('created_lt', isOut ? decimal(info.created_lt) : null) +
      dialect.nullable('created_at', isOut ? decimal(info.created_at) : null),
    NO_FLAGS.map((name) => dialect.nullable(name, null)).join('') +
      dialect.nullable('import_fee', isOut ? null : decimal(info.import_fee)),
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
function initText({ init }: Message, dialect: Dialect): string | null {
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
