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

/** Most transactions that a server lists at once. */
export const MAX_LISTED_TRANSACTIONS = 256;

/** Which transactions of a block are asked for. */
export interface TransactionsQuery {
  /** At most {@link MAX_LISTED_TRANSACTIONS} are answered. */
  readonly count: number;
  /** From the last to the first; otherwise accounts ascend, and the lt within each. */
  readonly reverse: boolean;
  /** Begin after this one, which need not be in the block; `null`: at the beginning. `account` is the id, 32 bytes. */
  readonly after: { readonly account: Uint8Array; readonly lt: bigint } | null;
}

/** A transaction as the dictionaries of a block list it. */
export interface ListedTransaction {
  /** Account id, 32 bytes; the workchain is that of the block. */
  readonly account: Uint8Array;
  readonly lt: bigint;
  /** Hash of the transaction. */
  readonly hash: Uint8Array;
  /** The transaction, perhaps pruned. */
  readonly cell: Cell;
}

/** A stretch of a block's transactions without gaps. */
export interface TransactionRange {
  readonly transactions: readonly ListedTransaction[];
  /** There may be more: as many as asked for were found. */
  readonly incomplete: boolean;
}

const ltKey = bigUintKey(64);

/**
 * The transactions of a block in order.
 *
 * @param block decoded from the whole block, or from a proof that shows what is asked for
 * @throws cells/pruned-branch when a proof leaves them out; cells/*, tlb/*, proofs/transaction-account
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

/** The part of an answer about one transaction. */
export interface TransactionAnswer {
  /** Merkle proof of the block. */
  readonly proof: Uint8Array;
  /** Bag with the transaction; empty when there is none. */
  readonly transaction: Uint8Array;
}

/**
 * Checks an answer about an account's transaction with a given lt in a block (`liteServer.transactionInfo`), and gives its
 * cell, or `null` when the proof shows that there is none.
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
  // An lt that no transaction of the block can have is refused by its header alone: proofs show no more of the block then.
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

/** A transaction in an answer that lists them; `null`: the answer does not say. */
export interface AnsweredTransactionId {
  readonly account: Uint8Array | null;
  readonly lt: bigint | null;
  readonly hash: Uint8Array | null;
}

/**
 * Checks an answer that names transactions of a block (`liteServer.blockTransactions`): these and no others follow each
 * other. Gives them with all that the proof tells.
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
  const stretch = provenStretch(block, query, proof, ids.length);
  ids.forEach((id, index) => {
    inPart(`ids[${index}]`, () => {
      const { account, lt, hash } = stretch.transactions[index]!;
      if (id.account !== null && !bytesEqual(id.account, account)) {
        throw proofsErrors['transaction-account']({ expected: toHex(account), found: toHex(id.account) });
      }
      if (id.lt !== null && id.lt !== lt) throw proofsErrors['transaction-lt']({ expected: lt, found: id.lt });
      if (id.hash !== null) checkHash(lt, hash, id.hash);
    });
  });
  return stretch;
}

/**
 * Checks an answer with transactions of a block (`liteServer.blockTransactionsExt`): these and no others follow each other.
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
  const stretch = provenStretch(block, query, proof, cells.length);
  return {
    incomplete: stretch.incomplete,
    transactions: stretch.transactions.map((listed, index) => {
      const cell = cells[index]!;
      inPart(`transactions[${index}]`, () => checkHash(listed.lt, listed.hash, cell.hash(0)));
      return { ...listed, cell };
    }),
  };
}

/** Roots of a bag with transactions; no bytes are none. @throws cells/* */
export function readTransactionRoots(bytes: Uint8Array): readonly Cell[] {
  if (bytes.length === 0) return [];
  const { roots } = parseBoc(bytes);
  for (const root of roots) requireLevelZero(root);
  return roots;
}

function provenStretch(
  block: BlockId,
  query: TransactionsQuery,
  proof: Uint8Array,
  answered: number,
): TransactionRange {
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
