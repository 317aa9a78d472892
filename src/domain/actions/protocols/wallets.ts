import { createHash } from 'node:crypto';
import { type ActionType, completeDetails } from '#domain/actions/action-type.js';
import type { BlockAction, LooseAction } from '#domain/actions/block.js';
import { bodyOpcode, ENCRYPTED_COMMENT, readComment } from '#domain/actions/comments.js';
import type { MatchContext } from '#domain/actions/pattern.js';
import { callAction, transferAction } from '#domain/actions/protocols/basic.js';
import { jettonTransferType } from '#domain/actions/protocols/jettons.js';
import type { TracedMessage, TraceInput } from '#domain/actions/trace-input.js';
import { JettonTransfer } from '#domain/tokens/token-messages.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { MessageRelaxed, messageBodyCell, OutList } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/* What the owner of a wallet asked for in an external message that failed. */

const Signed = layout('_ signature:bits512 wallet_id:uint32 valid_until:uint32 seqno:uint32 rest:Any');
const SignedV5 = layout(
  'signed_external#7369676e wallet_id:uint32 valid_until:uint32 seqno:uint32 actions:(Maybe ^Cell)',
);

/** Published actions of failed requests name no other currencies. */
const NO_CURRENCIES: ReadonlyMap<number, bigint> = new Map();

/** A wallet may be asked for so many messages at once. */
const MAX_MESSAGES = 255;

/**
 * What a failed external message to a wallet (v3, v4, v5) was to do; null when the trace is none, or its body is not the one of a
 * wallet. Receivers do not take part: nothing reached them.
 */
export function intendedActions({ transactions }: TraceInput, context: MatchContext): readonly LooseAction[] | null {
  const transaction = transactions.length === 1 ? transactions[0]! : null;
  if (transaction === null || transaction.out_msgs.length > 0) return null;
  const message = transaction.in_msg;
  if (message === null || message.source !== null) return null;
  const messages = intendedMessages(message.body);
  if (messages === null || messages.length === 0) return null;
  return messages.flatMap((cell, position) => intendedAction(cell, position, transaction.account, context) ?? []);
}

function intendedMessages(body: Cell): readonly Cell[] | null {
  try {
    return bodyOpcode(body) === SignedV5.tag ? messagesOfV5(body) : messagesOfV3(Signed.load(openCell(body)).rest);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

function messagesOfV5(body: Cell): readonly Cell[] {
  const { actions } = SignedV5.load(openCell(body));
  if (actions === null) return [];
  const list = decodeCell(OutList, actions);
  return list.flatMap((action) => (action.kind === 'action_send_msg' ? [action.out_msg.cell] : []));
}

/** `op:uint8` in v4 (0: send), then `mode:uint8 message:^Cell` for each message. */
function messagesOfV3(rest: Slice): readonly Cell[] | null {
  const { remainingRefs: count, remainingBits: bits } = rest;
  if (count > MAX_MESSAGES || (bits !== count * 8 && bits !== count * 8 + 8)) return null;
  if (bits === count * 8 + 8 && rest.loadUint(8) !== 0) return null;
  return Array.from({ length: count }, () => rest.loadRef());
}

function intendedAction(cell: Cell, position: number, source: Address, context: MatchContext): LooseAction | null {
  const message = readIntended(cell, source);
  if (message === null) return null;
  const opcode = bodyOpcode(message.body);
  const isTransfer = opcode === null || opcode === 0 || opcode === ENCRYPTED_COMMENT;
  const transfer = opcode === JettonTransfer.tag ? context.readIf(JettonTransfer, message.body) : null;
  if (transfer === null) {
    const action = isTransfer ? transferAction(message, readComment(message.body)) : callAction(message, opcode);
    return loose(action.type, action.details, cell, position, [source]);
  }
  const comment = readComment(transfer.forward_payload);
  const details = completeDetails(jettonTransferType.fields, {
    asset: context.fact(message.destination, 'jetton_wallet')?.jetton,
    sender: source,
    receiver: accountOf(transfer.destination),
    sender_jetton_wallet: message.destination,
    amount: transfer.amount,
    comment: comment.text,
    is_encrypted_comment: comment.encrypted,
    query_id: transfer.query_id,
    response_destination: accountOf(transfer.response_destination),
    custom_payload: transfer.custom_payload,
    forward_payload: transfer.forward_payload,
    forward_amount: transfer.forward_ton_amount,
  });
  const accounts = message.destination === null ? [source] : [source, message.destination];
  return loose(jettonTransferType as unknown as ActionType, details, cell, position, accounts);
}

function readIntended(cell: Cell, source: Address): TracedMessage | null {
  try {
    const message = decodeCell(MessageRelaxed, cell);
    const { info } = message;
    if (info.kind !== 'int_msg_info') return null;
    return {
      hash: cell.hash(),
      source,
      destination: accountOf(info.dest),
      value: info.value.grams,
      currencies: NO_CURRENCIES,
      bounce: info.bounce,
      bounced: false,
      created_lt: null,
      created_at: null,
      body: messageBodyCell(message),
      init: null,
    };
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** An action of a message that was never sent: its id follows from the cell of the message and its place in the request. */
function loose(
  type: ActionType,
  details: BlockAction['details'],
  cell: Cell,
  position: number,
  accounts: readonly Address[],
): LooseAction {
  const key = Buffer.from(`${toBase64(cell.hash())}${position}`).toString('base64');
  const action_id = createHash('sha256').update(`${key}${type.name}`).digest();
  return { action_id, type, details, success: false, accounts };
}
