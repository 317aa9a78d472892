import type { Address } from '#formats/address/address.js';
import { parseBoc } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { checkRootHash } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, readRoots, requireLevelZero } from '#formats/proofs/proof-part.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bigUintKey, loadValue } from '#formats/tlb/codec/dictionary.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** Maximum number of transactions in one answer. */
export const MAX_LISTED_TRANSACTIONS = 256;

/** A query for transactions of a block. */
export interface TransactionsQuery {
  /** Answers contain at most {@link MAX_LISTED_TRANSACTIONS}. */
  readonly count: number;
  /** Descending order; otherwise accounts ascend, and the lt within each. */
  readonly reverse: boolean;
  /** Start after this one, which need not be in the block; `null`: at the start. `account` is the id, 32 bytes. */
  readonly after: { readonly account: Uint8Array; readonly lt: bigint } | null;
}

/** A transaction as listed in a block. */
export interface ListedTransaction {
  /** Account id, 32 bytes; the workchain is that of the block. */
  readonly account: Uint8Array;
  readonly lt: bigint;
  /** Hash of the transaction. */
  readonly hash: Uint8Array;
  /** The transaction, perhaps pruned. */
  readonly cell: Cell;
}

/** A contiguous range of a block's transactions. */
export interface TransactionRange {
  readonly transactions: readonly ListedTransaction[];
  /** There may be more: the requested number was found. */
  readonly incomplete: boolean;
}

const ltKey = bigUintKey(64);

/**
 * The transactions of a block in order.
 *
 * @param block decoded from the whole block, or from a proof that includes the requested ones
 * @throws cells/pruned-branch when they are pruned; cells/*, tlb/*, proofs/transaction-account
 */
export function* listTransactions(
  block: Block,
  query: Pick<TransactionsQuery, 'reverse' | 'after'>,
): Generator<ListedTransaction> {
  const { reverse, after } = query;
  const { root, type } = block.extra.value.account_blocks.value;
  const accounts = iterateEntries(root, type.key.bits, {
    reverse,
    ...(after === null ? {} : { from: { key: after.account, inclusive: true } }),
  });
  for (const [key, value] of accounts) {
    type.extra.load(value);
    const { account_addr: account, transactions } = loadValue(type.value, value, key);
    if (!bytesEqual(account, key)) {
      throw proofsErrors['transaction-account']({ expected: toHex(key), found: toHex(account) });
    }
    const begin = after !== null && bytesEqual(account, after.account) ? after.lt : null;
    const entries = iterateEntries(transactions.root, ltKey.bits, {
      reverse,
      ...(begin === null ? {} : { from: { key: ltKey.encode(begin), inclusive: false } }),
    });
    for (const [ltBits, leaf] of entries) {
      transactions.type.extra.load(leaf);
      const { cell } = loadValue(transactions.type.value, leaf, ltBits);
      yield { account, lt: ltKey.decode(ltBits), hash: cell.hash(0), cell };
    }
  }
}

/** The proof parts of an answer with one transaction. */
export interface TransactionAnswer {
  /** Merkle proof of the block. */
  readonly proof: Uint8Array;
  /** Bag with the transaction; empty when there is none. */
  readonly transaction: Uint8Array;
}

/**
 * Verifies an answer about an account's transaction with a given lt in a block (`liteServer.transactionInfo`) and returns
 * its cell, or `null` when the proof shows that there is none.
 *
 * @param account account id, 32 bytes
 * @throws proofs/transaction-present, proofs/transaction-absent, proofs/transaction-hash, proofs/root-hash,
 *   proofs/malformed, proofs/incomplete
 */
export function verifyTransaction(
  block: BlockId,
  account: Uint8Array,
  lt: bigint,
  answer: TransactionAnswer,
): Cell | null {
  const opened = openBlock(block, answer.proof);
  const { start_lt, end_lt } = inPart('proof.block.info', () => opened.info.value);
  // For an lt outside the range of the block the header is sufficient, and proofs show nothing else of the block.
  const possible = start_lt < lt && lt < end_lt;
  const listed = inPart('proof.block.extra.account_blocks', () =>
    possible ? opened.extra.value.account_blocks.value.get(account)?.transactions.get(lt) : undefined,
  );
  const name = { account: `${block.workchain}:${toHex(account)}`, lt };
  if (listed === undefined) {
    if (answer.transaction.length > 0) throw proofsErrors['transaction-absent'](name);
    return null;
  }
  if (answer.transaction.length === 0) throw proofsErrors['transaction-present'](name);
  const cell = inPart('transaction', () => readRoots(answer.transaction, 1)[0]!);
  checkHash(lt, listed.cell.hash(0), cell.hash(0));
  return cell;
}

/** A transaction id in an answer; `null`: not included in the answer. */
export interface AnsweredTransactionId {
  readonly account: Uint8Array | null;
  readonly lt: bigint | null;
  readonly hash: Uint8Array | null;
}

/**
 * Verifies an answer with ids of transactions of a block (`liteServer.blockTransactions`): they are a contiguous range.
 * Returns them with everything that the proof shows.
 *
 * @throws proofs/transaction-count, proofs/transaction-account, proofs/transaction-lt, proofs/transaction-hash,
 *   proofs/root-hash, proofs/malformed, proofs/incomplete; the path names the transaction as `ids[n]`
 */
export function verifyTransactionIds(
  block: BlockId,
  query: TransactionsQuery,
  proof: Uint8Array,
  ids: readonly AnsweredTransactionId[],
): TransactionRange {
  const page = provenPage(block, query, proof, ids.length);
  ids.forEach((id, index) => {
    inPart(`ids[${index}]`, () => {
      const { account, lt, hash } = page.transactions[index]!;
      if (id.account !== null && !bytesEqual(id.account, account)) {
        throw proofsErrors['transaction-account']({ expected: toHex(account), found: toHex(id.account) });
      }
      if (id.lt !== null && id.lt !== lt) throw proofsErrors['transaction-lt']({ expected: lt, found: id.lt });
      if (id.hash !== null) checkHash(lt, hash, id.hash);
    });
  });
  return page;
}

/**
 * Verifies an answer with transactions of a block (`liteServer.blockTransactionsExt`): they are a contiguous range.
 *
 * @param transactions bag with the transactions as roots; may be empty when there are none
 * @throws proofs/transaction-count, proofs/transaction-hash, proofs/root-hash, proofs/malformed, proofs/incomplete; the
 *   path names the transaction as `transactions[n]`
 */
export function verifyBlockTransactions(
  block: BlockId,
  query: TransactionsQuery,
  proof: Uint8Array,
  transactions: Uint8Array,
): TransactionRange {
  const cells = inPart('transactions', () => readTransactionRoots(transactions));
  const page = provenPage(block, query, proof, cells.length);
  return {
    incomplete: page.incomplete,
    transactions: page.transactions.map((listed, index) => {
      const cell = cells[index]!;
      inPart(`transactions[${index}]`, () => checkHash(listed.lt, listed.hash, cell.hash(0)));
      return { ...listed, cell };
    }),
  };
}

/** Roots of a bag with transactions; no roots for no bytes. @throws cells/* */
export function readTransactionRoots(bytes: Uint8Array): readonly Cell[] {
  if (bytes.length === 0) return [];
  const { roots } = parseBoc(bytes);
  for (const root of roots) requireLevelZero(root);
  return roots;
}

function provenPage(block: BlockId, query: TransactionsQuery, proof: Uint8Array, answered: number): TransactionRange {
  const opened = openBlock(block, proof);
  const wanted = Math.min(query.count, MAX_LISTED_TRANSACTIONS);
  const transactions: ListedTransaction[] = [];
  inPart('proof.block.extra.account_blocks', () => {
    const list = listTransactions(opened, query);
    while (transactions.length < wanted) {
      const next = list.next();
      if (next.done === true) break;
      transactions.push(next.value);
    }
  });
  if (transactions.length !== answered) {
    throw proofsErrors['transaction-count']({ expected: transactions.length, found: answered });
  }
  return { transactions, incomplete: transactions.length === wanted };
}

function openBlock(id: BlockId, proof: Uint8Array): Block {
  const root = openProof('proof', proof);
  return inPart('proof', () => {
    checkRootHash(root, id);
    return inPart('block', () => decodeCell(Block, root));
  });
}

function checkHash(lt: bigint, expected: Uint8Array, found: Uint8Array): void {
  if (bytesEqual(expected, found)) return;
  throw proofsErrors['transaction-hash']({ lt, expected: toHex(expected), found: toHex(found) });
}

/** A transaction id: lt, and the hash of its cell. */
export interface TransactionRef {
  readonly lt: bigint;
  readonly hash: Uint8Array;
}

/** A transaction that was verified against a trusted hash. */
export interface ProvenTransaction extends TransactionRef {
  readonly cell: Cell;
  readonly transaction: Transaction;
}

/** Transactions of an account, newest first. */
export interface ProvenTransactions {
  readonly transactions: readonly ProvenTransaction[];
  /** The transaction before the last one listed; `null` when that was the account's first. */
  readonly next: TransactionRef | null;
}

/**
 * Verifies a list of an account's transactions (`liteServer.transactionList`): the first is the requested one, each further
 * one its predecessor. It does not prove in which blocks they are.
 *
 * @param newest a trusted transaction id: from the account's state, or from a verified transaction
 * @param transactions bag with the transactions as roots
 * @throws proofs/transaction-hash, proofs/transaction-lt, proofs/transaction-account, proofs/transaction-order,
 *   proofs/transaction-count, proofs/malformed; the path names the transaction as `transactions[n]`
 */
export function verifyAccountTransactions(
  address: Address,
  newest: TransactionRef,
  transactions: Uint8Array,
): ProvenTransactions {
  const cells = inPart('transactions', () => readTransactionRoots(transactions));
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

/** Verifies one transaction against a trusted id. @throws as {@link verifyAccountTransactions} */
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

/** The previous transaction of the same account. @throws proofs/transaction-order when its lt is not smaller */
function previousTransaction({ lt, prev_trans_lt, prev_trans_hash }: Transaction): TransactionRef | null {
  if (prev_trans_lt === 0n) return null;
  if (prev_trans_lt >= lt) throw proofsErrors['transaction-order']({ lt, prev_lt: prev_trans_lt });
  return { lt: prev_trans_lt, hash: prev_trans_hash };
}
