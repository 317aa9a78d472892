import { contractDataErrors } from '#domain/contracts/errors.js';
import { addressesOf } from '#domain/contracts/interfaces/multisig.js';
import {
  BocBudget,
  type MultisigUpdateParamsBody,
  type OrderBody,
  readOrderMessage,
} from '#domain/contracts/order-messages.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { MessageRelaxed, messageBodyCell } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { isTernError } from '#kernel/tern-error.js';

/** The message of an action. */
interface ActionMessage {
  /** Null: no message, or an external-out one. */
  readonly destination: Address | null;
  /** Nanotons; null: no message. */
  readonly value: bigint | null;
  /** The body as a bag of cells with a checksum; null: no message. */
  readonly body_raw: Uint8Array | null;
  /** 0: no message. */
  readonly send_mode: number;
}

/** An action of an order that could be parsed. */
type ParsedOrderAction = ActionMessage & OrderBody & { readonly parsed: true; readonly error: null };

/** An action of an order that a multisig cannot perform. */
interface FailedOrderAction extends ActionMessage {
  readonly parsed: false;
  readonly error: string;
  readonly parsed_body: null;
  readonly parsed_body_type: 'unknown';
}

export type OrderAction = ParsedOrderAction | FailedOrderAction;

const INDEX_BITS = 8;
/** All keys and the forks above them. */
const VISITS = 2 ** (INDEX_BITS + 1);
/** Maximal size of all bodies and payloads of one order: a few times what a message of a multisig can hold. */
const MAX_BODY_BYTES = 2 ** 20;

/**
 * The actions of an order, in the order of their execution: `(Hashmap 8 ^OrderAction)`.
 *
 * ```
 * send_message#f1381e5b mode:uint8 message:^MessageRelaxed = OrderAction;
 * update_multisig_params#1d0cfbd3 threshold:uint8 signers:^(Hashmap 8 MsgAddressInt)
 *   proposers:(HashmapE 8 MsgAddressInt) = OrderAction;
 * ```
 *
 * @returns null if the cell is no such dictionary
 */
export function orderActions(order: Cell): OrderAction[] | null {
  const actions: OrderAction[] = [];
  const allowance = new BocBudget(MAX_BODY_BYTES);
  try {
    const add = (_: Uint8Array, value: Slice) => {
      actions.push(readAction(value, allowance));
    };
    forEachEntry(order, INDEX_BITS, add, { limit: VISITS });
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
  return actions;
}

const SEND_MESSAGE = 0xf1381e5b;
const UPDATE_PARAMS = 0x1d0cfbd3;

const NO_MESSAGE: ActionMessage = { destination: null, value: null, body_raw: null, send_mode: 0 };

function readAction(entry: Slice, allowance: BocBudget): OrderAction {
  try {
    const data = openCell(entry.loadRef());
    const opcode = data.loadUint(32);
    if (opcode === SEND_MESSAGE) return readSendAction(data, allowance);
    if (opcode === UPDATE_PARAMS) return readUpdateAction(data);
    throw contractDataErrors['order-action']({ opcode: `0x${opcode.toString(16).padStart(8, '0')}` });
  } catch (error) {
    if (!isTernError(error)) throw error;
    return { ...NO_MESSAGE, parsed: false, error: error.message, parsed_body: null, parsed_body_type: 'unknown' };
  }
}

function readSendAction(data: Slice, allowance: BocBudget): OrderAction {
  const send_mode = data.loadUint(8);
  const message = decodeCell(MessageRelaxed, data.loadRef());
  data.end();
  const { info } = message;
  const internal = info.kind === 'int_msg_info';
  const destination = internal ? accountOf(info.dest) : null;
  const value = internal ? info.value.grams : 0n;
  const body = messageBodyCell(message);
  const content = readOrderMessage(body, allowance);
  return { destination, value, body_raw: allowance.boc(body), send_mode, parsed: true, error: null, ...content };
}

function readUpdateAction(data: Slice): OrderAction {
  const new_threshold = data.loadUint(8);
  const new_signers = addressesOf(UPDATE, data.loadRef());
  const proposers = data.loadBit() ? data.loadRef() : null;
  data.end();
  const new_proposers = proposers === null ? null : addressesOf(UPDATE, proposers);
  const parsed_body: MultisigUpdateParamsBody = { new_threshold, new_signers, new_proposers };
  return { ...NO_MESSAGE, parsed: true, error: null, parsed_body_type: UPDATE, parsed_body };
}

const UPDATE = 'multisig_update_params';
