import { contractDataErrors } from '#domain/contracts/errors.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { decodeCell, either, maybe } from '#formats/tlb/codec/codec.js';
import { any, cellRef, grams } from '#formats/tlb/codec/primitives.js';
import { MessageRelaxed, messageBodyCell } from '#formats/tlb/message.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/*
 * Message bodies in multisig orders by type, with the published names of their fields. Amounts are in nanotons or units of the
 * jetton; addresses are null for `addr_none` and external addresses; bytes are BoCs with a checksum.
 */

/** `transfer#5fcc3d14` (TEP-62) */
interface OrderNftTransfer {
  readonly query_id: bigint;
  readonly new_owner: Address | null;
  readonly response_destination: Address | null;
  readonly custom_payload: Uint8Array | null;
  readonly forward_amount: bigint;
  readonly forward_payload: Uint8Array;
}

/** A transfer of coins, with a comment or without. */
interface TonTransferMessage {
  /** Base64 of the bytes when it is encrypted. */
  readonly comment: string;
  readonly encrypted: boolean;
}

/** `top_up#d372158c`, and `claim_admin#fb88e119`, of governed jettons */
interface QueryBody {
  readonly query_id: bigint;
}

/** `change_admin#6501f354` */
interface JettonChangeAdminBody {
  readonly query_id: bigint;
  readonly new_admin_address: Address | null;
}

/** `change_metadata_uri#cb862902` */
interface JettonChangeContentBody {
  readonly query_id: bigint;
  readonly new_metadata_url: string;
}

/** Type of a message from the master to a jetton wallet. */
type JettonCallActionType = '' | 'JettonSetStatus' | 'JettonTransfer' | 'JettonBurn' | 'Unknown';

/** `call_to#235caf52` */
interface JettonCallToBody {
  readonly query_id: bigint;
  /** The owner of the wallet. */
  readonly to_address: Address | null;
  readonly ton_amount: bigint;
  readonly action_type: JettonCallActionType;
  readonly action_data: Uint8Array;
}

/** `set_status#eed236d3` */
interface JettonSetStatusBody {
  readonly query_id: bigint;
  readonly new_status: number;
}

/** Type of the forward payload of a jetton transfer; '': none. */
type ForwardPayloadType = '' | 'TextComment' | 'EncryptedTextComment' | 'StonfiSwap' | 'Unknown';

/** `swap#25938561` of STON.fi, version 1 */
export interface StonfiSwapBody {
  /** The router's wallet of the jetton to receive. */
  readonly jetton_wallet: Address | null;
  readonly min_amount: bigint;
  readonly user_address: Address | null;
}

/** `transfer#0f8a7ea5` (TEP-74) */
interface OrderJettonTransfer {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly destination: Address | null;
  readonly response: Address | null;
  readonly custom_payload: Uint8Array | null;
  readonly forward_amount: bigint;
  /** Base64 of the bytes when it is encrypted. */
  readonly comment: string;
  readonly encrypted_comment: boolean;
  readonly forward_payload: Uint8Array;
  readonly payload_sum_type: ForwardPayloadType;
  readonly stonfi_swap_body: StonfiSwapBody | null;
}

/** `burn#595f07bc` (TEP-74) */
interface OrderJettonBurn {
  readonly query_id: bigint;
  readonly amount: bigint;
  readonly response_destination: Address | null;
}

/** `mint#642b7d07` of governed jettons, `mint#00000015` of others */
interface JettonMinterBody {
  readonly opcode: number;
  readonly query_id: bigint;
  readonly to_address: Address | null;
  readonly ton_amount: bigint;
  readonly master_msg_query_id: bigint;
  readonly master_msg_jetton_amount: bigint;
}

/** `withdraw#00001000` */
interface SingleNominatorWithdrawBody {
  readonly query_id: bigint;
  readonly coins: bigint;
}

/** `change_validator#00001001` */
interface SingleNominatorChangeValidatorBody {
  readonly query_id: bigint;
  readonly validator_address: Address | null;
}

/** `send#a7733acd` of a vesting wallet */
interface VestingInternalTransferBody {
  readonly query_id: bigint;
  readonly send_mode: number;
  readonly destination: Address | null;
  readonly value: bigint | null;
  readonly message_body: Uint8Array;
  readonly comment: string;
}

/** `update_multisig_params#1d0cfbd3`: an action of the multisig itself, without a message. */
export interface MultisigUpdateParamsBody {
  readonly new_threshold: number;
  readonly new_signers: readonly Address[];
  /** Null: nobody. */
  readonly new_proposers: readonly Address[] | null;
}

/** A body of an unknown type, or one that does not fit its type. */
interface UnknownOrderMessage {
  /** 0: it has none. */
  readonly opcode: number;
  readonly data: Uint8Array;
}

/** All types of bodies. */
export interface OrderBodies {
  readonly nft_transfer: OrderNftTransfer;
  readonly ton_transfer: TonTransferMessage;
  readonly jetton_top_up: QueryBody;
  readonly jetton_change_admin: JettonChangeAdminBody;
  readonly jetton_claim_admin: QueryBody;
  readonly jetton_change_content: JettonChangeContentBody;
  readonly jetton_call_to: JettonCallToBody;
  readonly jetton_set_status: JettonSetStatusBody;
  readonly jetton_transfer: OrderJettonTransfer;
  readonly jetton_burn: OrderJettonBurn;
  readonly jetton_mint: JettonMinterBody;
  readonly single_nominator_withdraw: SingleNominatorWithdrawBody;
  readonly single_nominator_change_validator: SingleNominatorChangeValidatorBody;
  readonly vesting_internal_transfer: VestingInternalTransferBody;
  readonly multisig_update_params: MultisigUpdateParamsBody;
  readonly unknown: UnknownOrderMessage;
}
export type OrderBodyType = keyof OrderBodies;

/** A body with its type. */
export type OrderBody = {
  readonly [Type in OrderBodyType]: { readonly parsed_body_type: Type; readonly parsed_body: OrderBodies[Type] };
}[OrderBodyType];

/** Budget for the bytes of an answer: many messages of an order can share one large cell. */
export class BocBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** A cell as a BoC. @throws contract-data/order-too-large */
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

type Reader<Type extends OrderBodyType> = (data: Slice, allowance: BocBudget, opcode: number) => OrderBodies[Type];

type Read = (data: Slice, allowance: BocBudget, opcode: number) => OrderBody;

function reading<Type extends OrderBodyType>(parsed_body_type: Type, read: Reader<Type>): Read {
  return (...given) => ({ parsed_body_type, parsed_body: read(...given) }) as OrderBody;
}

/** By opcode: readers of what follows the opcode. */
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
 * Parses a message body. A body that does not fit its opcode is `unknown`; trailing data is ignored, as contracts do.
 *
 * @throws contract-data/order-too-large
 */
export function readOrderMessage(body: Cell, allowance: BocBudget): OrderBody {
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

/** Bytes that are not UTF-8 become U+FFFD. */
function text(data: Slice): string {
  return utf8.decode(loadSnakeBytes(data));
}

/** A comment; empty if it is malformed. */
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

function customPayload(data: Slice, allowance: BocBudget): Uint8Array | null {
  const payload = MaybeCell.load(data);
  return payload === null ? null : allowance.boc(payload);
}

/** `(Either Cell ^Cell)` */
function forwardPayload(data: Slice): Cell {
  const payload = EitherCell.load(data);
  return payload.kind === 'left' ? new Builder().storeSlice(payload.value).endCell() : payload.value;
}

function nftTransfer(data: Slice, allowance: BocBudget): OrderBodies['nft_transfer'] {
  return {
    query_id: queryId(data),
    new_owner: account(data),
    response_destination: account(data),
    custom_payload: customPayload(data, allowance),
    forward_amount: grams.load(data),
    forward_payload: allowance.boc(forwardPayload(data)),
  };
}

function jettonTransfer(data: Slice, allowance: BocBudget): OrderJettonTransfer {
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

type Forwarded = Pick<OrderJettonTransfer, 'comment' | 'encrypted_comment' | 'payload_sum_type' | 'stonfi_swap_body'>;

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
function jettonMint(data: Slice, _: BocBudget, opcode: number): OrderBodies['jetton_mint'] {
  const head = { opcode, query_id: queryId(data), to_address: account(data), ton_amount: grams.load(data) };
  const message = openCell(data.loadRef()).skip(32);
  return { ...head, master_msg_query_id: queryId(message), master_msg_jetton_amount: grams.load(message) };
}

const CALLS: ReadonlyMap<number, JettonCallActionType> = new Map([
  [OP.setStatus, 'JettonSetStatus'],
  [OP.jettonTransfer, 'JettonTransfer'],
  [OP.jettonBurn, 'JettonBurn'],
]);

function jettonCallTo(data: Slice, allowance: BocBudget): OrderBodies['jetton_call_to'] {
  const head = { query_id: queryId(data), to_address: account(data), ton_amount: grams.load(data) };
  const action = data.loadRef();
  const content = openCell(action);
  const action_type = content.remainingBits < 32 ? '' : (CALLS.get(content.loadUint(32)) ?? 'Unknown');
  return { ...head, action_type, action_data: allowance.boc(action) };
}

/** `query_id:uint64 send_mode:uint8 msg:^MessageRelaxed` */
function vestingTransfer(data: Slice, allowance: BocBudget): OrderBodies['vesting_internal_transfer'] {
  const head = { query_id: queryId(data), send_mode: data.loadUint(8) };
  const message = decodeCell(MessageRelaxed, data.loadRef());
  const { info } = message;
  const internal = info.kind === 'int_msg_info';
  const body = messageBodyCell(message);
  const content = openCell(body);
  return {
    ...head,
    destination: internal ? accountOf(info.dest) : null,
    value: internal ? info.value.grams : null,
    message_body: allowance.boc(body),
    comment: content.remainingBits >= 32 && content.loadUint(32) === OP.text ? comment(content) : '',
  };
}
