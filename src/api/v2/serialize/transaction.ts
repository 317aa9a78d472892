import type {
  Message as MessageJson,
  MessageStd,
  TransactionExt,
  Transaction as TransactionJson,
  TransactionStd,
} from '#api/v2/schemas/transactions.js';
import { extMessage, rawMessage } from '#api/v2/serialize/message.js';
import { bocBase64, friendlyAddress, transactionId } from '#api/v2/serialize/ton-objects.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Lazy } from '#formats/tlb/codec/lazy.js';
import type { Message } from '#formats/tlb/message.js';
import type { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** A transaction with its cell, and the workchain, which the cell does not tell. */
export interface SerializedTransaction {
  readonly workchain: number;
  readonly hash: Uint8Array;
  readonly cell: Cell;
  readonly transaction: Transaction;
}

/** As `getTransactions` shows it (`ext.transaction`). */
export function extTransaction(source: SerializedTransaction): TransactionJson {
  const account = accountRaw(source);
  return { '@type': 'ext.transaction', account, ...transactionFields(source, extMessage) };
}

/** As tonlib shows it (`raw.transaction`). */
export function rawTransaction(source: SerializedTransaction): TransactionStd {
  return { '@type': 'raw.transaction', ...transactionFields(source, rawMessage) };
}

/** What both have, with messages written one way or the other. */
function transactionFields<Json extends MessageJson | MessageStd>(
  source: SerializedTransaction,
  write: (message: Lazy<Message>) => Json,
) {
  const { hash, cell, transaction } = source;
  const messages = transactionMessages(transaction, write);
  const { fee, storageFee } = fees(transaction, messages.forwardFees);
  return {
    address: { '@type': 'accountAddress' as const, account_address: accountText(source) },
    utime: transaction.now,
    data: bocBase64(cell),
    transaction_id: transactionId({ lt: transaction.lt, hash }),
    fee: fee.toString(),
    storage_fee: storageFee.toString(),
    other_fee: (fee - storageFee).toString(),
    out_msgs: messages.out,
    ...(messages.in === null ? {} : { in_msg: messages.in }),
  };
}

/** As `getBlockTransactionsExt` shows it (`raw.transactionExt`). */
export function rawTransactionExt(source: SerializedTransaction): TransactionExt {
  return { '@type': 'raw.transactionExt', account: accountRaw(source), ...transactionFields(source, rawMessage) };
}

function accountRaw({ workchain, transaction }: SerializedTransaction): string {
  return `${workchain}:${toHex(transaction.account_addr).toUpperCase()}`;
}

function accountText({ workchain, transaction }: SerializedTransaction): string {
  return friendlyAddress(Address.ofParts(workchain, transaction.account_addr));
}

interface Messages<Json> {
  readonly in: Json | null;
  readonly out: Json[];
  /** Of the messages that go on to other accounts; nanotons. */
  readonly forwardFees: bigint;
}

function transactionMessages<Json extends MessageJson | MessageStd>(
  transaction: Transaction,
  serialize: (message: Lazy<Message>) => Json,
): Messages<Json> {
  const { in_msg, out_msgs } = transaction;
  const out: Json[] = [];
  let forwardFees = 0n;
  if (!out_msgs.isEmpty) {
    for (const [, message] of out_msgs) {
      const { info } = message.value;
      if (info.kind === 'int_msg_info') forwardFees += info.fwd_fee;
      out.push(serialize(message));
    }
  }
  return { in: in_msg === null ? null : serialize(in_msg), out, forwardFees };
}

/** All fees, and the part of them that was taken for storage. */
function fees(transaction: Transaction, forwardFees: bigint): { readonly fee: bigint; readonly storageFee: bigint } {
  const description = transaction.description.value;
  const storage = 'storage_ph' in description ? description.storage_ph : null;
  return { fee: transaction.total_fees.grams + forwardFees, storageFee: storage?.storage_fees_collected ?? 0n };
}
