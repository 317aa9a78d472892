import { isTokenOpcode } from '#domain/tokens/token-messages.js';
import type { InboundKind, OutboundMessage } from '#domain/traces/trace-assembler.js';
import { addressBytes, hashKey } from '#drivers/store/keys.js';
import type { TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { MessageRow } from '#drivers/store/tables.js';
import { type TokenEventCandidate, tokenEventCandidate } from '#drivers/store/write/token-events.js';
import { Address } from '#formats/address/address.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { MessageCellReader, TransactionCellReader } from '#services/indexer/rows/block-reader.js';
import type { BundleTransaction } from '#services/indexer/rows/bundle-rows.js';

/** What all transactions of a block have in common. */
export interface TransactionBlock {
  readonly table: CellTable;
  readonly mc_seqno: number;
  readonly workchain: number;
  /** Signed. */
  readonly shard: bigint;
  readonly seqno: number;
  readonly gen_utime: number;
  readonly start_lt: bigint;
  readonly global_version: number;
}

const transaction = new TransactionCellReader();
const message = new MessageCellReader();

/**
 * Reads a transaction and writes its cells.
 *
 * @param line its cell in the block's table
 * @param account that it is of: its id, and the key of its address
 * @param sent receives the rows of its messages: of those that it sent, and of the one that it received when nobody sent it
 * @throws cells/*, tlb/* when it is malformed
 */
export function readTransaction(
  facts: TransactionBlock,
  line: number,
  id: bigint,
  account: { readonly account: Uint8Array; readonly account_key: bigint },
  writer: TransactionWriter,
  messages: MessageRow[],
): BundleTransaction {
  const { table } = facts;
  transaction.read(table, line);
  const { in_msg: received, out_msgs, out_numbers } = transaction;
  const codes: number[] = [];
  let in_msg: BundleTransaction['in_msg'] = null;
  let in_msg_key: bigint | null = null;
  let token_candidate: BundleTransaction['token_candidate'] = null;
  if (received >= 0) {
    message.read(table, received);
    if (message.code >= 0) {
      codes.push(message.code);
      // The state may show nothing of a code that came from another block with the message.
      if (table.levelMask[message.code] === 0) writer.addCode(table.cell(message.code));
    }
    const hash = table.hash(received, 3);
    const kind = inboundKindOf(facts);
    in_msg = { hash, kind };
    in_msg_key = hashKey(hash);
    if (kind !== 'internal') messages.push(messageRow(id, in_msg_key, 0));
    if (message.opcode !== null && isTokenOpcode(message.opcode)) token_candidate = candidateIn(facts, line, account);
  }
  const sent: OutboundMessage[] = [];
  for (let i = 0; i < out_msgs.length; i++) {
    const cell = out_msgs[i]!;
    message.read(table, cell);
    if (message.code >= 0) codes.push(message.code);
    const hash = table.hash(cell, 3);
    sent.push({ hash, external: message.kind === 'ext_out_msg_info' });
    messages.push(messageRow(id, hashKey(hash), out_numbers[i]! + 1));
  }
  const hash = table.hash(line, 3);
  return {
    id,
    hash,
    lt: transaction.lt,
    now: transaction.now,
    mc_seqno: facts.mc_seqno,
    account_key: account.account_key,
    in_msg,
    out_msgs: sent,
    trace_root: id,
    hash_key: hashKey(hash),
    in_msg_key,
    shard: facts.shard,
    workchain: facts.workchain,
    block_seqno: facts.seqno,
    global_version: facts.global_version,
    state_hash: transaction.stateHashAfter(table),
    state_after: null,
    boc: writer.write(table, line, codes),
    table,
    in_msg_line: received,
    token_candidate,
  };
}

/** Of a transaction that received a body with an opcode of tokens; these are few enough to be decoded as a whole. */
function candidateIn(
  { table, workchain }: TransactionBlock,
  line: number,
  { account, account_key }: { readonly account: Uint8Array; readonly account_key: bigint },
): TokenEventCandidate | null {
  const address = addressBytes(Address.ofParts(workchain, account));
  return tokenEventCandidate(decodeCell(Transaction, table.cell(line)), { address, account_key });
}

/** The row of the message that a transaction received: for a transaction whose message no indexed one sent. */
export function receivedMessage({ id, table, in_msg_line, in_msg_key }: BundleTransaction): MessageRow | null {
  if (in_msg_key === null) return null;
  message.read(table, in_msg_line);
  return messageRow(id, in_msg_key, 0);
}

/** As `inboundKind`, of the message that was read last. */
function inboundKindOf({ start_lt }: TransactionBlock): InboundKind {
  if (message.kind !== 'int_msg_info') return 'external';
  return message.fromZero && message.created_lt === start_lt ? 'system' : 'internal';
}

function messageRow(tx_id: bigint, msg_key: bigint, position: number): MessageRow {
  return {
    tx_id,
    msg_key,
    body_key: message.body_key,
    norm_key: message.norm_key,
    source_key: message.source_key,
    destination_key: message.destination_key,
    created_lt: message.created_lt,
    created_at: message.created_at,
    opcode: message.opcode,
    position,
  };
}
