import { contractDataErrors } from '#domain/contracts/errors.js';
import type {
  JettonCallType,
  JettonTransferBody,
  OrderBodies,
  OrderBody,
  OrderBodyType,
  StonfiSwapBody,
  TonTransferMessage,
} from '#domain/contracts/order-bodies.js';
import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { either, maybe } from '#formats/tlb/codec/composites.js';
import { any, cellRef, grams } from '#formats/tlb/codec/primitives.js';
import { MessageRelaxed, messageBodyCell } from '#formats/tlb/message.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** How many bytes may still be told: many messages of an order can share one large cell. */
export class BocAllowance {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** A cell as a bag of cells. @throws contract-data/order-too-large */
  boc(cell: Cell): Uint8Array {
    const bytes = this.#left > 0 ? serializeBoc(cell, { crc32c: true }) : null;
    this.#left -= bytes?.length ?? 0;
    if (bytes !== null && this.#left >= 0) return bytes;
    this.#left = 0;
    throw contractDataErrors['order-too-large']({});
  }
}

const OP = {
  text: 0,
  encrypted: 0x2167da4b,
  jettonTransfer: 0x0f8a7ea5,
  jettonBurn: 0x595f07bc,
  setStatus: 0xeed236d3,
  stonfiSwap: 0x25938561,
} as const;

type Reader<Type extends OrderBodyType> = (data: Slice, allowance: BocAllowance, opcode: number) => OrderBodies[Type];

type Read = (data: Slice, allowance: BocAllowance, opcode: number) => OrderBody;

function reading<Type extends OrderBodyType>(parsed_body_type: Type, read: Reader<Type>): Read {
  return (...given) => ({ parsed_body_type, parsed_body: read(...given) }) as OrderBody;
}

/** By opcode: reads what follows the opcode. */
const READERS: ReadonlyMap<number, Read> = new Map([
  [OP.jettonTransfer, reading('jetton_transfer', jettonTransfer)],
  [
    OP.jettonBurn,
    reading('jetton_burn', (data) => ({
      query_id: queryId(data),
      amount: grams.load(data),
      response_destination: account(data),
    })),
  ],
  [0x00000015, reading('jetton_mint', jettonMint)],
  [0x642b7d07, reading('jetton_mint', jettonMint)],
  [0x5fcc3d14, reading('nft_transfer', nftTransfer)],
  [0xd372158c, reading('jetton_top_up', (data) => ({ query_id: queryId(data) }))],
  [
    0x6501f354,
    reading('jetton_change_admin', (data) => ({ query_id: queryId(data), new_admin_address: account(data) })),
  ],
  [0xfb88e119, reading('jetton_claim_admin', (data) => ({ query_id: queryId(data) }))],
  [0xcb862902, reading('jetton_change_content', (data) => ({ query_id: queryId(data), new_metadata_url: text(data) }))],
  [0x235caf52, reading('jetton_call_to', jettonCallTo)],
  [OP.setStatus, reading('jetton_set_status', (data) => ({ query_id: queryId(data), new_status: data.loadUint(4) }))],
  [0x00001000, reading('single_nominator_withdraw', (data) => ({ query_id: queryId(data), coins: grams.load(data) }))],
  [
    0x00001001,
    reading('single_nominator_change_validator', (data) => ({
      query_id: queryId(data),
      validator_address: account(data),
    })),
  ],
  [0xa7733acd, reading('vesting_internal_transfer', vestingTransfer)],
  [OP.text, reading('ton_transfer', (data) => ({ comment: comment(data), encrypted: false }))],
  [OP.encrypted, reading('ton_transfer', encryptedText)],
]);

/**
 * What a message body says. A body of another form than its opcode asks for is `unknown`; whatever follows what the type has,
 * is left alone, as contracts do.
 *
 * @throws contract-data/order-too-large
 */
export function readOrderMessage(body: Cell, allowance: BocAllowance): OrderBody {
  const data = openCell(body);
  if (data.remainingBits < 32) {
    return { parsed_body_type: 'ton_transfer', parsed_body: { comment: comment(data), encrypted: false } };
  }
  const opcode = data.loadUint(32);
  const read = READERS.get(opcode);
  if (read !== undefined) {
    try {
      return read(data, allowance, opcode);
    } catch (error) {
      if (!isTernError(error) || error.code === 'contract-data/order-too-large') throw error;
    }
  }
  return { parsed_body_type: 'unknown', parsed_body: { opcode, data: allowance.boc(body) } };
}

function queryId(data: Slice): bigint {
  return data.loadUintBig(64);
}

function account(data: Slice): Address | null {
  return accountOf(MsgAddress.load(data));
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** What is no UTF-8 becomes U+FFFD. */
function text(data: Slice): string {
  return utf8.decode(loadSnakeBytes(data));
}

/** A text; empty when it is stored in another way. */
function comment(data: Slice): string {
  try {
    return text(data);
  } catch (error) {
    if (isTernError(error)) return '';
    throw error;
  }
}

function encryptedText(data: Slice): TonTransferMessage {
  return { comment: toBase64(loadSnakeBytes(data)), encrypted: true };
}

const MaybeCell = maybe(cellRef);
const EitherCell = either(any, cellRef);

function customPayload(data: Slice, allowance: BocAllowance): Uint8Array | null {
  const payload = MaybeCell.load(data);
  return payload === null ? null : allowance.boc(payload);
}

/** `(Either Cell ^Cell)` */
function forwardPayload(data: Slice): Cell {
  const payload = EitherCell.load(data);
  return payload.kind === 'left' ? new Builder().storeSlice(payload.value).endCell() : payload.value;
}

function nftTransfer(data: Slice, allowance: BocAllowance): OrderBodies['nft_transfer'] {
  return {
    query_id: queryId(data),
    new_owner: account(data),
    response_destination: account(data),
    custom_payload: customPayload(data, allowance),
    forward_amount: grams.load(data),
    forward_payload: allowance.boc(forwardPayload(data)),
  };
}

function jettonTransfer(data: Slice, allowance: BocAllowance): JettonTransferBody {
  const head = {
    query_id: queryId(data),
    amount: grams.load(data),
    destination: account(data),
    response: account(data),
    custom_payload: customPayload(data, allowance),
    forward_amount: grams.load(data),
  };
  const payload = forwardPayload(data);
  return { ...head, forward_payload: allowance.boc(payload), ...forwarded(payload) };
}

type Forwarded = Pick<JettonTransferBody, 'comment' | 'encrypted_comment' | 'payload_sum_type' | 'stonfi_swap_body'>;

const NOTHING: Forwarded = { comment: '', encrypted_comment: false, payload_sum_type: '', stonfi_swap_body: null };

function forwarded(payload: Cell): Forwarded {
  const data = openCell(payload);
  if (data.remainingBits === 0) return NOTHING;
  if (data.remainingBits < 32) return { ...NOTHING, payload_sum_type: 'Unknown' };
  switch (data.loadUint(32)) {
    case OP.text:
      return { ...NOTHING, payload_sum_type: 'TextComment', comment: comment(data) };
    case OP.encrypted: {
      const { comment: encrypted } = encryptedText(data);
      return { ...NOTHING, payload_sum_type: 'EncryptedTextComment', encrypted_comment: true, comment: encrypted };
    }
    case OP.stonfiSwap:
      return { ...NOTHING, payload_sum_type: 'StonfiSwap', stonfi_swap_body: stonfiSwap(data) };
    default:
      return { ...NOTHING, payload_sum_type: 'Unknown' };
  }
}

function stonfiSwap(data: Slice): StonfiSwapBody {
  return { jetton_wallet: account(data), min_amount: grams.load(data), user_address: account(data) };
}

/** `query_id:uint64 to_address:MsgAddress ton_amount:Coins master_msg:^[opcode:uint32 query_id:uint64 jetton_amount:Coins …]` */
function jettonMint(data: Slice, _: BocAllowance, opcode: number): OrderBodies['jetton_mint'] {
  const head = { opcode, query_id: queryId(data), to_address: account(data), ton_amount: grams.load(data) };
  const message = openCell(data.loadRef()).skip(32);
  return { ...head, master_msg_query_id: queryId(message), master_msg_jetton_amount: grams.load(message) };
}

const CALLS: ReadonlyMap<number, JettonCallType> = new Map([
  [OP.setStatus, 'JettonSetStatus'],
  [OP.jettonTransfer, 'JettonTransfer'],
  [OP.jettonBurn, 'JettonBurn'],
]);

function jettonCallTo(data: Slice, allowance: BocAllowance): OrderBodies['jetton_call_to'] {
  const head = { query_id: queryId(data), to_address: account(data), ton_amount: grams.load(data) };
  const action = data.loadRef();
  const said = openCell(action);
  const action_type = said.remainingBits < 32 ? '' : (CALLS.get(said.loadUint(32)) ?? 'Unknown');
  return { ...head, action_type, action_data: allowance.boc(action) };
}

/** `query_id:uint64 send_mode:uint8 msg:^MessageRelaxed` */
function vestingTransfer(data: Slice, allowance: BocAllowance): OrderBodies['vesting_internal_transfer'] {
  const head = { query_id: queryId(data), send_mode: data.loadUint(8) };
  const message = decodeCell(MessageRelaxed, data.loadRef());
  const { info } = message;
  const internal = info.kind === 'int_msg_info';
  const body = messageBodyCell(message);
  const said = openCell(body);
  return {
    ...head,
    destination: internal ? accountOf(info.dest) : null,
    value: internal ? info.value.grams : null,
    message_body: allowance.boc(body),
    comment: said.remainingBits >= 32 && said.loadUint(32) === OP.text ? comment(said) : '',
  };
}
