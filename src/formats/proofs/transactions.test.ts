import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import {
  type AnsweredTransactionId,
  type ListedTransaction,
  listTransactions,
  type TransactionsQuery,
  verifyAccountTransactions,
  verifyBlockTransactions,
  verifyTransaction,
  verifyTransactionIds,
} from '#formats/proofs/transactions.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import { bag, genesisBlocks, proofOf } from '#test/support/genesis-chain.js';

const blocks = genesisBlocks(-1);
const all = { count: 256, reverse: false, after: null };
const listOf = (seqno: number) => [...listTransactions(decodeCell(Block, blocks[seqno]!.root), all)];
/** The block with most transactions. */
const block = blocks
  .filter((each) => each !== undefined)
  .sort((a, b) => listOf(b.id.seqno).length - listOf(a.id.seqno).length)[0]!;
const list = listOf(block.id.seqno);
const { id } = block;

/** A proof that shows as much as a server does for the query. */
const proofFor = (query: TransactionsQuery): Uint8Array =>
  bag(
    proofOf(block.root, (root) => {
      const walk = listTransactions(decodeCell(Block, root), query);
      for (let i = 0; i < query.count && walk.next().done !== true; i++);
    }),
  );
const idsOf = (transactions: readonly ListedTransaction[]): AnsweredTransactionId[] =>
  transactions.map(({ account, lt, hash }) => ({ account, lt, hash }));

describe('the transactions of a block', () => {
  it('are listed by account and lt', () => {
    expect(list.length).toBeGreaterThan(2);
    const keys = list.map(({ account, lt }) => Buffer.from(account).toString('hex') + lt.toString().padStart(20, '0'));
    expect(keys).toEqual([...keys].sort());
  });

  const queries: [string, TransactionsQuery, readonly ListedTransaction[]][] = [
    ['all', all, list],
    ['the first two', { ...all, count: 2 }, list.slice(0, 2)],
    ['none', { ...all, count: 0 }, []],
    ['backwards', { ...all, reverse: true }, [...list].reverse()],
    ['those after the first', { ...all, after: list[0]! }, list.slice(1)],
    ['those before the last', { ...all, reverse: true, after: list.at(-1)! }, list.slice(0, -1).reverse()],
    ['those after one that is not there', { ...all, after: { account: list[0]!.account, lt: 0n } }, list],
    [
      'those after an account that is not there',
      { ...all, after: { account: new Uint8Array(32).fill(255), lt: 5n } },
      [],
    ],
  ];

  it.each(queries)('are proven: %s', (_, query, wanted) => {
    const proof = proofFor(query);
    const ids = verifyTransactionIds(id, query, proof, idsOf(wanted));
    expect(ids.transactions.map(({ lt }) => lt)).toEqual(wanted.map(({ lt }) => lt));
    expect(ids.incomplete).toBe(wanted.length === query.count);
    const cells = wanted.map(({ cell }) => cell);
    const bytes = cells.length === 0 ? new Uint8Array(0) : bag(...cells);
    const whole = verifyBlockTransactions(id, query, proof, bytes);
    expect(whole.transactions.map(({ cell }) => cell.hash())).toEqual(cells.map((cell) => cell.hash()));
  });

  it('are refused when one is missing, added, or another', () => {
    const proof = proofFor(all);
    const ids = idsOf(list);
    const codeOf = (answered: AnsweredTransactionId[], query = all) =>
      errorCode(() => verifyTransactionIds(id, query, proof, answered));
    expect(codeOf(ids.slice(1))).toBe('proofs/transaction-count');
    expect(codeOf([...ids, ids[0]!])).toBe('proofs/transaction-count');
    expect(codeOf([{ ...ids[0]!, lt: 1n }, ...ids.slice(1)])).toBe('proofs/transaction-lt');
    expect(codeOf([{ ...ids[0]!, account: new Uint8Array(32).fill(0xee) }, ...ids.slice(1)])).toBe(
      'proofs/transaction-account',
    );
    const error = errorOf(() =>
      verifyTransactionIds(
        id,
        all,
        proof,
        ids.map((each, i) => (i === 1 ? { ...each, hash: ids[0]!.hash } : each)),
      ),
    );
    expect(error).toMatchObject({ code: 'proofs/transaction-hash', path: 'ids[1]' });
    const others = bag(...[...list].reverse().map(({ cell }) => cell));
    expect(errorCode(() => verifyBlockTransactions(id, all, proof, others))).toBe('proofs/transaction-hash');
    expect(errorCode(() => verifyBlockTransactions(id, all, proofFor({ ...all, count: 1 }), others))).toBe(
      'proofs/incomplete',
    );
    expect(errorCode(() => verifyTransactionIds({ ...id, root_hash: id.file_hash }, all, proof, ids))).toBe(
      'proofs/root-hash',
    );
  });
});

describe('one transaction', () => {
  const { account, lt, cell } = list[1]!;
  const proof = bag(
    proofOf(block.root, (root) => {
      const { block: opened } = checkBlockHeader(root, id);
      opened.extra.value.account_blocks.value.get(account)?.transactions.get(lt);
    }),
  );
  const { start_lt, end_lt } = checkBlockHeader(block.root, id).info;
  const none = new Uint8Array(0);

  it('is proven to be there', () => {
    expect(verifyTransaction(id, account, lt, { proof, transaction: bag(cell) })!.hash()).toEqual(cell.hash());
  });

  it('is proven not to be there', () => {
    expect(verifyTransaction(id, account, start_lt, { proof, transaction: none })).toBeNull();
    expect(verifyTransaction(id, account, end_lt, { proof, transaction: none })).toBeNull();
    expect(verifyTransaction(id, account, end_lt + 5n, { proof, transaction: none })).toBeNull();
  });

  it('is refused when the answer says something else', () => {
    const codeOf = (transaction: Uint8Array, wanted = lt) =>
      errorCode(() => verifyTransaction(id, account, wanted, { proof, transaction }));
    expect(codeOf(none)).toBe('proofs/transaction-present');
    expect(codeOf(bag(cell), start_lt)).toBe('proofs/transaction-absent');
    expect(codeOf(bag(list[0]!.cell))).toBe('proofs/transaction-hash');
    expect(codeOf(bag(cell, cell))).toBe('proofs/root-count');
    expect(codeOf(Uint8Array.of(1))).toBe('proofs/malformed');
  });
});

describe('the transactions of an account', () => {
  /** The config contract has a transaction in each block. */
  const id5 = new Uint8Array(32).fill(0x55);
  const address = Address.ofParts(-1, id5);
  const chain = blocks
    .flatMap((each) => [...listTransactions(decodeCell(Block, each.root), all)])
    .filter((each) => Buffer.from(each.account).equals(id5))
    .sort((a, b) => Number(b.lt - a.lt));
  const newest = chain[0]!;

  it('are proven from the newest back to the first', () => {
    const proven = verifyAccountTransactions(address, newest, bag(...chain.map(({ cell }) => cell)));
    expect(proven.transactions.map(({ lt }) => lt)).toEqual(chain.map(({ lt }) => lt));
    expect(proven.transactions.length).toBeGreaterThan(2);
    expect(proven.next).toBeNull();
    const part = verifyAccountTransactions(address, newest, bag(newest.cell));
    expect(part.next!.hash).toEqual(chain[1]!.hash);
    expect(verifyAccountTransactions(address, newest, new Uint8Array(0)).next).toBe(newest);
  });

  it('are refused when one does not follow', () => {
    const cells = chain.map(({ cell }) => cell);
    const codeOf = (roots: typeof cells, ref: { lt: bigint; hash: Uint8Array } = newest, of = address) =>
      errorCode(() => verifyAccountTransactions(of, ref, bag(...roots)));
    expect(codeOf([cells[0]!, cells[2]!])).toBe('proofs/transaction-hash');
    expect(codeOf([cells[0]!], { lt: newest.lt + 1n, hash: newest.hash })).toBe('proofs/transaction-lt');
    expect(codeOf([cells[0]!], newest, Address.ofParts(-1, new Uint8Array(32)))).toBe('proofs/transaction-account');
    expect(codeOf([...cells, cells[0]!])).toBe('proofs/transaction-count');
    const error = errorOf(() => verifyAccountTransactions(address, newest, bag(cells[0]!, cells[0]!)));
    expect(error.path).toBe('transactions[1]');
    const noTransaction = new Builder().storeUint(5, 8).endCell();
    expect(codeOf([noTransaction], { lt: 1n, hash: noTransaction.hash() })).toBe('proofs/malformed');
    const first = decodeCell(Transaction, chain.at(-1)!.cell);
    const loop = encodeCell(Transaction, { ...first, prev_trans_lt: first.lt, prev_trans_hash: new Uint8Array(32) });
    expect(codeOf([loop], { lt: first.lt, hash: loop.hash() })).toBe('proofs/transaction-order');
  });
});
