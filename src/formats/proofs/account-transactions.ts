import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { readTransactions } from '#formats/proofs/block-transactions.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** A transaction by its lt and the hash of its cell. */
export interface TransactionRef {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** A transaction whose hash was known before. */
export interface ProvenTransaction extends TransactionRef {
  readonly cell: Cell;
  readonly transaction: Transaction;
}

/** Transactions of an account, from a newer one back. */
export interface ProvenTransactions {
  readonly transactions: readonly ProvenTransaction[];
  /** The transaction before the last one listed; `null` when that was the account's first. */
  readonly next: TransactionRef | null;
}

/**
 * Checks a list of an account's transactions (`liteServer.transactionList`): the first is the one asked for, each further
 * one the one before. In which blocks they are, this does not prove.
 *
 * @param newest a trusted reference: from the account's state, or from a transaction that is proven already
 * @param transactions bag with the transactions as roots
 * @throws proofs/transaction-hash, proofs/transaction-lt, proofs/transaction-account, proofs/transaction-order,
 *   proofs/transaction-count, proofs/malformed; the path names the transaction as `transactions[n]`
 */
export function verifyAccountTransactions(
  address: Address,
  newest: TransactionRef,
  transactions: Uint8Array,
): ProvenTransactions {
  const cells = inPart('transactions', () => readTransactions(transactions));
  const proven: ProvenTransaction[] = [];
  let next: TransactionRef | null = newest;
  cells.forEach((cell, index) => {
    inPart(`transactions[${index}]`, () => {
      if (next === null) throw proofsErrors['transaction-count']({ expected: index, found: cells.length });
      const step = verifyAccountTransaction(address, next, cell);
      proven.push(step);
      next = previousTransaction(step.transaction);
    });
  });
  return { transactions: proven, next };
}

/** Checks one transaction against a trusted reference. @throws as {@link verifyAccountTransactions} */
export function verifyAccountTransaction(
  address: Address,
  { lt, hash }: TransactionRef,
  cell: Cell,
): ProvenTransaction {
  const found = cell.hash(0);
  if (!bytesEqual(found, hash)) {
    throw proofsErrors['transaction-hash']({ lt, expected: toHex(hash), found: toHex(found) });
  }
  const transaction = decodeCell(Transaction, cell);
  if (transaction.lt !== lt) throw proofsErrors['transaction-lt']({ expected: lt, found: transaction.lt });
  if (!bytesEqual(transaction.account_addr, address.hash)) {
    throw proofsErrors['transaction-account']({
      expected: toHex(address.hash),
      found: toHex(transaction.account_addr),
    });
  }
  return { lt, hash, cell, transaction };
}

/** The transaction of the same account before this one. @throws proofs/transaction-order when it would not be earlier */
function previousTransaction({ lt, prev_trans_lt, prev_trans_hash }: Transaction): TransactionRef | null {
  if (prev_trans_lt === 0n) return null;
  if (prev_trans_lt >= lt) throw proofsErrors['transaction-order']({ lt, prev_lt: prev_trans_lt });
  return { lt: prev_trans_lt, hash: prev_trans_hash };
}
