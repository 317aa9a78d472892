import { tons } from '#app/cli/ton-amount.js';
import { bodyOpcode, readComment } from '#domain/actions/comments.js';
import { opcodeName } from '#domain/message-bodies/decode-message-body.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBodyCell } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import type { ProducedTransactions } from '#localnet/node/produced-transactions.js';
import { failuresOf } from '#services/pending/message-outcome.js';

const LONGEST_COMMENT = 60;

/**
 * Lines for people about the transactions of a masterchain block: seqno, from → to, value, comment or opcode, fees, and why a
 * transaction failed.
 */
export function transactionLines({ mc_seqno, transactions, more }: ProducedTransactions): readonly string[] {
  const lines = transactions.map(({ workchain, boc }) => `${mc_seqno}  ${lineOf(workchain, parseBocRoot(boc))}`);
  if (more > 0) lines.push(`${mc_seqno}  and ${more} more transactions`);
  return lines;
}

function lineOf(workchain: number, cell: Cell): string {
  const { account_addr, in_msg, total_fees } = decodeCell(Transaction, cell);
  const account = Address.ofParts(workchain, account_addr);
  const [failure] = failuresOf([{ cell, account }]);
  const parts = in_msg === null ? [short(account), 'without a message'] : messageParts(account, in_msg.value);
  parts.push(`fees ${tons(total_fees.grams)}`);
  if (failure !== undefined) parts.push(`failed: ${failure.explanation}`);
  return parts.join('  ');
}

function messageParts(account: Address, message: Message): string[] {
  const { info } = message;
  if (info.kind !== 'int_msg_info') return [`external → ${short(account)}`, ...contentOf(message, 'named')];
  const src = info.src instanceof Address ? short(info.src) : 'another address';
  const content = info.bounced ? ['bounced'] : contentOf(message);
  return [`${src} → ${short(account)}`, `${tons(info.value.grams)} TON`, ...content];
}

/**
 * The comment in quotes, or the name of the opcode, or its digits; nothing for a body without an opcode.
 * @param opcodes `named`: no digits, since external-in messages of many wallets begin with a signature
 */
function contentOf(message: Message, opcodes: 'named' | 'all' = 'all'): readonly string[] {
  const body = messageBodyCell(message);
  const opcode = bodyOpcode(body);
  if (opcode === null) return [];
  const { text } = readComment(body);
  if (text !== null)
    return [JSON.stringify(text.length > LONGEST_COMMENT ? `${text.slice(0, LONGEST_COMMENT)}…` : text)];
  const name = opcodeName(opcode);
  if (name !== null) return [name];
  return opcodes === 'named' ? [] : [`0x${opcode.toString(16).padStart(8, '0')}`];
}

/** The first and last characters of the user-friendly form. */
function short(address: Address): string {
  const text = address.toFriendly({ bounceable: false });
  return `${text.slice(0, 6)}…${text.slice(-4)}`;
}
