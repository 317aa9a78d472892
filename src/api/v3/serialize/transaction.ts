import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { descriptionText } from '#api/v3/serialize/description.js';
import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { messageText } from '#api/v3/serialize/message.js';
import { currenciesText, decimal, hashBase64, hashText, listText } from '#api/v3/serialize/texts.js';
import type { IndexedTransaction, ShardPosition, StateSummary } from '#drivers/store/read/index-reads.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { AccountStatus } from '#formats/tlb/account-status.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';

const STATUSES: Readonly<Record<AccountStatus, string>> = {
  acc_state_uninit: '"uninit"',
  acc_state_frozen: '"frozen"',
  acc_state_active: '"active"',
  acc_state_nonexist: '"nonexist"',
};

/** A transaction as JSON, and what the tree of its trace needs to know of it. */
export interface SerializedTransaction {
  readonly json: string;
  /** Base64. */
  readonly hash: string;
  readonly lt: bigint;
  /** Raw form. */
  readonly account: string;
  readonly in_msg_hash: string | null;
  readonly out_msg_hashes: readonly string[];
}

/**
 * A transaction as `/transactions` and `/traces` show it. Its account, the source of its incoming message and the
 * destinations of the outgoing ones are collected.
 */
export function serializeTransaction(
  indexed: IndexedTransaction,
  dialect: Dialect,
  addresses: AddressCollector,
): SerializedTransaction {
  const { block, global_version, trace_id } = indexed;
  const cell = parseBocRoot(indexed.boc);
  const hash = hashBase64(cell.hash());
  const transaction = decodeCell(Transaction, cell);
  const { lt, in_msg } = transaction;
  const account = addresses.add(Address.ofParts(block.workchain, transaction.account_addr));
  const out_msgs: string[] = [];
  const out_msg_hashes: string[] = [];
  for (const [, message] of transaction.out_msgs) {
    out_msgs.push(messageText(message, { global_version }, dialect, addresses));
    out_msg_hashes.push(hashBase64(message.cell.hash()));
  }
  const update = transaction.state_update.value;
  const json =
    `{"account":${account},"hash":"${hash}","lt":${decimal(lt)},"now":${transaction.now}` +
    `,"mc_block_seqno":${indexed.mc_seqno}${optional('trace_id', trace_id === null ? null : hashText(trace_id))}` +
    `,"prev_trans_hash":${hashText(transaction.prev_trans_hash)},"prev_trans_lt":${decimal(transaction.prev_trans_lt)}` +
    `,"orig_status":${STATUSES[transaction.orig_status]},"end_status":${STATUSES[transaction.end_status]}` +
    `,"total_fees":${decimal(transaction.total_fees.grams)}` +
    `,"total_fees_extra_currencies":${currenciesText(transaction.total_fees.other)}` +
    `,"description":${descriptionText(transaction.description.value)}` +
    `,"block_ref":${blockIdText(block, dialect)}` +
    dialect.nullable('in_msg', in_msg === null ? null : messageText(in_msg, { global_version }, dialect, addresses)) +
    `,"out_msgs":${listText(out_msgs)}` +
    `,"account_state_before":${stateText(update.old_hash, indexed.state_before, dialect)}` +
    `,"account_state_after":${stateText(update.new_hash, indexed.state_after, dialect)}` +
    ',"emulated":false,"finality":"finalized"}';
  return {
    json,
    hash,
    lt,
    account: account.slice(1, -1),
    in_msg_hash: in_msg === null ? null : hashBase64(in_msg.cell.hash()),
    out_msg_hashes,
  };
}

/** `BlockId` */
export function blockIdText({ workchain, shard, seqno }: ShardPosition, dialect: Dialect): string {
  return `{"workchain":${workchain},"shard":${dialect.shard(shard)},"seqno":${seqno}}`;
}

/** A state of the account before or after; of one that no block tells only the hash is known. */
function stateText(hash: Uint8Array, state: StateSummary | null, dialect: Dialect): string {
  const known = <T>(value: T | null | undefined, write: (value: T) => string) =>
    value === null || value === undefined ? null : write(value);
  return (
    `{"hash":${hashText(hash)}` +
    dialect.nullable('balance', known(state?.balance, decimal)) +
    dialect.nullable('extra_currencies', known(state?.extra_currencies, currenciesText)) +
    dialect.nullable(
      'account_status',
      known(state?.status, (status) => `"${status}"`),
    ) +
    dialect.nullable('frozen_hash', known(state?.frozen_hash, hashText)) +
    dialect.nullable('data_hash', known(state?.data_hash, hashText)) +
    dialect.nullable('code_hash', known(state?.code_hash, hashText)) +
    '}'
  );
}
