import { type Static, Type } from '@sinclair/typebox';
import {
  AccountAddress,
  accountAddress,
  bocBase64,
  bytesField,
  decimalField,
  ExtraCurrencyBalance,
  extraCurrencies,
  friendlyAddress,
  hashField,
  typeName,
  v2Object,
} from '#api/v2/ton-objects.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { StateInit } from '#formats/tlb/account.js';
import { encodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import { type CommonMsgInfo, type Message, messageBodyCell } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { toBase64 } from '#kernel/bytes.js';
import { utf8Text } from '#kernel/utf8.js';

const MsgDataRaw = Type.Partial(
  Type.Object({
    '@type': typeName('msg.dataRaw'),
    body: bytesField('Bag of cells with the body.'),
    init_state: bytesField('Bag of cells with the `StateInit` that the message deploys; empty when it has none.'),
  }),
  { $id: 'MsgDataRaw', additionalProperties: false },
);

const MsgDataText = Type.Partial(Type.Object({ '@type': typeName('msg.dataText'), text: bytesField('The comment.') }), {
  $id: 'MsgDataText',
  additionalProperties: false,
});

const MsgDataDecryptedText = Type.Partial(
  Type.Object({
    '@type': typeName('msg.dataDecryptedText'),
    text: bytesField('The comment. Never returned: the service has no keys.'),
  }),
  { $id: 'MsgDataDecryptedText', additionalProperties: false },
);

const MsgDataEncryptedText = Type.Partial(
  Type.Object({ '@type': typeName('msg.dataEncryptedText'), text: bytesField('The encrypted comment.') }),
  { $id: 'MsgDataEncryptedText', additionalProperties: false },
);

const MsgData = Type.Union([MsgDataRaw, MsgDataText, MsgDataDecryptedText, MsgDataEncryptedText], {
  $id: 'MsgData',
  discriminator: { propertyName: '@type' },
});
type MsgData = Static<typeof MsgData>;

const messageProperties = {
  value: decimalField('Value in nanotons.'),
  extra_currencies: Type.Array(ExtraCurrencyBalance, { description: 'Extra currencies.' }),
  fwd_fee: decimalField('Forward fee in nanotons.'),
  ihr_fee: decimalField('Always 0: the field has no fee any more.'),
  created_lt: Type.String({ description: 'Logical time of the message; 0 for an external-in message.' }),
  body_hash: hashField('Hash of the body as a cell.'),
  msg_data: MsgData,
};

const messageHash = hashField('Hash of the message cell.');

export const MessageJson = v2Object(
  'Message',
  {
    '@type': typeName('ext.message'),
    hash: messageHash,
    source: Type.String({ description: 'Sender in user-friendly form; empty for an external-in message.' }),
    destination: Type.String({ description: 'Receiver in user-friendly form; empty for an external-out message.' }),
    ...messageProperties,
    message: Type.Optional(
      Type.String({
        description:
          'A comment as text; for other bodies the data of the first cell in base64, followed by a line break. ' +
          'Absent for encrypted comments.',
      }),
    ),
    message_decode_error: Type.Optional(Type.String({ description: 'Why the body could not be decoded.' })),
  },
  { description: 'A message, with addresses as strings.' },
);
export type MessageJson = Static<typeof MessageJson>;

export const MessageStd = v2Object('MessageStd', {
  '@type': typeName('raw.message'),
  hash: messageHash,
  source: AccountAddress,
  destination: AccountAddress,
  ...messageProperties,
});
export type MessageStd = Static<typeof MessageStd>;

/** A message as `getTransactions` shows it (`ext.message`): addresses are strings, and `message` has the content. */
export function extMessage(lazy: Lazy<Message>): MessageJson {
  const message = lazy.value;
  const { info } = message;
  const body = messageBodyCell(message);
  const content = bodyContent(body);
  const json: MessageJson = {
    '@type': 'ext.message',
    hash: toBase64(lazy.cell.hash()),
    source: friendlyAddress(sourceOf(info)),
    destination: friendlyAddress(destinationOf(info)),
    value: info.kind === 'int_msg_info' ? info.value.grams.toString() : '0',
    extra_currencies: info.kind === 'int_msg_info' ? extraCurrencies(info.value.other) : [],
    fwd_fee: info.kind === 'int_msg_info' ? info.fwd_fee.toString() : '0',
    ihr_fee: '0',
    created_lt: createdLt(info),
    body_hash: toBase64(body.hash()),
    msg_data: msgData(message, body, content),
  };
  if (content.message !== null) json.message = content.message;
  if (content.kind === 'exotic') json.message_decode_error = 'the body is not an ordinary cell';
  return json;
}

/** A message as tonlib shows it (`raw.message`). */
export function rawMessage(lazy: Lazy<Message>): MessageStd {
  const message = lazy.value;
  const { info } = message;
  const body = messageBodyCell(message);
  return {
    '@type': 'raw.message',
    hash: toBase64(lazy.cell.hash()),
    source: accountAddress(sourceOf(info)),
    destination: accountAddress(destinationOf(info)),
    value: info.kind === 'int_msg_info' ? info.value.grams.toString() : '0',
    extra_currencies: info.kind === 'int_msg_info' ? extraCurrencies(info.value.other) : [],
    fwd_fee: info.kind === 'int_msg_info' ? info.fwd_fee.toString() : '0',
    ihr_fee: '0',
    created_lt: createdLt(info),
    body_hash: toBase64(body.hash()),
    msg_data: msgData(message, body, bodyContent(body)),
  };
}

/** The account that sent it; `null` for an external-in message. */
function sourceOf(info: CommonMsgInfo) {
  return info.kind === 'ext_in_msg_info' ? null : accountOf(info.src);
}

/** The account that receives it; `null` for an external-out message. */
function destinationOf(info: CommonMsgInfo) {
  return info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest);
}

function createdLt(info: CommonMsgInfo): string {
  return info.kind === 'ext_in_msg_info' ? '0' : info.created_lt.toString();
}

function msgData(message: Message, body: Cell, content: BodyContent): MsgData {
  if (content.kind === 'text') return { '@type': 'msg.dataText', text: toBase64(content.text) };
  if (content.kind === 'encrypted') return { '@type': 'msg.dataEncryptedText', text: toBase64(content.text) };
  return { '@type': 'msg.dataRaw', body: bocBase64(body), init_state: initState(message) };
}

function initState({ init }: Message): string {
  if (init === null) return '';
  return bocBase64(init.kind === 'left' ? encodeCell(StateInit, init.value) : init.value.cell);
}

/**
 * The content of a message body: a comment, an encrypted comment, or data for the contract. `message` is the value of the
 * legacy field of this name; `null` leaves it out.
 */
export type BodyContent =
  | { readonly kind: 'text'; readonly text: Uint8Array; readonly message: string }
  | { readonly kind: 'encrypted'; readonly text: Uint8Array; readonly message: null }
  | { readonly kind: 'raw'; readonly message: string }
  | { readonly kind: 'exotic'; readonly message: null };

const OP_TEXT = 0;
const OP_ENCRYPTED = 0x2167da4b;

const EMPTY: BodyContent = { kind: 'raw', message: '' };
const EXOTIC: BodyContent = { kind: 'exotic', message: null };

/** Reads a message body: as a comment when it has the form of one (op 0, or 0x2167da4b for an encrypted one). */
export function bodyContent(body: Cell): BodyContent {
  if (body.bits === 0) return EMPTY;
  if (body.type !== CellType.ordinary) return EXOTIC;
  if (body.bits >= 32) {
    const slice = new Slice(body);
    const op = slice.loadUint(32);
    if (op === OP_TEXT || op === OP_ENCRYPTED) {
      const text = snakeBytes(slice);
      if (text !== null) {
        return op === OP_TEXT
          ? // Empty when it is no UTF-8.
            { kind: 'text', text, message: utf8Text(text) ?? '' }
          : { kind: 'encrypted', text, message: null };
      }
    }
  }
  return { kind: 'raw', message: `${toBase64(dataBytes(body))}\n` };
}

/** The data of a cell, zeros after its last bit. */
function dataBytes(cell: Cell): Uint8Array {
  const whole = cell.bits >> 3;
  const rest = cell.bits & 7;
  const data = cell.bytes.subarray(cell.dataOffset, cell.dataOffset + whole + (rest === 0 ? 0 : 1));
  if (rest === 0) return data;
  const padded = data.slice();
  padded[whole]! &= 0xff << (8 - rest);
  return padded;
}

/**
 * Snake data: the bits of the slice and along the first references, joined as tonlib does: cells may end within a byte, only
 * the sum must be whole bytes. `null` when it is not, or when there is an exotic cell.
 */
function snakeBytes(head: Slice): Uint8Array | null {
  const parts: Slice[] = [head];
  let bits = head.remainingBits;
  for (let { cell } = head; cell.refCount > 0; ) {
    cell = cell.ref(0);
    if (cell.type !== CellType.ordinary) return null;
    parts.push(new Slice(cell));
    bits += cell.bits;
  }
  if ((bits & 7) !== 0) return null;
  const out = new Uint8Array(bits >> 3);
  let at = 0;
  for (const part of parts) at = append(out, at, part);
  return out;
}

/** @param from position in bits @returns the position after the part */
function append(out: Uint8Array, from: number, part: Slice): number {
  let at = from;
  const gap = (8 - (at & 7)) & 7;
  const first = Math.min(gap, part.remainingBits);
  if (first > 0) {
    out[at >> 3]! |= part.loadUint(first) << (gap - first);
    at += first;
  }
  const whole = part.remainingBits >> 3;
  if (whole > 0) {
    out.set(part.loadBytes(whole), at >> 3);
    at += whole * 8;
  }
  const rest = part.remainingBits;
  if (rest > 0) {
    out[at >> 3] = part.loadUint(rest) << (8 - rest);
    at += rest;
  }
  return at;
}
