import {
  actionType,
  addressField,
  amountField,
  completeDetails,
  currenciesField,
  flagField,
  opcodeField,
  optionalField,
  textField,
} from '#domain/actions/action-type.js';
import { ActionBlock, type BlockAction, type MessageNode } from '#domain/actions/block.js';
import { bodyOpcode, ENCRYPTED_COMMENT, readComment } from '#domain/actions/comments.js';
import type { TracedMessage, TracedTransaction } from '#domain/actions/trace-input.js';

/** A message that calls a contract. */
export const callContract = actionType(
  'call_contract',
  'A message with an opcode, or a failed one that is not understood further.',
  {
    opcode: optionalField(opcodeField('First 32 bits of the body.')),
    source: optionalField(addressField('Sender.', 'source')),
    destination: optionalField(addressField('The contract that was called.', 'destination')),
    value: optionalField(amountField('Nanotons of the message.', 'value')),
    extra_currencies: currenciesField('Other currencies of the message.'),
  },
);

/** An account that became active. */
export const contractDeploy = actionType('contract_deploy', 'An account became active.', {
  opcode: optionalField(opcodeField('First 32 bits of the body of the message that deployed it.')),
  source: optionalField(addressField('Sender of that message; none for an external one.', 'source')),
  destination: optionalField(addressField('The account.', 'destination')),
  value: optionalField(amountField('Nanotons of the message.', 'value')),
});

/** Coins that were sent, with a comment or without. */
export const tonTransfer = actionType('ton_transfer', 'A transfer of coins, with a comment or without.', {
  source: addressField('Sender.', 'source'),
  destination: addressField('Receiver.', 'destination'),
  value: amountField('Nanotons.', 'value'),
  value_extra_currencies: currenciesField('Other currencies.'),
  comment: textField('The comment; base64 of the bytes when it is encrypted.'),
  encrypted: flagField('Whether the comment is encrypted.'),
});

/** A special account ran at the start or the end of a block. */
export const tickTock = actionType(
  'tick_tock',
  'A contract of the masterchain ran at the start or the end of a block.',
  {
    account: optionalField(addressField('The contract.', 'source')),
  },
);

/** A trace of which no message could be understood. */
export const unknownAction = actionType('unknown', 'A trace that is not understood.', {});

/** The block of a message, or of a transaction without one, before patterns are tried. */
export function basicBlock(node: MessageNode): ActionBlock {
  const { message, transaction } = node;
  if (message === null) return tickTockBlock(node);
  const code = bodyOpcode(message.body);
  const deployments = transaction !== null && isDeployment(transaction) ? [deploymentBlock(node, message, code)] : [];
  const isTransfer =
    (code === null || code === 0 || code === ENCRYPTED_COMMENT) &&
    message.source !== null &&
    message.destination !== null;
  if (isTransfer) {
    const block = new ActionBlock('ton_transfer', null, [node], deployments, deployments);
    const comment = readComment(message.body);
    block.data = comment;
    block.failed = transaction !== null && isFailedTransfer(message, transaction);
    block.action = transferAction(message, comment);
    return block;
  }
  const block = new ActionBlock('call_contract', code, [node], deployments, deployments);
  block.failed = transaction?.aborted === true;
  block.isNotice = block.failed && isNotice(message, code);
  block.action = message.destination === null || message.source === null ? null : callAction(message, code);
  return block;
}

/** A transfer that the receiver cannot refuse: it was aborted only because there is no code to run, or too few coins for it. */
function isFailedTransfer({ bounce }: TracedMessage, { aborted, end_status, skipped }: TracedTransaction): boolean {
  if (!aborted) return false;
  return bounce || !(end_status === 'uninit' || skipped === 'no_gas');
}

/** A message without any value, which its receiver cannot run: such a call has not failed, but has done nothing either. */
function isNotice({ value, currencies: other }: TracedMessage, code: number | null): boolean {
  return (value === null || value === 0n) && code !== null && code !== 0 && other.size === 0;
}

function isDeployment({ orig_status, end_status }: TracedTransaction): boolean {
  return orig_status !== 'active' && orig_status !== 'frozen' && end_status === 'active';
}

/** An action without further participants. */
function plainAction(type: BlockAction['type'], details: BlockAction['details']): BlockAction {
  return { type, details, parties: [] };
}

export function transferAction(message: TracedMessage, comment: ReturnType<typeof readComment>): BlockAction {
  const { source, destination, value, currencies: other } = message;
  const given = {
    source,
    destination,
    value,
    value_extra_currencies: other,
    comment: comment.text,
    encrypted: comment.encrypted,
  };
  return plainAction(tonTransfer, completeDetails(tonTransfer.fields, given));
}

export function callAction(message: TracedMessage, code: number | null): BlockAction {
  const { source, destination, value, currencies: other } = message;
  const given = { opcode: code, source, destination, value, extra_currencies: other };
  return plainAction(callContract, completeDetails(callContract.fields, given));
}

function deploymentBlock(node: MessageNode, message: TracedMessage, code: number | null): ActionBlock {
  const block = new ActionBlock('contract_deploy', null, [node], [], []);
  block.failed = node.transaction?.aborted ?? false;
  const { source, destination, value } = message;
  const given = { opcode: code, source, destination, value };
  block.action = plainAction(contractDeploy, completeDetails(contractDeploy.fields, given));
  return block;
}

function tickTockBlock(node: MessageNode): ActionBlock {
  const block = new ActionBlock('tick_tock', null, [node], [], []);
  const account = node.transaction?.account ?? null;
  block.action = plainAction(tickTock, completeDetails(tickTock.fields, { account }));
  return block;
}
