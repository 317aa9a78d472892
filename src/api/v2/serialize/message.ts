import type { Message as MessageJson, MessageStd, MsgData } from '#api/v2/schemas/transactions.js';
import { type MessageContent, messageContent } from '#api/v2/serialize/message-content.js';
import { accountAddress, bocBase64, extraCurrencies, friendlyAddress } from '#api/v2/serialize/ton-objects.js';
import { accountOf } from '#formats/address/msg-address.js';
import type { Cell } from '#formats/cells/cell.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import { type CommonMsgInfo, type Message, messageBodyCell } from '#formats/tlb/message.js';
import { StateInit } from '#formats/tlb/state-init.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** A message as `getTransactions` shows it (`ext.message`): addresses are texts, and the content is told in `message`. */
export function extMessage(lazy: Lazy<Message>): MessageJson {
  const message = lazy.value;
  const { info } = message;
  const body = messageBodyCell(message);
  const content = messageContent(body);
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
    msg_data: msgData(message, body, messageContent(body)),
  };
}

/** The account that sent it; `null` when it comes from outside. */
export function sourceOf(info: CommonMsgInfo) {
  return info.kind === 'ext_in_msg_info' ? null : accountOf(info.src);
}

/** The account that it goes to; `null` when it goes to the outside. */
export function destinationOf(info: CommonMsgInfo) {
  return info.kind === 'ext_out_msg_info' ? null : accountOf(info.dest);
}

function createdLt(info: CommonMsgInfo): string {
  return info.kind === 'ext_in_msg_info' ? '0' : info.created_lt.toString();
}

function msgData(message: Message, body: Cell, content: MessageContent): MsgData {
  if (content.kind === 'text') return { '@type': 'msg.dataText', text: toBase64(content.text) };
  if (content.kind === 'encrypted') return { '@type': 'msg.dataEncryptedText', text: toBase64(content.text) };
  return { '@type': 'msg.dataRaw', body: bocBase64(body), init_state: initState(message) };
}

function initState({ init }: Message): string {
  if (init === null) return '';
  return bocBase64(init.kind === 'left' ? encodeCell(StateInit, init.value) : init.value.cell);
}
