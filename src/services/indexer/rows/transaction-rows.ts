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

/** The fields shared by all transactions of a block. */
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
 * Reads a transaction and serialises its cells.
 *
 * @param line cell index in the block's table
 * @param account account id (32 bytes), and the key of its address
 * @param messages receives the rows of its outbound messages, and of an inbound message that no transaction sent
 * @throws cells/*, tlb/* when malformed
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
      // The state update may not show a code that came with a message from another block.
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

/** The token event of a transaction whose inbound body has a token opcode; these are few, so the codec decodes them. */
function candidateIn(
  { table, workchain }: TransactionBlock,
  line: number,
  { account, account_key }: { readonly account: Uint8Array; readonly account_key: bigint },
): TokenEventCandidate | null {
  const address = addressBytes(Address.ofParts(workchain, account));
  return tokenEventCandidate(decodeCell(Transaction, table.cell(line)), { address, account_key });
}

/** The row of an inbound message, for a transaction whose sender is not indexed. */
export function receivedMessage({ id, table, in_msg_line, in_msg_key }: BundleTransaction): MessageRow | null {
  if (in_msg_key === null) return null;
  message.read(table, in_msg_line);
  return messageRow(id, in_msg_key, 0);
}

/** Same as `inboundKind`, for the message that was read last. */
function inboundKindOf({ start_lt }: TransactionBlock): InboundKind {
  if (message.kind !== 'int_msg_info') return 'external';
  return message.fromAccountZero && message.created_lt === start_lt ? 'system' : 'internal';
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
